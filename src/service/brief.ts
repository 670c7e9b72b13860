/** An entry as a line of a list: what a row shows, bounded in length (pure). */
import type { EntryBrief } from './answers.js'
import type { StoredEntry } from './store/store.js'

const MAX_MESSAGE = 500
const MAX_DETAIL = 200

export function briefOf({ id, seq, received_at, entry }: StoredEntry): EntryBrief {
  const { timestamp, level, service, environment, version, request_id, release_id, tags } = entry
  const trace_id = entry.trace?.trace_id
  const breadcrumbs = entry.breadcrumbs?.length ?? 0
  return {
    id,
    seq,
    received_at,
    timestamp,
    level,
    message: cut(entry.message, MAX_MESSAGE),
    ...(service !== undefined && { service }),
    ...(environment !== undefined && { environment }),
    ...(version !== undefined && { version }),
    ...(entry.error !== undefined && { error: errorOf(entry.error) }),
    ...(entry.request !== undefined && { request: requestOf(entry.request) }),
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(trace_id !== undefined && { trace_id }),
    ...(request_id !== undefined && { request_id }),
    ...(release_id !== undefined && { release_id }),
    ...(breadcrumbs > 0 && { breadcrumbs }),
  }
}

/** At most `max` characters; an ellipsis says that something is missing. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const head = text.slice(0, max - 1)
  // Half a character would have no UTF-8 form.
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`
}

function errorOf({ type, message }: NonNullable<StoredEntry['entry']['error']>): NonNullable<EntryBrief['error']> {
  return {
    ...(type !== undefined && { type: cut(type, MAX_DETAIL) }),
    ...(message !== undefined && { message: cut(message, MAX_DETAIL) }),
  }
}

function requestOf(request: NonNullable<StoredEntry['entry']['request']>): NonNullable<EntryBrief['request']> {
  const { method, path, status_code, duration_ms } = request
  return {
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path: cut(path, MAX_DETAIL) }),
    ...(status_code !== undefined && { status_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  }
}
