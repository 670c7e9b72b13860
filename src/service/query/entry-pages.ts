/** Pages records by time: cursors, both directions, and the context of one record (pure). */
import type { Timed, TimeIndex } from '../store/time-index.js'
import type { PageQuery } from '../store/stored-record.js'
import { createCursorError, createQueryError, parseLimit } from './query-filters.js'
import type { TimeBounds } from './query-filters.js'

/** Selects a page of records by time. */
export interface TimePageQuery extends PageQuery {
  /** A cursor: the page has the records next newer than it, instead of those next older than `cursor`. */
  readonly newer?: string
}

export interface TimePage<T> {
  /** Newest first. */
  readonly items: readonly T[]
  readonly next: string | null
}

/** Reads one item more than the limit to find out whether another page follows. @throws IngestServiceError `QUERY`. */
export function readTimePage<T extends Timed>(
  index: TimeIndex<T>,
  { limit, cursor, newer }: TimePageQuery,
  matches: (item: T) => boolean,
  { sinceMs = -Infinity, untilMs = Infinity }: Partial<TimeBounds> = {},
): TimePage<T> {
  if (cursor !== undefined && newer !== undefined) throw createQueryError('newer', 'omitted if cursor is set', newer)
  const maxItems = parseLimit(limit)
  const items: T[] = []
  let hasMore = false
  const add = (item: T): boolean => {
    if (!matches(item)) return true
    if (items.length === maxItems) hasMore = true
    else items.push(item)
    return !hasMore
  }
  if (newer === undefined) {
    const until = { timeMs: untilMs, seq: -Infinity }
    const before = cursor === undefined ? until : parseTimeCursor(cursor)
    index.visitOlder(before.timeMs < untilMs ? before : until, (item) => item.timeMs >= sinceMs && add(item))
  } else {
    const after = parseTimeCursor(newer)
    const from = after.timeMs < sinceMs ? { timeMs: sinceMs, seq: -Infinity } : after
    index.visitNewer(from, (item) => item.timeMs < untilMs && add(item))
    items.reverse()
  }
  const end = newer === undefined ? items.at(-1) : items[0]
  return { items, next: hasMore && end !== undefined ? formatTimeCursor(end) : null }
}

export interface TimeContext<T> {
  /** Newest first. */
  readonly items: readonly T[]
  readonly newer: string | null
  readonly older: string | null
}

/** Returns at most `limit` items: the item and its neighbors, half of them newer. */
export function readTimeContext<T extends Timed>(index: TimeIndex<T>, item: T, limit: number): TimeContext<T> {
  const cursor = formatTimeCursor(item)
  const page = (query: TimePageQuery, count: number): TimePage<T> => {
    const { items, next } = readTimePage(index, { ...query, limit: Math.max(1, count) }, () => true)
    return count > 0 || items.length === 0 ? { items, next } : { items: [], next: cursor }
  }
  const [newer, older] = [page({ newer: cursor }, Math.floor((limit - 1) / 2)), page({ cursor }, Math.floor(limit / 2))]
  return { items: [...newer.items, item, ...older.items], newer: newer.next, older: older.next }
}

/** Before all records. */
export const FIRST_CURSOR = '-999999999999999-0'

/** The cursor stays valid when records arrive or are dropped, including this record. */
function formatTimeCursor({ timeMs, seq }: Timed): string {
  return `${timeMs}-${seq}`
}

/** @throws IngestServiceError `QUERY`. */
function parseTimeCursor(cursor: string): Timed {
  const [, timeMs, seq] = (typeof cursor === 'string' && /^(-?\d{1,15})-(\d{1,16})$/.exec(cursor)) || []
  if (timeMs === undefined || seq === undefined) throw createCursorError(cursor)
  return { timeMs: Number(timeMs), seq: Number(seq) }
}
