/** Names, aliases and types of the fields (pure). */

export type FieldType = 'text' | 'number' | 'time' | 'level'

export interface FieldRule {
  readonly type: FieldType
  /** A query value matches as a substring of the field; by default it must equal the whole field. */
  readonly matchesSubstring?: true
  /** An entry can have several values: a second term narrows the query instead of replacing the first. */
  readonly isMultiValued?: true
  readonly aliases?: readonly string[]
}

/** Fields of entries and request logs, most used first. Any other name is a path in `metadata`. */
export const FIELDS: Readonly<Record<string, FieldRule>> = {
  level: { type: 'level' },
  service: { type: 'text' },
  message: { type: 'text', matchesSubstring: true, aliases: ['msg'] },
  status: { type: 'number', aliases: ['request.status_code', 'status_code'] },
  duration: { type: 'number', aliases: ['request.duration_ms', 'duration_ms'] },
  user: { type: 'text' },
  path: { type: 'text', aliases: ['request.path'] },
  method: { type: 'text', aliases: ['request.method'] },
  route: { type: 'text' },
  trace_id: { type: 'text', aliases: ['trace', 'trace.trace_id'] },
  request_id: { type: 'text', aliases: ['request'] },
  run: { type: 'text' },
  timestamp: { type: 'time', aliases: ['time'] },
  tag: { type: 'text', isMultiValued: true, aliases: ['tags'] },
  environment: { type: 'text', aliases: ['env'] },
  version: { type: 'text' },
  release_id: { type: 'text', aliases: ['release'] },
  error: { type: 'text', matchesSubstring: true },
  'error.type': { type: 'text' },
  'error.message': { type: 'text', matchesSubstring: true },
  'error.stack': { type: 'text', matchesSubstring: true, aliases: ['stack'] },
  fingerprint: { type: 'text' },
  action: { type: 'text' },
  source: { type: 'text' },
  session_id: { type: 'text', aliases: ['session'] },
  span_id: { type: 'text', aliases: ['span', 'trace.span_id'] },
  parent_span_id: { type: 'text', aliases: ['trace.parent_span_id'] },
  user_id: { type: 'text' },
  'user.id': { type: 'text' },
  'user.email': { type: 'text', aliases: ['email'] },
  'user.name': { type: 'text' },
  url: { type: 'text', aliases: ['request.url'] },
  ip: { type: 'text', aliases: ['request.ip'] },
  user_agent: { type: 'text', aliases: ['request.user_agent'] },
  host: { type: 'text' },
  breadcrumbs: { type: 'text', matchesSubstring: true, isMultiValued: true, aliases: ['breadcrumb'] },
  'perf.duration_ms': { type: 'number' },
  'perf.memory_mb': { type: 'number' },
  'perf.db_queries': { type: 'number' },
  'perf.cache_hits': { type: 'number' },
  'deploy.commit': { type: 'text', aliases: ['commit'] },
  'deploy.branch': { type: 'text', aliases: ['branch'] },
  'deploy.deployed_by': { type: 'text' },
  notify: { type: 'text' },
  notify_channels: { type: 'text', isMultiValued: true },
  received_at: { type: 'time' },
  id: { type: 'text' },
  seq: { type: 'number' },
}

/** The fields of request logs; they have no metadata. */
export const REQUEST_FIELDS: ReadonlySet<string> = new Set([
  ...['method', 'route', 'path', 'status', 'duration', 'service', 'environment', 'timestamp', 'request_id', 'host'],
  ...['received_at', 'id', 'seq'],
])

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(FIELDS).flatMap(([name, { aliases = [] }]) => [name, ...aliases].map((one) => [one, name] as const)),
)

const METADATA = 'metadata.'

/** Returns the name in `FIELDS`; for other names, `metadata.` and the path. */
export function resolveFieldName(typed: string): string {
  const known = NAMES.get(typed.toLowerCase())
  if (known !== undefined) return known
  return typed === 'metadata' || typed.startsWith(METADATA) ? typed : METADATA + typed
}

/** Whether the name or alias is one of `FIELDS`. */
export function isFieldName(typed: string): boolean {
  return NAMES.has(typed.toLowerCase())
}

/** @param name resolved by `resolveFieldName()` */
export function findFieldRule(name: string): FieldRule | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
}
