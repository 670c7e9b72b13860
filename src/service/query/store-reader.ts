/** Typed reading of what is stored, the same in-process and over HTTP. */
import { toErrorGroup, pageGroups, TREND_PARTS } from '../analytics/error-groups.js'
import { createTimeBuckets, clampRange } from '../analytics/time-buckets.js'
import { createHistogram, NO_HISTOGRAM } from '../analytics/histogram.js'
import { summarizeMonitors } from '../analytics/monitors.js'
import { NO_TALLY, toReleaseHealth, createReleaseWindows } from '../analytics/release-health.js'
import { toRouteLatency, MAX_ROUTES, NO_LATENCY, toRouteStats } from '../analytics/route-stats.js'
import type {
  EntrySummary,
  EntryWithFeedback,
  ErrorGroup,
  FieldValues,
  Histogram,
  MonitorSummary,
} from './api-types.js'
import type { ReleaseHealth, RouteLatency, RouteStats, ValueField } from './api-types.js'
import { summarizeEntry } from './entry-summary.js'
import { findErrorGroup } from '../analytics/group-fingerprint.js'
import { parseEntryFilter, parseRequestFilter, parseCursor, parseLimit } from './query-filters.js'
import type { EntryFilter, EntryQuery, RequestFilter, RouteQuery } from './query-filters.js'
import type { LevelCounts, NewEntries, Page, PageQuery, RecordKind, Records, Store } from '../store/store.js'
import type { StoredEntry } from '../store/store.js'

const ALL = { limit: Infinity }

export class StoreReader {
  readonly #store: Store
  readonly #wallNow: () => number

  constructor(store: Store, wallNow: () => number) {
    this.#store = store
    this.#wallNow = wallNow
  }

  entries(query: EntryQuery): Page<StoredEntry> {
    return this.#store.entries(query)
  }

  summaries(query: EntryQuery): Page<EntrySummary> {
    const { items, next } = this.#store.entries(query)
    return { items: items.map(summarizeEntry), next }
  }

  /** The newest `limit` that came after `seq`, oldest first. */
  entriesAfter(seq: number, filter: EntryFilter, limit: number): NewEntries {
    return this.#store.entriesAfter(seq, filter, limit)
  }

  /** By the service's id, or by `metadata.event_id`. */
  entry(id: string): EntryWithFeedback | undefined {
    const found = this.#store.entry(id) ?? this.#store.entryOfEvent(id)
    if (found === undefined) return undefined
    const ids = [found.id, found.entry.metadata?.['event_id']]
    const all = this.#store.list('feedback', ALL).items
    const feedback = all.filter((one) => ids.includes(one.feedback.event_id)).toReversed()
    const fingerprint = findErrorGroup(found.entry)
    return { ...found, feedback, ...(fingerprint !== undefined && { fingerprint }) }
  }

  counts(filter: EntryFilter): LevelCounts {
    return this.#store.counts(filter)
  }

  histogram(filter: EntryFilter, maxBuckets: number): Histogram {
    const range = clampRange(parseEntryFilter(filter), this.#store.timeRange(filter))
    if (range === undefined) return NO_HISTOGRAM
    const frame = createTimeBuckets(range, maxBuckets)
    return createHistogram(frame, this.#store.bucketCounts(filter, frame))
  }

  values(field: ValueField, filter: EntryFilter, limit: number): FieldValues {
    return this.#store.values(field, filter, limit)
  }

  errorGroups({ limit, cursor, ...filter }: EntryQuery): Page<ErrorGroup> {
    const { items, next } = pageGroups(this.#store.groupSummaries(filter), parseLimit(limit), cursor)
    const range = clampRange(parseEntryFilter(filter), this.#store.timeRange({}))
    if (range === undefined || items.length === 0) return { items: [], next: null }
    const bodies = this.#store.groupDetails(filter, items, { range, parts: TREND_PARTS })
    return { items: items.flatMap((head, n) => (bodies[n] === undefined ? [] : [toErrorGroup(head, bodies[n])])), next }
  }

  routes(filter: RequestFilter): { items: readonly RouteStats[] } {
    return { items: this.#store.routes(filter, MAX_ROUTES).map(toRouteStats) }
  }

  routeLatency(query: RouteQuery, maxBuckets: number): RouteLatency {
    const range = clampRange(parseRequestFilter(query), this.#store.routeTimeRange(query))
    if (range === undefined) return NO_LATENCY
    const frame = createTimeBuckets(range, maxBuckets)
    return toRouteLatency(frame, this.#store.routeDurations(query, frame))
  }

  releaseHealth({ limit, cursor }: PageQuery): Page<ReleaseHealth> {
    const beforeSeq = parseCursor(cursor)
    const registrations = this.#store.list('release', ALL).items.toReversed()
    const left = createReleaseWindows(registrations, this.#wallNow()).filter(({ first }) => first.seq < beforeSeq)
    const page = left.slice(0, parseLimit(limit))
    const linked = this.#store.talliesOfReleases()
    const tallies = this.#store.talliesIn(page.flatMap((one) => [one.before, one.after]))
    const items = page.map((one, n) => {
      const [before, after] = [tallies[2 * n] ?? NO_TALLY, tallies[2 * n + 1] ?? NO_TALLY]
      return toReleaseHealth(one, before, after, linked.get(one.first.release_id) ?? NO_TALLY)
    })
    const end = page.at(-1)
    return { items, next: left.length > page.length && end !== undefined ? String(end.first.seq) : null }
  }

  monitors(): { items: readonly MonitorSummary[] } {
    return { items: summarizeMonitors(this.#store.list('heartbeat', ALL).items) }
  }

  list<K extends RecordKind>(kind: K, page: PageQuery): Page<Records[K]> {
    return this.#store.list(kind, page)
  }

  recordCounts(): Record<RecordKind, number> {
    return this.#store.recordCounts()
  }
}
