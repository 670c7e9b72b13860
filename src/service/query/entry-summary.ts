/** An entry as a line of a list: what a row shows, bounded in length (pure). */
import type { EntrySummary } from './api-types.js'
import type { StoredEntry } from '../store/store.js'

const MAX_MESSAGE = 500
const MAX_DETAIL = 200
const MAX_TAGS = 20
const MAX_TAG = 100
/** `\u001b`. */
const MOST_OF_ONE = 6
const QUOTES = 2

export function summarizeEntry({ id, seq, received_at, entry }: StoredEntry): EntrySummary {
  const { timestamp, level, service, environment, version, request_id, release_id, tags } = entry
  const trace_id = entry.trace?.trace_id
  const breadcrumbs = entry.breadcrumbs?.length ?? 0
  return {
    id,
    seq,
    received_at,
    timestamp,
    level,
    message: truncate(entry.message, MAX_MESSAGE),
    ...(service !== undefined && { service: truncate(service, MAX_DETAIL) }),
    ...(environment !== undefined && { environment: truncate(environment, MAX_DETAIL) }),
    ...(version !== undefined && { version: truncate(version, MAX_DETAIL) }),
    ...(entry.error !== undefined && { error: errorOf(entry.error) }),
    ...(entry.request !== undefined && { request: requestOf(entry.request) }),
    ...(tags !== undefined && tags.length > 0 && { tags: tagsOf(tags) }),
    ...(trace_id !== undefined && { trace_id: truncate(trace_id, MAX_DETAIL) }),
    ...(request_id !== undefined && { request_id: truncate(request_id, MAX_DETAIL) }),
    ...(release_id !== undefined && { release_id: truncate(release_id, MAX_DETAIL) }),
    ...(breadcrumbs > 0 && { breadcrumbs }),
  }
}

/** At most `max` characters, and twice as many as JSON; an ellipsis says that something is missing. */
export function truncate(text: string, max: number): string {
  const most = isBulky(text.slice(0, max), max) ? Math.floor((max / MOST_OF_ONE) * 2) : max
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  // Half a character would have no UTF-8 form.
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`
}

/** JSON writes some control characters as six: only a text that is full of them comes to this. */
function isBulky(text: string, max: number): boolean {
  return text.length * MOST_OF_ONE > 2 * max && JSON.stringify(text).length - QUOTES > 2 * max
}

function tagsOf(tags: readonly string[]): readonly string[] {
  return tags.slice(0, MAX_TAGS).map((tag) => truncate(tag, MAX_TAG))
}

function errorOf({ type, message }: NonNullable<StoredEntry['entry']['error']>): NonNullable<EntrySummary['error']> {
  return {
    ...(type !== undefined && { type: truncate(type, MAX_DETAIL) }),
    ...(message !== undefined && { message: truncate(message, MAX_DETAIL) }),
  }
}

function requestOf(request: NonNullable<StoredEntry['entry']['request']>): NonNullable<EntrySummary['request']> {
  const { method, path, status_code, duration_ms } = request
  return {
    ...(method !== undefined && { method: truncate(method, MAX_DETAIL) }),
    ...(path !== undefined && { path: truncate(path, MAX_DETAIL) }),
    ...(status_code !== undefined && { status_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  }
}
