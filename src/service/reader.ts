/** Typed reading of what is stored, the same in-process and over HTTP. */
import { errorGroup, pageOfGroups, TREND_PARTS } from './analytics/error-groups.js'
import { frameOf, rangeWithin } from './analytics/frame.js'
import { histogramOf, NO_HISTOGRAM } from './analytics/histogram.js'
import { monitorSummaries } from './analytics/monitors.js'
import { NO_TALLY, releaseHealth, releaseWindows } from './analytics/releases.js'
import { latencyOf, MAX_ROUTES, NO_LATENCY, routeStats } from './analytics/routes.js'
import type { EntryBrief, EntryWithFeedback, ErrorGroup, FieldValues, Histogram, MonitorSummary } from './answers.js'
import type { ReleaseHealth, RouteLatency, RouteStats, ValueField } from './answers.js'
import { briefOf } from './brief.js'
import { groupOf } from './fingerprint.js'
import { checkFilter, checkRequestFilter, cursorSeq, limitOf } from './queries.js'
import type { EntryFilter, EntryQuery, RequestFilter, RouteQuery } from './queries.js'
import type { LevelCounts, NewEntries, Page, PageQuery, RecordKind, Records, Store } from './store/store.js'
import type { StoredEntry } from './store/store.js'

const ALL = { limit: Infinity }

export class Reader {
  readonly #store: Store
  readonly #wallNow: () => number

  constructor(store: Store, wallNow: () => number) {
    this.#store = store
    this.#wallNow = wallNow
  }

  entries(query: EntryQuery): Page<StoredEntry> {
    return this.#store.entries(query)
  }

  brief(query: EntryQuery): Page<EntryBrief> {
    const { items, next } = this.#store.entries(query)
    return { items: items.map(briefOf), next }
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
    const fingerprint = groupOf(found.entry)
    return { ...found, feedback, ...(fingerprint !== undefined && { fingerprint }) }
  }

  counts(filter: EntryFilter): LevelCounts {
    return this.#store.counts(filter)
  }

  histogram(filter: EntryFilter, maxBuckets: number): Histogram {
    const range = rangeWithin(checkFilter(filter), this.#store.timeRange(filter))
    if (range === undefined) return NO_HISTOGRAM
    const frame = frameOf(range, maxBuckets)
    return histogramOf(frame, this.#store.bucketCounts(filter, frame))
  }

  values(field: ValueField, filter: EntryFilter, limit: number): FieldValues {
    return this.#store.values(field, filter, limit)
  }

  errorGroups({ limit, cursor, ...filter }: EntryQuery): Page<ErrorGroup> {
    const { items, next } = pageOfGroups(this.#store.groupHeads(filter), limitOf(limit), cursor)
    const range = rangeWithin(checkFilter(filter), this.#store.timeRange({}))
    if (range === undefined || items.length === 0) return { items: [], next: null }
    const bodies = this.#store.groupBodies(filter, items, { range, parts: TREND_PARTS })
    return { items: items.flatMap((head, n) => (bodies[n] === undefined ? [] : [errorGroup(head, bodies[n])])), next }
  }

  routes(filter: RequestFilter): { items: readonly RouteStats[] } {
    return { items: this.#store.routes(filter, MAX_ROUTES).map(routeStats) }
  }

  routeLatency(query: RouteQuery, maxBuckets: number): RouteLatency {
    const range = rangeWithin(checkRequestFilter(query), this.#store.routeTimeRange(query))
    if (range === undefined) return NO_LATENCY
    const frame = frameOf(range, maxBuckets)
    return latencyOf(frame, this.#store.routeDurations(query, frame))
  }

  releaseHealth({ limit, cursor }: PageQuery): Page<ReleaseHealth> {
    const beforeSeq = cursorSeq(cursor)
    const registrations = this.#store.list('release', ALL).items.toReversed()
    const left = releaseWindows(registrations, this.#wallNow()).filter(({ first }) => first.seq < beforeSeq)
    const page = left.slice(0, limitOf(limit))
    const linked = this.#store.talliesOfReleases()
    const tallies = this.#store.talliesIn(page.flatMap((one) => [one.before, one.after]))
    const items = page.map((one, n) => {
      const [before, after] = [tallies[2 * n] ?? NO_TALLY, tallies[2 * n + 1] ?? NO_TALLY]
      return releaseHealth(one, before, after, linked.get(one.first.release_id) ?? NO_TALLY)
    })
    const end = page.at(-1)
    return { items, next: left.length > page.length && end !== undefined ? String(end.first.seq) : null }
  }

  monitors(): { items: readonly MonitorSummary[] } {
    return { items: monitorSummaries(this.#store.list('heartbeat', ALL).items) }
  }

  list<K extends RecordKind>(kind: K, page: PageQuery): Page<Records[K]> {
    return this.#store.list(kind, page)
  }

  kept(): Record<RecordKind, number> {
    return this.#store.kept()
  }
}
