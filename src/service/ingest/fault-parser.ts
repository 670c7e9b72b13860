/** Checks a fault, which may come as JSON from anywhere. */
import { ENDPOINTS } from '../http/endpoints.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { Fault } from './fault.js'
import { isObject } from './validators.js'

type Check = readonly [rule: string, holds: (value: unknown) => boolean]

const oneOf = (values: readonly unknown[]): Check => [`one of ${values.join(', ')}`, (value) => values.includes(value)]
const integerFrom = (low: number, high = Number.MAX_SAFE_INTEGER): Check => [
  high === Number.MAX_SAFE_INTEGER ? `an integer from ${low}` : `an integer from ${low} to ${high}`,
  (value) => Number.isInteger(value) && (value as number) >= low && (value as number) <= high,
]
const milliseconds: Check = [
  'a number of milliseconds from 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
]
const positive: Check = [
  'a number above 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
]
/** A header with a line break would end the reply's head, so Node refuses to write it. */
const isHeaderText = (value: unknown): boolean => typeof value === 'string' && /^[\x21-\x7e][\x20-\x7e]*$/.test(value)
const headerText: Check = ['printable ASCII text', isHeaderText]

const SCOPE: Record<string, Check> = {
  endpoint: oneOf(ENDPOINTS),
  times: integerFrom(1),
  forMs: milliseconds,
  delayMs: milliseconds,
}
const form = oneOf(['result', 'framework', 'nameless'])

interface Fields {
  readonly required: Readonly<Record<string, Check>>
  readonly optional: Readonly<Record<string, Check>>
}

const KINDS: Record<Fault['kind'], Fields> = {
  status: {
    required: { status: integerFrom(200, 599) },
    optional: {
      body: ['JSON', () => true],
      retryAfter: [
        'seconds from 0, or text',
        (value) => (typeof value === 'number' ? Number.isFinite(value) && value >= 0 : isHeaderText(value)),
      ],
    },
  },
  delay: { required: { delayMs: milliseconds }, optional: {} },
  hang: { required: {}, optional: {} },
  slow: { required: { bytesPerSecond: positive }, optional: {} },
  reset: { required: { when: oneOf(['before-body', 'mid-body', 'mid-reply']) }, optional: {} },
  'drop-reply': { required: {}, optional: {} },
  redirect: { required: { location: headerText }, optional: { status: oneOf([301, 302, 303, 307, 308]) } },
  'reject-every': { required: { nth: integerFrom(1) }, optional: { form } },
  'reject-containing': {
    required: { text: ['text of at least one character', (value) => typeof value === 'string' && value !== ''] },
    optional: { form },
  },
}

/** @throws IngestServiceError `FAULT`, naming the field, the rule and the value. */
export function parseFault(input: unknown): Fault {
  if (!isObject(input)) throw wrong('a fault', 'an object with a kind', input)
  const kind = input['kind']
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) {
    throw wrong('kind', `one of ${Object.keys(KINDS).join(', ')}`, kind)
  }
  const { required, optional } = KINDS[kind as Fault['kind']]
  const checks: Record<string, Check> = { ...SCOPE, ...optional, ...required }
  for (const name of Object.keys(required)) {
    if (!Object.hasOwn(input, name)) throw wrong(name, `given for kind ${kind}`, undefined)
  }
  for (const [name, value] of Object.entries(input)) {
    if (name === 'kind' || value === undefined) continue
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      const known = Object.keys(checks).join(', ')
      throw new IngestServiceError('FAULT', `kind ${kind} has no field ${name}; it has ${known}`)
    }
    if (!check[1](value)) throw wrong(name, check[0], value)
  }
  return { ...input } as unknown as Fault
}

function wrong(name: string, rule: string, value: unknown): IngestServiceError {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value)?.slice(0, 100)
  return new IngestServiceError('FAULT', `${name} must be ${rule}, got ${shown}`)
}
