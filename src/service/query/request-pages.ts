/** Pages request logs by time or by duration (pure). */
import type { IndexedRequest } from '../store/indexed-record.js'
import type { Page, PageQuery, StoredRequestLog } from '../store/stored-record.js'
import { checkSort, parseLimit, parseNumberCursor } from './query-filters.js'
import type { RequestFilter } from './query-filters.js'

const REQUEST_SORTS = ['timestamp', 'duration'] as const

/** Filters, order and page of request logs. */
export interface RequestQuery extends RequestFilter, PageQuery {
  /** `timestamp` (default): newest first. `duration`: slowest first; of the same duration, the one that arrived last. */
  readonly sort?: (typeof REQUEST_SORTS)[number]
}

/** @throws IngestServiceError `QUERY`. */
export function isBySlowest(sort: string | undefined): boolean {
  checkSort(sort, REQUEST_SORTS)
  return sort === 'duration'
}

type Slow = Pick<IndexedRequest, 'durationMs' | 'seq'>

function compareSlow(a: Slow, b: Slow): number {
  return b.durationMs - a.durationMs || b.seq - a.seq
}

/** Reads a page of request logs, slowest first. @throws IngestServiceError `QUERY`. */
export function readSlowest(requests: readonly IndexedRequest[], { limit, cursor }: PageQuery): Page<StoredRequestLog> {
  const maxItems = parseLimit(limit)
  const after = cursor === undefined ? undefined : parseDurationCursor(cursor)
  const rest = after === undefined ? requests : requests.filter((request) => compareSlow(after, request) < 0)
  // Sorting numbers is much faster than sorting objects, so this sorts only the page's requests as objects.
  const durations = new Float64Array(rest.map(({ durationMs }) => durationMs)).toSorted()
  const leastMs = durations[durations.length - Math.min(maxItems, durations.length)] ?? 0
  const items = rest
    .filter(({ durationMs }) => durationMs >= leastMs)
    .toSorted(compareSlow)
    .slice(0, maxItems)
  const end = rest.length > items.length ? items.at(-1) : undefined
  return {
    items: items.map(({ record }) => record),
    next: end === undefined ? null : `${end.durationMs}_${end.seq}`,
  }
}

function parseDurationCursor(cursor: string): Slow {
  const { value: durationMs, seq } = parseNumberCursor(cursor)
  return { durationMs, seq }
}
