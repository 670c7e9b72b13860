/** Values against the interface before they are sent: a mistake is told where it was made, with its path and value. */
import { IngestError } from '../shared/errors.js'
import { LEVELS } from '../protocol/log-entry.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'

/** A field's type: of text, of numbers, of a list, of an object by its fields. A name that ends in `!` is required. */
type Shape =
  | 'text'
  | 'number'
  | 'integer'
  | 'flag'
  | 'object'
  | 'time'
  | 'utc'
  | 'level'
  | readonly [Shape]
  | { readonly [field: string]: Shape }

const USER = { id: 'text', email: 'text', name: 'text' } as const
const ERROR = { type: 'text', message: 'text', stack: 'text' } as const
const REQUEST = {
  method: 'text',
  url: 'text',
  path: 'text',
  status_code: 'integer',
  duration_ms: 'number',
  ip: 'text',
  user_agent: 'text',
} as const
const PERF = { duration_ms: 'number', memory_mb: 'number', db_queries: 'number', cache_hits: 'number' } as const
const TRACE = { trace_id: 'text', span_id: 'text', parent_span_id: 'text' } as const
const DEPLOY = { commit: 'text', branch: 'text', deployed_by: 'text' } as const
const CRUMB = {
  type: 'text',
  category: 'text',
  message: 'text',
  level: 'text',
  timestamp: 'time',
  data: 'object',
} as const

/** Interface: Log entry. */
const ENTRY: Shape = {
  'level!': 'level',
  'message!': 'text',
  'timestamp!': 'utc',
  service: 'text',
  environment: 'text',
  version: 'text',
  user_id: 'text',
  user: USER,
  metadata: 'object',
  tags: ['text'],
  error: ERROR,
  request: REQUEST,
  perf: PERF,
  trace: TRACE,
  deploy: DEPLOY,
  breadcrumbs: [CRUMB],
  fingerprint: 'text',
  action: 'text',
  session_id: 'text',
  release_id: 'text',
  request_id: 'text',
  source: 'text',
  notify: 'flag',
  notify_channels: ['text'],
}

/** By endpoint (interface: Resources). */
const SHAPES = {
  batch: { batch_id: 'text', 'logs!': [ENTRY] },
  requests: {
    'requests!': [
      {
        'method!': 'text',
        'path!': 'text',
        'status_code!': 'integer',
        'duration_ms!': 'number',
        'request_id!': 'text',
        'timestamp!': 'time',
        route: 'text',
        host: 'text',
        service: 'text',
        environment: 'text',
      },
    ],
  },
  feedback: { 'event_id!': 'text', 'comments!': 'text', name: 'text', email: 'text' },
  release: { 'version!': 'text', commit_hash: 'text', branch: 'text', deployed_by: 'text', changelog: 'text' },
} as const satisfies Record<string, Shape>

/** @throws IngestError `INVALID` naming the first path that breaks the interface, the rule and the value. */
export function validateRequest(kind: keyof typeof SHAPES, value: unknown): void {
  check(value, SHAPES[kind], kind)
  const logs = (value as { logs?: unknown[] }).logs
  if (logs !== undefined && logs.length > MAX_LOGS_PER_REQUEST) {
    throw invalid('batch.logs', `hold at most ${MAX_LOGS_PER_REQUEST} entries`, logs.length)
  }
}

/**
 * Every text but these can be one path segment: empty would be no segment, and the others lead to another path.
 * @throws IngestError `INVALID`; the token is a credential and is not shown.
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
    if (!SCALARS[shape].holds(value)) throw invalid(path, SCALARS[shape].rule, value)
  } else if (isList(shape)) {
    if (!Array.isArray(value)) throw invalid(path, 'be a list', value)
    // Not forEach, which passes over holes, and JSON makes them null.
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

const SCALARS: Record<Extract<Shape, string>, { readonly rule: string; holds(value: unknown): boolean }> = {
  text: { rule: 'be text', holds: (value) => typeof value === 'string' },
  number: { rule: 'be a finite number', holds: (value) => Number.isFinite(value) },
  integer: { rule: 'be an integer', holds: (value) => Number.isSafeInteger(value) },
  flag: { rule: 'be true or false', holds: (value) => typeof value === 'boolean' },
  object: { rule: 'be an object', holds: isObject },
  level: { rule: `be one of ${LEVELS.join(', ')}`, holds: (value) => (LEVELS as readonly unknown[]).includes(value) },
  time: {
    rule: 'be an ISO 8601 time, such as 2026-11-21T00:08:52.486Z',
    holds: (value) => isTime(value, /^(?:Z|[+-]\d\d:\d\d)$/),
  },
  utc: {
    rule: 'be an ISO 8601 time in UTC, such as 2026-11-21T00:08:52.486Z',
    holds: (value) => isTime(value, /^(?:Z|\+00:00)$/),
  },
}

function isTime(value: unknown, zones: RegExp): boolean {
  if (typeof value !== 'string') return false
  const [, time, zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(\D.*)$/.exec(value) ?? []
  if (time === undefined || zone === undefined || !zones.test(zone) || Number.isNaN(Date.parse(value))) return false
  // The 31st of February and the 24th hour come back as the day after.
  return new Date(Date.parse(`${time}Z`)).toISOString().startsWith(time)
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/** A name may be anything, and must not forge a line. */
function memberOf(name: string): string {
  return /^[\w$]{1,80}$/.test(name) ? `.${name}` : `[${shown(name)}]`
}
