/** Queries over the stored records, the same in-process and over HTTP. Each is one pass over the records in memory. */
import { pageGroups, toErrorGroup, TREND_PARTS } from '../analytics/error-groups.js'
import { createHistogram, NO_HISTOGRAM } from '../analytics/histogram.js'
import { countLevels } from '../analytics/level-counts.js'
import { summarizeMonitors } from '../analytics/monitors.js'
import { summarizeReleases, tallyReleases } from '../analytics/release-health.js'
import { summarizeRoutes, toRouteLatency } from '../analytics/route-stats.js'
import { clampRange, createTimeBuckets, findTimeRange } from '../analytics/time-buckets.js'
import { countValues } from '../analytics/value-counts.js'
import type { IndexedEntry, IndexedRecord } from '../store/indexed-record.js'
import type { Store } from '../store/store.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Stored, StoredEntry } from '../store/stored-record.js'
import type { EntrySummary, EntryWithFeedback, ErrorGroup, FieldValues, Histogram } from './api-types.js'
import type { MonitorSummary, ReleaseHealth, RouteLatency, RouteStats, ValueField } from './api-types.js'
import { summarizeEntry } from './entry-summary.js'
import { createEntryMatcher, createRequestMatcher, parseCursor, parseLimit, parseTimeBounds } from './query-filters.js'
import type { EntryFilter, EntryQuery, RequestFilter, RouteQuery } from './query-filters.js'

const DEFAULT_BUCKETS = 60

/** Entries that arrived after a `seq`. */
export interface NewEntries {
  /** Oldest first. */
  readonly items: readonly StoredEntry[]
  /** Number of older entries after the `seq` that are not in `items`. */
  readonly skipped: number
}

/** Methods throw IngestServiceError `QUERY` for a wrong filter, limit or cursor. */
export class StoreReader {
  readonly #store: Store
  readonly #wallNow: () => number

  constructor(store: Store, wallNow: () => number) {
    this.#store = store
    this.#wallNow = wallNow
  }

  list<K extends RecordKind>(kind: K, query: PageQuery): Page<Records[K]> {
    return createPage(this.#store.newestFirst(kind) as Iterable<IndexedRecord<Records[K]>>, query)
  }

  entries(query: EntryQuery): Page<StoredEntry> {
    return createPage(this.#store.newestFirst('entry'), query, createEntryMatcher(query))
  }

  summaries(query: EntryQuery): Page<EntrySummary> {
    const { items, next } = this.entries(query)
    return { items: items.map(summarizeEntry), next }
  }

  /** The newest `limit` entries that arrived after `seq`. */
  entriesAfter(seq: number, filter: EntryFilter, limit: number): NewEntries {
    const matches = createEntryMatcher(filter)
    const items: StoredEntry[] = []
    let skipped = 0
    for (const entry of this.#store.newestFirst('entry')) {
      if (entry.seq <= seq) break
      if (!matches(entry)) continue
      if (items.length < limit) items.push(entry.record)
      else skipped++
    }
    return { items: items.toReversed(), skipped }
  }

  /** By the service's id, or by `metadata.event_id`. */
  entry(id: string): EntryWithFeedback | undefined {
    const found =
      this.#store.findNewest('entry', ({ record }) => record.id === id) ??
      this.#store.findNewest('entry', ({ eventId }) => eventId === id)
    if (found === undefined) return undefined
    const { record, eventId, fingerprint } = found
    const all = this.#store.oldestFirst('feedback').map((one) => one.record)
    const feedback = all.filter(({ feedback: { event_id } }) => event_id === record.id || event_id === eventId)
    return { ...record, feedback, ...(fingerprint !== undefined && { fingerprint }) }
  }

  counts(filter: EntryFilter): LevelCounts {
    return countLevels(this.#matching(filter))
  }

  histogram({ buckets = DEFAULT_BUCKETS, ...filter }: EntryFilter & { readonly buckets?: number }): Histogram {
    const entries = this.#matching(filter)
    const range = clampRange(parseTimeBounds(filter), findTimeRange(entries))
    return range === undefined ? NO_HISTOGRAM : createHistogram(entries, createTimeBuckets(range, buckets))
  }

  values(field: ValueField, { limit, ...filter }: EntryFilter & { readonly limit?: number }): FieldValues {
    return countValues(this.#matching(filter), field, parseLimit(limit))
  }

  errorGroups({ limit, cursor, ...filter }: EntryQuery): Page<ErrorGroup> {
    const failures = this.#matching(filter).filter(({ isFailure }) => isFailure)
    const { items, next } = pageGroups(failures, parseLimit(limit), cursor)
    const range = clampRange(parseTimeBounds(filter), findTimeRange(this.#store.oldestFirst('entry')))
    if (range === undefined) return { items: [], next: null }
    return { items: items.map((members) => toErrorGroup(members, range, TREND_PARTS)), next }
  }

  routes(filter: RequestFilter): { items: readonly RouteStats[] } {
    return { items: summarizeRoutes(this.#store.oldestFirst('request').filter(createRequestMatcher(filter))) }
  }

  routeLatency({
    method,
    route,
    buckets = DEFAULT_BUCKETS,
    ...filter
  }: RouteQuery & { readonly buckets?: number }): RouteLatency {
    const matching = this.#store.oldestFirst('request').filter(createRequestMatcher(filter))
    const requests = matching.filter((request) => request.method === method && request.route === route)
    const range = clampRange(parseTimeBounds(filter), findTimeRange(requests))
    return toRouteLatency(requests, range === undefined ? undefined : createTimeBuckets(range, buckets))
  }

  releaseHealth({ limit, cursor }: PageQuery): Page<ReleaseHealth> {
    const [maxItems, beforeSeq] = [parseLimit(limit), parseCursor(cursor)]
    const registrations = this.#store.oldestFirst('release').map(({ record }) => record)
    const releases = summarizeReleases(registrations, this.#wallNow()).filter(({ first }) => first.seq < beforeSeq)
    const items = releases.slice(0, maxItems)
    const last = releases.length > maxItems ? items.at(-1) : undefined
    return {
      items: tallyReleases(items, this.#store.oldestFirst('entry')),
      next: last === undefined ? null : String(last.first.seq),
    }
  }

  monitors(): { items: readonly MonitorSummary[] } {
    return { items: summarizeMonitors(this.#store.newestFirst('heartbeat')) }
  }

  recordCounts(): Record<RecordKind, number> {
    return this.#store.recordCounts()
  }

  #matching(filter: EntryFilter): readonly IndexedEntry[] {
    return this.#store.oldestFirst('entry').filter(createEntryMatcher(filter))
  }
}

/** Looks for one item more than the limit, so that the last page has no cursor. */
function createPage<I extends IndexedRecord<T>, T extends Stored>(
  newestFirst: Iterable<I & { readonly record: T }>,
  { limit, cursor }: PageQuery,
  matches: (indexed: I) => boolean = () => true,
): Page<T> {
  const [maxItems, beforeSeq] = [parseLimit(limit), parseCursor(cursor)]
  const items: T[] = []
  for (const indexed of newestFirst) {
    if (indexed.seq >= beforeSeq || !matches(indexed)) continue
    if (items.length === maxItems) return { items, next: String((items.at(-1) as T).seq) }
    items.push(indexed.record)
  }
  return { items, next: null }
}
