/** Checks values against the service's interface before they are sent. */
import { describeThrown } from '../shared/argument-checks.js'
import { isObject } from '../shared/argument-checks.js'
import { IngestError } from '../shared/errors.js'
import { LEVELS } from '../protocol/log-entry.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'

/** The type of a field: scalar, list, or object. A field with a name that ends in `!` is required. */
type Shape =
  | 'text'
  | 'filled'
  | 'email'
  | 'number'
  | 'integer'
  | 'flag'
  | 'object'
  | 'time'
  | 'utc'
  | 'level'
  | readonly [Shape]
  | { readonly [field: string]: Shape }

const ofType = (type: Shape, names: readonly string[]): Record<string, Shape> =>
  Object.fromEntries(names.map((name) => [name, type]))
const texts = (...names: readonly string[]): Record<string, Shape> => ofType('text', names)

/** Interface: Log entry. */
const ENTRY: Shape = {
  'level!': 'level',
  'timestamp!': 'utc',
  ...texts('message!', 'service', 'environment', 'version', 'user_id', 'fingerprint', 'action', 'session_id'),
  ...texts('release_id', 'request_id', 'source'),
  user: texts('id', 'email', 'name'),
  metadata: 'object',
  tags: ['text'],
  error: texts('type', 'message', 'stack'),
  request: { ...texts('method', 'url', 'path', 'ip', 'user_agent'), status_code: 'integer', duration_ms: 'number' },
  perf: ofType('number', ['duration_ms', 'memory_mb', 'db_queries', 'cache_hits']),
  trace: texts('trace_id', 'span_id', 'parent_span_id'),
  deploy: texts('commit', 'branch', 'deployed_by'),
  breadcrumbs: [{ ...texts('type', 'category', 'message', 'level'), timestamp: 'time', data: 'object' }],
  notify: 'flag',
  notify_channels: ['text'],
}

const REQUEST_LOG: Shape = {
  ...texts('method!', 'path!', 'request_id!', 'route', 'host', 'service', 'environment'),
  'status_code!': 'integer',
  'duration_ms!': 'number',
  'timestamp!': 'time',
}

/** By endpoint (interface: Resources). */
const SHAPES = {
  batch: { batch_id: 'text', 'logs!': [ENTRY] },
  requests: { 'requests!': [REQUEST_LOG] },
  feedback: { 'event_id!': 'filled', 'comments!': 'filled', name: 'text', email: 'email' },
  release: texts('version!', 'commit_hash', 'branch', 'deployed_by', 'changelog'),
} as const satisfies Record<string, Shape>

/** @throws IngestError `INVALID` that contains the first path that breaks the interface, the rule and the value. */
export function validateRequest(kind: keyof typeof SHAPES, value: unknown): void {
  try {
    check(value, SHAPES[kind], kind)
  } catch (error) {
    if (error instanceof IngestError) throw error
    throw new IngestError('INVALID', `${kind} cannot be read: ${describeThrown(error)}`, { cause: error }) // a getter throws
  }
  const logs = (value as { logs?: unknown[] }).logs
  if (logs !== undefined && logs.length > MAX_LOGS_PER_REQUEST) {
    throw invalid('batch.logs', `hold at most ${MAX_LOGS_PER_REQUEST} entries`, logs.length)
  }
}

/**
 * Any string can be a path segment, except the empty string, `.` and `..`, which would lead to another path.
 * @throws IngestError `INVALID` without the token, which is a credential
 */
export function validateMonitorToken(token: unknown): string {
  if (typeof token === 'string' && token !== '' && token !== '.' && token !== '..' && token.isWellFormed()) return token
  if (token === '') throw new IngestError('INVALID', 'the monitor token is empty')
  throw new IngestError(
    'INVALID',
    'the monitor token must be well-formed text that is not empty, "." or ".."; it is not shown',
  )
}

function check(value: unknown, shape: Shape, path: string): void {
  if (typeof shape === 'string') {
    if (!SCALARS[shape].isValid(value)) throw invalid(path, SCALARS[shape].rule, value)
  } else if (isList(shape)) {
    if (!Array.isArray(value)) throw invalid(path, 'be a list', value)
    // Not forEach, which skips holes: JSON converts them to null.
    for (let index = 0; index < value.length; index += 1) check(value[index], shape[0], `${path}[${index}]`)
  } else {
    if (!isObject(value)) throw invalid(path, 'be an object', value)
    checkFields(value, shape, path)
  }
}

function checkFields(value: Record<string, unknown>, shape: Readonly<Record<string, Shape>>, path: string): void {
  for (const [name, field] of Object.entries(shape)) {
    const key = name.replace('!', '')
    const one = value[key]
    if (one !== undefined) check(one, field, `${path}.${key}`)
    else if (name.endsWith('!')) throw invalid(`${path}.${key}`, 'be given', one)
  }
  const unknown = Object.keys(value).find(
    (key) => !Object.hasOwn(shape, key) && !Object.hasOwn(shape, `${key}!`) && value[key] !== undefined,
  )
  if (unknown !== undefined)
    throw invalid(`${path}${memberOf(unknown)}`, 'be a field of the interface, which it is not', value[unknown])
}

const SCALARS: Record<Extract<Shape, string>, { readonly rule: string; isValid(value: unknown): boolean }> = {
  text: { rule: 'be text', isValid: (value) => typeof value === 'string' },
  filled: { rule: 'be text that is not empty', isValid: (value) => typeof value === 'string' && value.trim() !== '' },
  email: {
    rule: 'be an e-mail address, such as jane@example.com',
    isValid: (value) => typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value),
  },
  number: { rule: 'be a finite number', isValid: (value) => Number.isFinite(value) },
  integer: { rule: 'be an integer', isValid: (value) => Number.isSafeInteger(value) },
  flag: { rule: 'be true or false', isValid: (value) => typeof value === 'boolean' },
  object: { rule: 'be an object', isValid: isObject },
  level: { rule: `be one of ${LEVELS.join(', ')}`, isValid: (value) => (LEVELS as readonly unknown[]).includes(value) },
  time: {
    rule: 'be an ISO 8601 time, such as 2026-11-21T00:08:52.486Z',
    isValid: (value) => isTime(value, /^(?:Z|[+-]\d\d:\d\d)$/),
  },
  utc: {
    rule: 'be an ISO 8601 time in UTC, such as 2026-11-21T00:08:52.486Z',
    isValid: (value) => isTime(value, /^(?:Z|\+00:00)$/),
  },
}

function isTime(value: unknown, zones: RegExp): boolean {
  if (typeof value !== 'string') return false
  const [, time, zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(\D.*)$/.exec(value) ?? []
  if (time === undefined || zone === undefined || !zones.test(zone) || Number.isNaN(Date.parse(value))) return false
  // Date.parse converts the 31st of February and the 24th hour to the next day.
  return new Date(Date.parse(`${time}Z`)).toISOString().startsWith(time)
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

const MAX_SHOWN_CHARS = 80

function invalid(path: string, rule: string, value: unknown): IngestError {
  return new IngestError('INVALID', `${path} must ${rule}, got ${shown(value)}`)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value)
}

/** Escapes names, which come from the user and may contain line breaks. */
function memberOf(name: string): string {
  return /^[\w$]{1,80}$/.test(name) ? `.${name}` : `[${shown(name)}]`
}
