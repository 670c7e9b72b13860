/** Validates a fault, which may be untrusted JSON. */
import { ENDPOINTS } from '../endpoints.js'
import { describeValue, isObject } from '../../shared/argument-checks.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { Fault } from './fault.js'

interface Check {
  readonly rule: string
  readonly accepts: (value: unknown) => boolean
}

const oneOf = (values: readonly unknown[]): Check => ({
  rule: `one of ${values.join(', ')}`,
  accepts: (value) => values.includes(value),
})
const integerFrom = (low: number, high = Number.MAX_SAFE_INTEGER): Check => ({
  rule: high === Number.MAX_SAFE_INTEGER ? `an integer from ${low}` : `an integer from ${low} to ${high}`,
  accepts: (value) => Number.isInteger(value) && (value as number) >= low && (value as number) <= high,
})
const isFrom = (value: unknown, low: number): boolean => Number.isFinite(value) && (value as number) >= low
/** Node throws if a header value contains a line break. */
const isHeaderText = (value: unknown): boolean => typeof value === 'string' && /^[\x21-\x7e][\x20-\x7e]*$/.test(value)

const milliseconds: Check = { rule: 'a number of milliseconds from 0', accepts: (value) => isFrom(value, 0) }
const form = oneOf(['result', 'framework', 'nameless'])

const SCOPE: Readonly<Record<string, Check>> = {
  endpoint: oneOf(ENDPOINTS),
  times: integerFrom(1),
  forMs: milliseconds,
  delayMs: milliseconds,
}

interface Fields {
  readonly required?: Readonly<Record<string, Check>>
  readonly optional?: Readonly<Record<string, Check>>
}

const KINDS: Readonly<Record<Fault['kind'], Fields>> = {
  status: {
    required: { status: integerFrom(200, 599) },
    optional: {
      body: { rule: 'JSON', accepts: () => true },
      retryAfter: { rule: 'seconds from 0, or text', accepts: (value) => isFrom(value, 0) || isHeaderText(value) },
    },
  },
  delay: { required: { delayMs: milliseconds } },
  hang: {},
  slow: {
    required: { bytesPerSecond: { rule: 'a number above 0', accepts: (value) => isFrom(value, Number.MIN_VALUE) } },
  },
  reset: { required: { when: oneOf(['before-body', 'mid-body', 'mid-reply']) } },
  'drop-reply': {},
  redirect: {
    required: { location: { rule: 'printable ASCII text', accepts: isHeaderText } },
    optional: { status: oneOf([301, 302, 303, 307, 308]) },
  },
  'reject-every': { required: { nth: integerFrom(1) }, optional: { form } },
  'reject-containing': {
    required: {
      text: { rule: 'text of at least one character', accepts: (value) => typeof value === 'string' && value !== '' },
    },
    optional: { form },
  },
}

/** @throws IngestServiceError `FAULT`, with the field, the rule and the value. */
export function parseFault(input: unknown): Fault {
  if (!isObject(input)) throw createFaultError('a fault', 'an object with a field kind', input)
  const { kind } = input
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) {
    throw createFaultError('kind', `one of ${Object.keys(KINDS).join(', ')}`, kind)
  }
  const { required = {}, optional = {} } = KINDS[kind as Fault['kind']]
  const missing = Object.keys(required).find((name) => input[name] === undefined)
  if (missing !== undefined) throw createFaultError(missing, `set for kind ${kind}`, undefined)
  const checks = new Map(Object.entries({ ...SCOPE, ...optional, ...required }))
  for (const [name, value] of Object.entries(input)) {
    if (name === 'kind' || value === undefined) continue
    const check = checks.get(name)
    if (check === undefined) {
      const known = [...checks.keys()].join(', ')
      throw new IngestServiceError('FAULT', `kind ${kind} has no field ${name}; use ${known}`)
    }
    if (!check.accepts(value)) throw createFaultError(name, check.rule, value)
  }
  return { ...input } as unknown as Fault
}

function createFaultError(name: string, rule: string, value: unknown): IngestServiceError {
  const received = value === undefined ? 'nothing' : describeValue(value)
  return new IngestServiceError('FAULT', `${name} must be ${rule}, got ${received}`)
}
