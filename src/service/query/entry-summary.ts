/** An entry as a row of a list, with bounded lengths (pure). */
import type { StoredEntry } from '../store/stored-record.js'
import type { EntrySummary } from './api-types.js'

const MAX_MESSAGE = 500
const MAX_DETAIL = 200
const MAX_TAGS = 20
const MAX_TAG = 100

export function summarizeEntry({ id, seq, received_at, entry }: StoredEntry): EntrySummary {
  const { timestamp, level, service, environment, version, request_id, release_id, error, request, tags = [] } = entry
  const breadcrumbs = entry.breadcrumbs?.length ?? 0
  const details = { service, environment, version, trace_id: entry.trace?.trace_id, request_id, release_id }
  return {
    id,
    seq,
    received_at,
    timestamp,
    level,
    message: truncate(entry.message, MAX_MESSAGE),
    ...truncateAll(details),
    ...(error !== undefined && { error: truncateAll({ type: error.type, message: error.message }) }),
    ...(request !== undefined && { request: summarizeRequest(request) }),
    ...(tags.length > 0 && { tags: tags.slice(0, MAX_TAGS).map((tag) => truncate(tag, MAX_TAG)) }),
    ...(breadcrumbs > 0 && { breadcrumbs }),
  }
}

function summarizeRequest(request: NonNullable<StoredEntry['entry']['request']>): NonNullable<EntrySummary['request']> {
  const { method, path, status_code, duration_ms } = request
  return {
    ...truncateAll({ method, path }),
    ...(status_code !== undefined && { status_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  }
}

/** Leaves out the fields that the entry does not have. */
function truncateAll<K extends string>(texts: Readonly<Record<K, string | undefined>>): { readonly [P in K]?: string } {
  const present = Object.entries<string | undefined>(texts).filter(([, text]) => text !== undefined)
  const truncated = present.map(([name, text]) => [name, truncate(text as string, MAX_DETAIL)])
  return Object.fromEntries(truncated) as { readonly [P in K]?: string }
}

/** At most `maxLength` characters. A text that was cut ends in an ellipsis. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const head = text.slice(0, maxLength - 1)
  // A lone surrogate cannot be encoded as UTF-8.
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`
}
