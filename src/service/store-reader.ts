/** Queries over the stored records, for calls in-process and over HTTP. A query scans the records in memory at most once. */
import type { Feedback } from '../protocol/resources.js'
import { computeChartData, NO_CHART } from './analytics/chart-data.js'
import { indexUsers, listGroups, toErrorGroup } from './analytics/error-groups.js'
import type { GroupContext } from './analytics/error-groups.js'
import { countLevels, createHistogram, NO_HISTOGRAM } from './analytics/histogram.js'
import { findNewFingerprints, summarizeVersions } from './analytics/latest-versions.js'
import { summarizeMonitors } from './analytics/monitors.js'
import { compareReleases, findRequestEntries } from './analytics/release-comparison.js'
import { summarizeRoutes } from './analytics/route-stats.js'
import { clampRange, createTimeBuckets, findTimeRange } from './analytics/time-buckets.js'
import type { TimeBuckets, TimeRange } from './analytics/time-buckets.js'
import { toTimeline } from './analytics/trace-spans.js'
import { listTraces } from './analytics/traces.js'
import type { IndexedEntry, IndexedRecord, IndexedRequest } from './store/indexed-record.js'
import type { Store } from './store/store.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Stored, StoredEntry } from './store/stored-record.js'
import type { StoredRequestLog } from './store/stored-record.js'
import type {
  ChartData,
  EntryContext,
  EntryPage,
  EntrySummary,
  EntryWithFeedback,
  ErrorGroup,
  FieldInfo,
  FieldValues,
} from './query/api-types.js'
import type { Histogram, MonitorSummary, ReleaseComparison, RouteStats, RunSummary } from './query/api-types.js'
import type { Timeline, Trace, TraceSummary, VersionSummary } from './query/api-types.js'
import { FIRST_CURSOR, readTimeContext, readTimePage } from './query/entry-pages.js'
import type { TimePage, TimePageQuery } from './query/entry-pages.js'
import { createSummarizer } from './query/entry-summary.js'
import type { SummaryOptions } from './query/entry-summary.js'
import { countValues, listEntryFields, listRequestFields } from './query/field-values.js'
import type { ValueQuery } from './query/field-values.js'
import { parseDuration } from './query/language/operands.js'
import { ENTRIES, REQUESTS } from './query/matching/field-readers.js'
import { MatchMemo } from './query/matching/match-memo.js'
import { QueryCache } from './query/query-cache.js'
import {
  checkSort,
  createEntryMatcher,
  createQueryError,
  createRequestMatcher,
  parseChartText,
  parseCursor,
  parseLimit,
  parseTimeBounds,
} from './query/query-filters.js'
import type { EntryFilter, EntryQuery, RequestFilter, RequestQuery, TimeBounds } from './query/query-filters.js'

const DEFAULT_BUCKETS = 60
const DEFAULT_CONTEXT = 50
const MAX_RUNS = 1000
const MAX_STEPS = 2000
/** A range that no time is in. */
const NO_TIME: TimeRange = { firstMs: 0, lastMs: -1 }
/** Other requests are handled between two pages of an export. */
const EXPORT_PAGE = 100

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

/** Methods throw IngestServiceError `QUERY` for an invalid filter, limit or cursor. */
export class StoreReader {
  readonly #store: Store
  readonly #memo: MatchMemo
  readonly #cache: QueryCache

  constructor(store: Store, memo = new MatchMemo()) {
    this.#store = store
    this.#memo = memo
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
    return { items: items.map(this.#summarizer({ columns, q: query.q })), next, last_seq: this.#store.lastSeq }
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
    return { items: items.map(this.#summarizer({ columns })), newer, older }
  }

  #findEntry(id: string): IndexedEntry | undefined {
    return (
      this.#store.findNewest('entry', ({ record }) => record.id === id) ??
      this.#store.findNewest('entry', ({ eventId }) => eventId === id)
    )
  }

  /** Exports the matching entries that are stored now, oldest first, one JSON text per line, in parts. */
  export(filter: EntryFilter): Iterable<string> {
    const { lastSeq } = this.#store
    const matches = createEntryMatcher(filter)
    return this.#export((entry) => entry.seq <= lastSeq && matches(entry), parseTimeBounds(filter))
  }

  *#export(matches: (entry: IndexedEntry) => boolean, bounds: TimeBounds): Generator<string> {
    let newer: string | null = FIRST_CURSOR
    while (newer !== null) {
      const query: TimePageQuery = { limit: EXPORT_PAGE, newer }
      const page = readTimePage(this.#store.byTime('entry'), query, matches, bounds)
      const texts = page.items.map(({ record }) => `${JSON.stringify(record)}\n`)
      yield texts.toReversed().join('')
      newer = page.next
    }
  }

  counts(filter: EntryFilter): LevelCounts {
    return this.#cache.get('counts', filter, () => countLevels(this.#matching(filter)))
  }

  histogram({ buckets = DEFAULT_BUCKETS, ...filter }: EntryFilter & Buckets): Histogram {
    return this.#cache.get('histogram', { ...filter, buckets }, () => {
      const entries = this.#matching(filter)
      const range = clampRange(parseTimeBounds(filter), findTimeRange(entries))
      return range === undefined ? NO_HISTOGRAM : createHistogram(entries, createTimeBuckets(range, buckets))
    })
  }

  /** @param query.chart as in the query language: `p95(duration) by route` */
  chart({ buckets = DEFAULT_BUCKETS, chart: text, ...filter }: EntryFilter & Buckets & { chart: string }): ChartData {
    return this.#cache.get('chart', { ...filter, text, buckets }, () => {
      const chart = parseChartText(text)
      const entries = this.#matching(filter)
      const range = clampRange(parseTimeBounds(filter), findTimeRange(entries))
      if (range === undefined) return NO_CHART
      const steps = chart.per === undefined ? undefined : createSteps(range, chart.per)
      return computeChartData(entries, chart, steps ?? createTimeBuckets(range, buckets))
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

  values({ field, prefix = '', limit, ...filter }: EntryFilter & FieldQuery): FieldValues {
    const query = { field, prefix, limit: parseLimit(limit) }
    return this.#cache.get('values', { ...filter, ...query }, () => countValues(ENTRIES, this.#matching(filter), query))
  }

  requestValues({ field, prefix = '', limit, ...filter }: RequestFilter & FieldQuery): FieldValues {
    const query = { field, prefix, limit: parseLimit(limit) }
    return this.#cache.get('request values', { ...filter, ...query }, () =>
      countValues(REQUESTS, this.#matchingRequests(filter), query),
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
      const findFeedback = this.#feedbackFinder()
      return listTraces(all, all.filter(matches), maxItems, cursor, sort, (entry) => findFeedback(entry) !== undefined)
    })
  }

  trace(traceId: string): Trace | undefined {
    const members = this.#store.byTime('entry').filter(({ trace_id }) => trace_id === traceId)
    return members.length === 0 ? undefined : { trace_id: traceId, ...toTimeline(members, this.#summarizer()) }
  }

  /** The spans of the matching entries, which are those of one trace or one request. Undefined if none matches. */
  timeline(filter: EntryFilter): Timeline | undefined {
    const members = this.#matching(filter, createEntryMatcher(filter, this.#memo))
    return members.length === 0 ? undefined : toTimeline(members, this.#summarizer())
  }

  requestLogs({ sort, ...query }: Sorted<RequestQuery>): Page<StoredRequestLog> {
    checkSort(sort, ['timestamp', 'duration'])
    if (sort === 'duration') return this.#slowestRequests(query)
    const index = this.#store.byTime('request')
    const { items, next } = readTimePage(index, query, createRequestMatcher(query, this.#memo), parseTimeBounds(query))
    return { items: items.map(({ record }) => record), next }
  }

  #slowestRequests({ limit, cursor, ...filter }: RequestQuery): Page<StoredRequestLog> {
    if (cursor !== undefined) throw createQueryError('cursor', 'omitted with sort=duration', cursor)
    const requests = this.#matchingRequests(filter)
    const slowest = requests.toSorted((a, b) => b.durationMs - a.durationMs || b.seq - a.seq)
    return { items: slowest.slice(0, parseLimit(limit)).map(({ record }) => record), next: null }
  }

  routes(filter: RequestFilter): { items: readonly RouteStats[] } {
    const matches = createRequestMatcher(filter, this.#memo)
    return this.#cache.get('routes', filter, () => ({
      items: summarizeRoutes(this.#matchingRequests(filter, matches)),
    }))
  }

  versions(filter: EntryFilter): { items: readonly VersionSummary[] } {
    const matches = createEntryMatcher(filter, this.#memo)
    return this.#cache.get('versions', filter, () => {
      const releases = this.#store.oldestFirst('release').map(({ record }) => record)
      const registered = new Map(releases.map(({ release, release_id }) => [release.version, release_id]))
      return { items: summarizeVersions(this.#matching(filter, matches), registered) }
    })
  }

  /** @param query.before and `after`: a query each, such as `service:shop version:1.4.0` or `run:shop-4711@laptop` */
  compareReleases(query: RequestFilter & { readonly before: string; readonly after: string }): ReleaseComparison {
    const { before, after, ...filter } = query
    const [matches, matchesRequest] = [createEntryMatcher(filter, this.#memo), createRequestMatcher(filter, this.#memo)]
    const [isBefore, isAfter] = [before, after].map((q) => createEntryMatcher({ q }, this.#memo))
    return this.#cache.get('release comparison', query, () => {
      const all = this.#allEntries()
      const requests = this.#matchingRequests(filter, matchesRequest)
      const owners = findRequestEntries(requests, all)
      const select = (side: string, isOnSide: (entry: IndexedEntry) => boolean = () => true) => ({
        query: side,
        entries: all.filter((entry) => isOnSide(entry) && matches(entry)),
        requests: requests.filter((_, n) => owners[n] !== undefined && isOnSide(owners[n])),
      })
      return compareReleases(select(before, isBefore), select(after, isAfter), this.#groupContext(filter, all))
    })
  }

  monitors(): { items: readonly MonitorSummary[] } {
    return { items: summarizeMonitors(this.#store.newestFirst('heartbeat')) }
  }

  /** The newest processes, the newest start first. */
  runs(): { items: readonly RunSummary[] } {
    const runs = this.#store.runs.list().toReversed()
    const firstEnds = new Map<string | undefined, number>()
    for (const { service, lastMs } of runs) firstEnds.set(service, Math.min(lastMs, firstEnds.get(service) ?? Infinity))
    const items = runs.slice(0, MAX_RUNS).map(({ id: run, service, pid, hostname, firstMs, lastMs, entries }) => {
      const [first_seen, last_seen] = [firstMs, lastMs].map((ms) => new Date(ms).toISOString()) as [string, string]
      const is_restart = (firstEnds.get(service) as number) < firstMs
      return { run, service: service ?? null, pid, hostname, first_seen, last_seen, entries, is_restart }
    })
    return { items }
  }

  recordCounts(): Record<RecordKind, number> {
    return this.#store.recordCounts()
  }

  #summarizer(options: SummaryOptions = {}): (entry: IndexedEntry) => EntrySummary {
    const summarize = createSummarizer(options)
    const findFeedback = this.#feedbackFinder()
    return (entry) => ({
      ...summarize(entry.record),
      ...(findFeedback(entry) !== undefined && { has_feedback: true as const }),
    })
  }

  /** Finds the feedback that names an entry, by its `metadata.event_id` or its id. */
  #feedbackFinder(): (entry: IndexedEntry) => Feedback | undefined {
    const all = this.#store.oldestFirst('feedback').map(({ record: { feedback } }) => feedback)
    const named = new Map(all.map((feedback) => [feedback.event_id, feedback]))
    if (named.size === 0) return () => undefined
    return ({ record, eventId }) => named.get(record.id) ?? (eventId === undefined ? undefined : named.get(eventId))
  }

  #groupContext(filter: EntryFilter, all: readonly IndexedEntry[]): GroupContext {
    return {
      range: clampRange(parseTimeBounds(filter), findTimeRange(all)) ?? NO_TIME,
      newFingerprints: this.#cache.get('new fingerprints', {}, () => findNewFingerprints(all)),
      findFeedback: this.#feedbackFinder(),
      users: this.#cache.get('users', {}, () => indexUsers(all)),
    }
  }

  #allEntries(): readonly IndexedEntry[] {
    return this.#store.byTime('entry').filter(() => true)
  }

  /** Returns matching entries, sorted by time. */
  #matching(filter: EntryFilter, matches = createEntryMatcher(filter, this.#memo)): readonly IndexedEntry[] {
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

/** Steps of a fixed length. @throws IngestServiceError `QUERY` for too many */
function createSteps({ firstMs, lastMs }: TimeRange, per: string): TimeBuckets {
  const stepMs = parseDuration(per) as number
  const sinceMs = Math.floor(firstMs / stepMs) * stepMs
  const count = Math.floor((lastMs - sinceMs) / stepMs) + 1
  if (count > MAX_STEPS) throw createQueryError('chart', `of at most ${MAX_STEPS} steps; ${per} needs ${count}`, per)
  return { sinceMs, stepMs, count }
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
