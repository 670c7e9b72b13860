/** Summarizes an entry for a row of a list, with bounded lengths (pure). */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import type { StoredEntry } from '../store/stored-record.js'
import type { EntrySummary } from './api-types.js'
import { readField } from './matching/record-readers.js'
import { truncate } from './truncate.js'

const MAX_MESSAGE = 500
const MAX_CELL = 200
const MAX_TAGS = 20
const MAX_TAG = 100

export function summarizeEntry(record: StoredEntry, columns: readonly string[] = []): EntrySummary {
  const { id, seq, received_at, entry } = record
  const { timestamp, level, service, environment, version, request_id, release_id, error, request, tags = [] } = entry
  const { action, trace, user_id, user } = entry
  const breadcrumbs = entry.breadcrumbs?.length ?? 0
  const texts = {
    service,
    environment,
    version,
    user: user_id ?? user?.id ?? user?.email ?? user?.name,
    action,
    trace_id: trace?.trace_id,
    span_id: trace?.span_id,
    request_id,
    release_id,
  }
  const details = findDetails(entry.metadata, [request?.path, request?.url])
  return {
    id,
    seq,
    received_at,
    timestamp,
    level,
    message: truncate(entry.message, MAX_MESSAGE),
    ...truncateAll(texts),
    ...(error !== undefined && { error: truncateAll({ type: error.type, message: error.message }) }),
    ...(request !== undefined && { request: summarizeRequest(request) }),
    ...(tags.length > 0 && { tags: tags.slice(0, MAX_TAGS).map((tag) => truncate(tag, MAX_TAG)) }),
    ...(tags.length > MAX_TAGS && { tag_count: tags.length }),
    ...(breadcrumbs > 0 && { breadcrumbs }),
    ...(details !== undefined && { details }),
    ...(columns.length > 0 && { columns: summarizeColumns(record, columns) }),
  }
}

function summarizeColumns(record: StoredEntry, columns: readonly string[]): Readonly<Record<string, string>> {
  const cells: [string, string][] = []
  for (const name of columns) {
    const text = readField(record, name)
    if (text !== undefined) cells.push([name, truncate(text, MAX_CELL)])
  }
  return Object.fromEntries(cells)
}

function summarizeRequest(request: NonNullable<StoredEntry['entry']['request']>): NonNullable<EntrySummary['request']> {
  const { method, path, status_code, duration_ms } = request
  return {
    ...truncateAll({ method, path }),
    ...(status_code !== undefined && { status_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  }
}

/** Truncates all texts, and omits fields that the entry does not have. */
function truncateAll<K extends string>(texts: Readonly<Record<K, string | undefined>>): { readonly [P in K]?: string } {
  const present = Object.entries<string | undefined>(texts).filter(([, text]) => text !== undefined)
  const truncated = present.map(([name, text]) => [name, truncate(text as string, MAX_CELL)])
  return Object.fromEntries(truncated) as { readonly [P in K]?: string }
}

const MAX_DETAILS = 8
const MAX_DETAIL_NAME = 60
const MAX_DETAIL_TEXT = 80
/** Limits the members to inspect, because metadata can have any size. */
const MAX_VISITED_MEMBERS = 100
const MAX_DEPTH = 4
/** Fields without information for a reader: equal in all rows of a process, or different in every row. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pid', 'hostname', 'event_id', 'req.remotePort', 'req.remoteAddress'])

type Details = Record<string, string | number | boolean>

/** @param paths texts that the row shows otherwise @returns undefined if there are no details */
function findDetails(
  metadata: JsonObject | undefined,
  paths: readonly (string | undefined)[] = [],
): Readonly<Details> | undefined {
  if (metadata === undefined) return undefined
  const details: [string, Details[string]][] = []
  let visited = 0
  const visit = (object: JsonObject, prefix: string, depth: number): void => {
    for (const key in object) {
      if (details.length === MAX_DETAILS || ++visited > MAX_VISITED_MEMBERS) return
      const name = prefix + key
      const value = object[key] as Json
      if (name.length > MAX_DETAIL_NAME || LEFT_OUT.has(name) || paths.includes(value as string)) continue
      if (typeof value === 'string') details.push([name, truncate(value, MAX_DETAIL_TEXT)])
      else if (typeof value === 'number' || typeof value === 'boolean') details.push([name, value])
      else if (value !== null && !Array.isArray(value) && depth < MAX_DEPTH) visit(value, `${name}.`, depth + 1)
    }
  }
  visit(metadata, '', 1)
  return details.length === 0 ? undefined : Object.fromEntries(details)
}
