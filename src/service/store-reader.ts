/** Queries over the stored records, for calls in-process and over HTTP. A query scans the records in memory at most once. */
import { randomUUID } from 'node:crypto'
import { computeChartData, NO_CHART } from './analytics/chart-data.js'
import { listGroups, toErrorGroup } from './analytics/error-groups.js'
import type { GroupContext } from './analytics/error-groups.js'
import { createHistogram, NO_HISTOGRAM } from './analytics/histogram.js'
import { findNewFingerprints, summarizeVersions } from './analytics/latest-versions.js'
import { countLevels } from './analytics/level-counts.js'
import { summarizeMonitors } from './analytics/monitors.js'
import { compareReleases } from './analytics/release-comparison.js'
import { summarizeReleases, tallyReleases } from './analytics/release-health.js'
import { findRequestVersions } from './analytics/request-versions.js'
import { summarizeRoutes, toRouteLatency } from './analytics/route-stats.js'
import { clampRange, createTimeBuckets, findTimeRange } from './analytics/time-buckets.js'
import { toTrace } from './analytics/trace-spans.js'
import { listTraces } from './analytics/traces.js'
import type { IndexedEntry, IndexedRecord, IndexedRequest } from './store/indexed-record.js'
import type { Store } from './store/store.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Stored, StoredEntry } from './store/stored-record.js'
import type { StoredRequestLog } from './store/stored-record.js'
import type {
  Arrivals,
  ChartData,
  EntryContext,
  EntryPage,
  EntrySummary,
  EntryWithFeedback,
  ErrorGroup,
  FieldInfo,
  FieldValues,
} from './query/api-types.js'
import type {
  Histogram,
  MonitorSummary,
  ReleaseComparison,
  ReleaseHealth,
  RouteLatency,
  RouteStats,
} from './query/api-types.js'
import type { Trace, TraceSummary, VersionSummary } from './query/api-types.js'
import { checkFormat, exportEntries } from './query/entry-export.js'
import { readTimeContext, readTimePage } from './query/entry-pages.js'
import type { TimePage, TimePageQuery } from './query/entry-pages.js'
import { summarizeEntry } from './query/entry-summary.js'
import { countEntryValues, countRequestValues, listEntryFields, listRequestFields } from './query/field-values.js'
import type { ValueQuery } from './query/field-values.js'
import { MatchMemo } from './query/matching/match-memo.js'
import { QueryCache } from './query/query-cache.js'
import {
  createEntryMatcher,
  createRequestMatcher,
  parseChartText,
  parseCursor,
  parseLimit,
  parseTimeBounds,
} from './query/query-filters.js'
import type { EntryFilter, EntryQuery, RequestFilter, RouteQuery } from './query/query-filters.js'
import { isBySlowest, readSlowest } from './query/request-pages.js'
import type { RequestQuery } from './query/request-pages.js'

const DEFAULT_BUCKETS = 60
const DEFAULT_CONTEXT = 50
/** 10 minutes. Exports can use more time for regular expressions because they do not block the service. */
const EXPORT_PATTERN_MS = 600_000

/** Entries that arrived after a `seq`. */
export interface NewEntries {
  /** Oldest first. */
  readonly items: readonly StoredEntry[]
  /** Number of entries after `seq` that are left out because they are older than those in `items`. */
  readonly skipped: number
}

type FieldQuery = Omit<ValueQuery, 'limit'> & { readonly limit?: number }
type Buckets = { readonly buckets?: number }
/** `sort` is unchecked text here; each query validates it. */
type Sorted<Q> = Omit<Q, 'sort'> & { readonly sort?: string | undefined }
type Columns = { readonly columns?: readonly string[] }
type ArrivalsQuery = EntryFilter & { readonly after?: number; readonly run?: string; readonly limit?: number }

/** Methods throw IngestServiceError `QUERY` for an invalid filter, limit or cursor. */
export class StoreReader {
  readonly #store: Store
  readonly #wallNow: () => number
  readonly #memo: MatchMemo
  readonly #cache: QueryCache
  readonly #run = randomUUID()
  /** The greatest `seq` of the runs before this one; 0 without a journal. */
  readonly #earlierSeq: number

  constructor(store: Store, wallNow: () => number, memo = new MatchMemo()) {
    this.#store = store
    this.#wallNow = wallNow
    this.#memo = memo
    this.#earlierSeq = store.lastSeq
    this.#cache = new QueryCache(() => store.revision)
  }

  /** Lists records in order of arrival, newest first. */
  list<K extends RecordKind>(kind: K, query: PageQuery): Page<Records[K]> {
    return createPage(this.#store.newestFirst(kind) as Iterable<IndexedRecord<Records[K]>>, query)
  }

  entries(query: EntryQuery & TimePageQuery): EntryPage<StoredEntry> {
    const { items, next } = this.#readEntries(query)
    return { items: items.map(({ record }) => record), next, last_seq: this.#store.lastSeq }
  }

  summaries({ columns, ...query }: EntryQuery & TimePageQuery & Columns): EntryPage<EntrySummary> {
    const { items, next } = this.#readEntries(query)
    return { items: items.map(this.#summarizer(columns)), next, last_seq: this.#store.lastSeq }
  }

  #readEntries(query: EntryQuery & TimePageQuery): TimePage<IndexedEntry> {
    return readTimePage(
      this.#store.byTime('entry'),
      query,
      createEntryMatcher(query, this.#memo),
      parseTimeBounds(query),
    )
  }

  /** Returns the newest `limit` entries that arrived after `seq`. */
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

  /**
   * Summaries of the newest `limit` entries that arrived after a `seq`; without it, none.
   * @param query.run of the reply with this `seq`; by default, a `seq` that was never used is from an earlier run
   */
  arrivals({ after, run, limit, ...filter }: ArrivalsQuery): Arrivals {
    const { lastSeq } = this.#store
    const fromSeq = after ?? lastSeq
    const isSameRun = run === undefined ? fromSeq <= lastSeq : run === this.#run
    const afterSeq = isSameRun ? fromSeq : Math.min(fromSeq, this.#earlierSeq)
    const { items, skipped } = this.entriesAfter(afterSeq, filter, parseLimit(limit))
    return { items: items.map((record) => summarizeEntry(record)), skipped, last_seq: lastSeq, run: this.#run }
  }

  /** Finds an entry by the service's id or by `metadata.event_id`. */
  entry(id: string): EntryWithFeedback | undefined {
    const found = this.#findEntry(id)
    if (found === undefined) return undefined
    const { record, eventId, fingerprint } = found
    const all = this.#store.oldestFirst('feedback').map((one) => one.record)
    const feedback = all.filter(({ feedback: { event_id } }) => event_id === record.id || event_id === eventId)
    return { ...record, feedback, ...(fingerprint !== undefined && { fingerprint }) }
  }

  /** Returns the entries around one, without filters. Undefined if the entry does not exist. */
  context(id: string, { limit = DEFAULT_CONTEXT, columns }: PageQuery & Columns): EntryContext | undefined {
    const found = this.#findEntry(id)
    if (found === undefined) return undefined
    const { items, newer, older } = readTimeContext(this.#store.byTime('entry'), found, parseLimit(limit))
    return { items: items.map(this.#summarizer(columns)), newer, older }
  }

  #findEntry(id: string): IndexedEntry | undefined {
    return (
      this.#store.findNewest('entry', ({ record }) => record.id === id) ??
      this.#store.findNewest('entry', ({ eventId }) => eventId === id)
    )
  }

  /** Exports all matching entries as text, in parts. */
  export({ format, columns, ...filter }: EntryFilter & Columns & { readonly format?: string }): Iterable<string> {
    return exportEntries(this.#store.byTime('entry'), {
      filter,
      matches: createEntryMatcher(filter, undefined, EXPORT_PATTERN_MS),
      format: checkFormat(format),
      columns,
      lastSeq: this.#store.lastSeq,
    })
  }

  counts(filter: EntryFilter): LevelCounts {
    const matches = createEntryMatcher(filter, this.#memo)
    return this.#cache.get('counts', filter, () => countLevels(this.#matching(filter, matches)))
  }

  histogram({ buckets = DEFAULT_BUCKETS, ...filter }: EntryFilter & Buckets): Histogram {
    const matches = createEntryMatcher(filter, this.#memo)
    return this.#cache.get('histogram', { ...filter, buckets }, () => {
      const entries = this.#matching(filter, matches)
      const range = clampRange(parseTimeBounds(filter), findTimeRange(entries))
      return range === undefined ? NO_HISTOGRAM : createHistogram(entries, createTimeBuckets(range, buckets))
    })
  }

  /** @param query.chart as in the query language: `p95(duration) by route` */
  chart({ buckets = DEFAULT_BUCKETS, chart: text, ...filter }: EntryFilter & Buckets & { chart: string }): ChartData {
    const [matches, chart] = [createEntryMatcher(filter, this.#memo), parseChartText(text)]
    return this.#cache.get('chart', { ...filter, chart, buckets }, () => {
      const entries = this.#matching(filter, matches)
      const range = clampRange(parseTimeBounds(filter), findTimeRange(entries))
      return range === undefined ? NO_CHART : computeChartData(entries, chart, createTimeBuckets(range, buckets))
    })
  }

  /** Lists the fields of all records. */
  fields(kind: 'entries' | 'requests' = 'entries'): readonly FieldInfo[] {
    return this.#cache.get('fields', kind, () =>
      kind === 'entries'
        ? listEntryFields(this.#store.oldestFirst('entry'))
        : listRequestFields(this.#store.oldestFirst('request')),
    )
  }

  values(query: EntryFilter & FieldQuery): FieldValues {
    const { field, prefix, limit, ...filter } = query
    const [matches, maxItems] = [createEntryMatcher(filter, this.#memo), parseLimit(limit)]
    return this.#cache.get('values', query, () =>
      countEntryValues(this.#matching(filter, matches), {
        field,
        limit: maxItems,
        ...(prefix !== undefined && { prefix }),
      }),
    )
  }

  requestValues(query: RequestFilter & FieldQuery): FieldValues {
    const { field, prefix, limit, ...filter } = query
    const [matches, maxItems] = [createRequestMatcher(filter, this.#memo), parseLimit(limit)]
    return this.#cache.get('request values', query, () =>
      countRequestValues(this.#matchingRequests(filter, matches), {
        field,
        limit: maxItems,
        ...(prefix !== undefined && { prefix }),
      }),
    )
  }

  errorGroups(query: Sorted<EntryQuery>): Page<ErrorGroup> {
    const { limit, cursor, sort, ...filter } = query
    const [maxItems, matches] = [parseLimit(limit), createEntryMatcher(filter, this.#memo)]
    return this.#cache.get('error groups', query, () => {
      const all = this.#allEntries()
      const failures = all.filter((entry) => entry.isFailure && matches(entry))
      const { items, next } = listGroups(failures, { limit: maxItems, cursor, sort })
      const context = this.#groupContext(filter, all)
      return { items: items.map((members) => toErrorGroup(members, context)), next }
    })
  }

  traces(query: Sorted<EntryQuery>): Page<TraceSummary> {
    const { limit, cursor, sort, ...filter } = query
    const [maxItems, matches] = [parseLimit(limit), createEntryMatcher(filter, this.#memo)]
    return this.#cache.get('traces', query, () => {
      const all = this.#allEntries()
      return listTraces(all, all.filter(matches), maxItems, cursor, sort, this.#feedbackTest())
    })
  }

  trace(traceId: string): Trace | undefined {
    const members = this.#store.byTime('entry').filter(({ trace_id }) => trace_id === traceId)
    return members.length === 0 ? undefined : toTrace(traceId, members, this.#summarizer())
  }

  requestLogs({ sort, ...query }: Sorted<RequestQuery>): Page<StoredRequestLog> {
    if (isBySlowest(sort)) return readSlowest(this.#matchingRequests(query), query)
    const index = this.#store.byTime('request')
    const { items, next } = readTimePage(index, query, createRequestMatcher(query, this.#memo), parseTimeBounds(query))
    return { items: items.map(({ record }) => record), next }
  }

  routes(filter: RequestFilter): { items: readonly RouteStats[] } {
    const matches = createRequestMatcher(filter, this.#memo)
    return this.#cache.get('routes', filter, () => ({
      items: summarizeRoutes(this.#matchingRequests(filter, matches)),
    }))
  }

  routeLatency({ method, route, buckets = DEFAULT_BUCKETS, ...filter }: RouteQuery & Buckets): RouteLatency {
    const matches = createRequestMatcher(filter, this.#memo)
    const requests = this.#matchingRequests(
      filter,
      (request) => request.method === method && request.route === route && matches(request),
    )
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

  versions(filter: EntryFilter): { items: readonly VersionSummary[] } {
    const matches = createEntryMatcher(filter, this.#memo)
    return this.#cache.get('versions', filter, () => {
      const releases = this.#store.oldestFirst('release').map(({ record }) => record)
      const registered = new Map(releases.map(({ release, release_id }) => [release.version, release_id]))
      return { items: summarizeVersions(this.#matching(filter, matches), registered) }
    })
  }

  compareReleases(query: RequestFilter & { readonly before: string; readonly after: string }): ReleaseComparison {
    const { before, after, ...filter } = query
    const [matches, matchesRequest] = [createEntryMatcher(filter, this.#memo), createRequestMatcher(filter, this.#memo)]
    return this.#cache.get('release comparison', query, () => {
      const all = this.#allEntries()
      const requests = this.#matchingRequests(filter, matchesRequest)
      const versions = findRequestVersions(requests, all)
      const select = (version: string) => ({
        version,
        entries: all.filter((entry) => entry.version === version && matches(entry)),
        requests: requests.filter((_, n) => versions[n] === version),
      })
      return compareReleases(select(before), select(after), this.#groupContext(filter, all))
    })
  }

  monitors(): { items: readonly MonitorSummary[] } {
    return { items: summarizeMonitors(this.#store.newestFirst('heartbeat')) }
  }

  recordCounts(): Record<RecordKind, number> {
    return this.#store.recordCounts()
  }

  #summarizer(columns?: readonly string[]): (entry: IndexedEntry) => EntrySummary {
    const hasFeedback = this.#feedbackTest()
    return (entry) => ({
      ...summarizeEntry(entry.record, columns),
      ...(hasFeedback(entry) && { has_feedback: true as const }),
    })
  }

  /** Whether feedback names the entry, by its `metadata.event_id` or its id. */
  #feedbackTest(): (entry: IndexedEntry) => boolean {
    const named = new Set(this.#store.oldestFirst('feedback').map(({ record }) => record.feedback.event_id))
    if (named.size === 0) return () => false
    return ({ record, eventId }) => named.has(record.id) || (eventId !== undefined && named.has(eventId))
  }

  #groupContext(filter: EntryFilter, all: readonly IndexedEntry[]): GroupContext {
    return {
      range: clampRange(parseTimeBounds(filter), findTimeRange(all)) ?? { firstMs: 0, lastMs: 0 },
      newFingerprints: this.#cache.get('new fingerprints', {}, () => findNewFingerprints(all)),
      hasFeedback: this.#feedbackTest(),
    }
  }

  #allEntries(): readonly IndexedEntry[] {
    return this.#store.byTime('entry').filter(() => true)
  }

  /** Returns matching entries, sorted by time. */
  #matching(filter: EntryFilter, matches: (entry: IndexedEntry) => boolean): readonly IndexedEntry[] {
    const { sinceMs, untilMs } = parseTimeBounds(filter)
    return this.#store.byTime('entry').filter(matches, sinceMs, untilMs)
  }

  /** Returns matching request logs, sorted by time. */
  #matchingRequests(
    filter: RequestFilter,
    matches = createRequestMatcher(filter, this.#memo),
  ): readonly IndexedRequest[] {
    const { sinceMs, untilMs } = parseTimeBounds(filter)
    return this.#store.byTime('request').filter(matches, sinceMs, untilMs)
  }
}

/** Reads one item more than the limit to find out whether another page follows. */
function createPage<T extends Stored>(newestFirst: Iterable<IndexedRecord<T>>, { limit, cursor }: PageQuery): Page<T> {
  const [maxItems, beforeSeq] = [parseLimit(limit), parseCursor(cursor)]
  const items: T[] = []
  for (const { seq, record } of newestFirst) {
    if (seq >= beforeSeq) continue
    if (items.length === maxItems) return { items, next: String((items.at(-1) as T).seq) }
    items.push(record)
  }
  return { items, next: null }
}
