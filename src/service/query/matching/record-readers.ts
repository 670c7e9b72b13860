/** Readers for the fields of entries and request logs, by the names in `language/fields.ts` (pure). */
import type { Json } from '../../../protocol/log-entry.js'
import { findRoute } from '../../store/failed-route.js'
import { findErrorGroup } from '../../store/group-fingerprint.js'
import { findRunId } from '../../store/runs.js'
import type { StoredEntry, StoredRequestLog } from '../../store/stored-record.js'
import { resolveFieldName } from '../language/fields.js'

/** Undefined if the record does not have the field. A test applies to each value in an array or object. */
export type FieldValue = Json | readonly string[] | object | undefined
export type FieldReader<R> = (record: R) => FieldValue

export type Readers<R> = Readonly<Record<string, FieldReader<R>>>

export const ENTRY_READERS: Readers<StoredEntry> = {
  level: ({ entry }) => entry.level,
  service: ({ entry }) => entry.service,
  message: ({ entry }) => entry.message,
  status: ({ entry }) => entry.request?.status_code,
  duration: ({ entry }) => entry.request?.duration_ms,
  user: ({ entry: { user_id, user } }) => present([user_id, user?.id, user?.email, user?.name]),
  path: ({ entry }) => entry.request?.path,
  method: ({ entry }) => entry.request?.method,
  route: ({ entry }) => findRoute(entry),
  trace_id: ({ entry }) => entry.trace?.trace_id,
  request_id: ({ entry }) => entry.request_id,
  run: ({ entry }) => findRunId(entry),
  timestamp: ({ entry }) => entry.timestamp,
  tag: ({ entry }) => entry.tags,
  environment: ({ entry }) => entry.environment,
  version: ({ entry }) => entry.version,
  release_id: ({ entry }) => entry.release_id,
  error: ({ entry: { error } }) => error && present([error.type, error.message]),
  'error.type': ({ entry }) => entry.error?.type,
  'error.message': ({ entry }) => entry.error?.message,
  'error.stack': ({ entry }) => entry.error?.stack,
  fingerprint: ({ entry }) => entry.fingerprint,
  action: ({ entry }) => entry.action,
  source: ({ entry }) => entry.source,
  session_id: ({ entry }) => entry.session_id,
  span_id: ({ entry }) => entry.trace?.span_id,
  parent_span_id: ({ entry }) => entry.trace?.parent_span_id,
  user_id: ({ entry }) => entry.user_id,
  'user.id': ({ entry }) => entry.user?.id,
  'user.email': ({ entry }) => entry.user?.email,
  'user.name': ({ entry }) => entry.user?.name,
  url: ({ entry }) => entry.request?.url,
  ip: ({ entry }) => entry.request?.ip,
  user_agent: ({ entry }) => entry.request?.user_agent,
  breadcrumbs: ({ entry }) => entry.breadcrumbs?.map(({ category, message, data }) => ({ category, message, data })),
  'perf.duration_ms': ({ entry }) => entry.perf?.duration_ms,
  'perf.memory_mb': ({ entry }) => entry.perf?.memory_mb,
  'perf.db_queries': ({ entry }) => entry.perf?.db_queries,
  'perf.cache_hits': ({ entry }) => entry.perf?.cache_hits,
  'deploy.commit': ({ entry }) => entry.deploy?.commit,
  'deploy.branch': ({ entry }) => entry.deploy?.branch,
  'deploy.deployed_by': ({ entry }) => entry.deploy?.deployed_by,
  notify: ({ entry }) => entry.notify,
  notify_channels: ({ entry }) => entry.notify_channels,
  received_at: ({ received_at }) => received_at,
  id: ({ id }) => id,
  seq: ({ seq }) => seq,
  metadata: ({ entry }) => entry.metadata,
}

export const REQUEST_READERS: Readers<StoredRequestLog> = {
  method: ({ request }) => request.method,
  route: ({ request }) => request.route ?? request.path,
  path: ({ request }) => request.path,
  status: ({ request }) => request.status_code,
  duration: ({ request }) => request.duration_ms,
  service: ({ request }) => request.service,
  environment: ({ request }) => request.environment,
  timestamp: ({ request }) => request.timestamp,
  request_id: ({ request }) => request.request_id,
  host: ({ request }) => request.host,
  received_at: ({ received_at }) => received_at,
  id: ({ id }) => id,
  seq: ({ seq }) => seq,
}

/** Formats a field for a column: several values separated by commas, objects as JSON. Undefined if the entry does not have the field. */
export function readField(record: StoredEntry, typed: string): string | undefined {
  const name = resolveFieldName(typed)
  const value = name === 'fingerprint' ? findErrorGroup(record.entry) : findRecordReader(name)(record)
  if (value === undefined) return undefined
  const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object')
  if (isList) return value.join(', ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** The texts of a value, and of all values in an array or object. */
export function listTexts(value: FieldValue): readonly string[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null) return [String(value)]
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as readonly string[]
  return Object.values(value).flatMap((item: FieldValue) => listTexts(item))
}

const METADATA = 'metadata.'

/** For a field that only request logs have, reads the path in `metadata`. @param name resolved */
export function findRecordReader(name: string): FieldReader<StoredEntry> {
  const path = name.startsWith(METADATA) ? name.slice(METADATA.length) : name
  return createOwnReader(ENTRY_READERS, name) ?? createMetadataReader(path)
}

export function createOwnReader<R>(readers: Readers<R>, name: string): FieldReader<R> | undefined {
  return Object.hasOwn(readers, name) ? readers[name] : undefined
}

function present(values: readonly (string | undefined)[]): readonly string[] | undefined {
  const found = new Set(values.filter((value) => value !== undefined))
  return found.size === 0 ? undefined : [...found]
}

/** @param path `a.b` reads the member `a.b`, or else the member `b` of `a` */
function createMetadataReader(path: string): FieldReader<StoredEntry> {
  const read = createPathReader(path)
  return ({ entry: { metadata } }) => (metadata === undefined ? undefined : read(metadata))
}

type JsonReader = (value: Json) => Json | undefined

/** Names with more dots are not split, because splitting takes quadratic time. */
const MAX_DOTS = 20

/** Reads a path; in an array, from each element. */
function createPathReader(path: string, readers = new Map<string, JsonReader>()): JsonReader {
  const known = readers.get(path)
  if (known !== undefined) return known
  const dots = [...path.matchAll(/\./g)]
  const inner = (dots.length > MAX_DOTS ? [] : dots).map(
    ({ index }) => [path.slice(0, index), createPathReader(path.slice(index + 1), readers)] as const,
  )
  const read = (value: Json): Json | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value)) {
      const found = value.map(read).filter((item) => item !== undefined)
      return found.length === 0 ? undefined : found
    }
    const whole = value[path]
    if (whole !== undefined && Object.hasOwn(value, path)) return whole
    for (const [head, readRest] of inner) {
      const member = value[head]
      const found = member !== undefined && Object.hasOwn(value, head) ? readRest(member) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  readers.set(path, read)
  return read
}
