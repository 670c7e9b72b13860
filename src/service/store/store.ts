/** What the service keeps, and what every store can do with it. All calls are synchronous. */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import type { Feedback, Release, RequestLog } from '../../protocol/resources.js'
import type { Endpoint } from '../http/endpoints.js'
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import type { EntryFilter, EntryQuery, EqualityFilter, RequestFilter, RouteQuery } from '../query/query-filters.js'

export interface Stored {
  /** Made by the service. */
  readonly id: string
  /** Order of arrival over all kinds; grows by at least 1, also over restarts on the same file. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly received_at: string
}

export interface StoredEntry extends Stored {
  /** Null where the request had none. */
  readonly batch_id: string | null
  readonly entry: LogEntry
}

export interface StoredRequestLog extends Stored {
  readonly request: RequestLog
}

export interface StoredFeedback extends Stored {
  readonly feedback: Feedback
}

export interface StoredRelease extends Stored {
  readonly release_id: string
  readonly release: Release
}

export interface StoredHeartbeat extends Stored {
  /** First 12 hexadecimal digits of the token's SHA-256; the token itself is not kept. */
  readonly monitor: string
}

/** A request that was refused, whole or in part, for what it held. */
export interface RejectedBatch extends Stored {
  readonly endpoint: Endpoint
  readonly batch_id: string | null
  readonly status: number
  /** Entries in the request, and how many of them were accepted all the same. */
  readonly entries: number
  readonly accepted: number
  /** As in the reply: at most 100. */
  readonly reasons: readonly RejectionReason[]
}

export interface RejectionReason {
  /** Path from the body, for example `['logs', 3, 'level']`. */
  readonly loc: readonly (string | number)[]
  readonly message: string
}

export interface Records {
  entry: StoredEntry
  request: StoredRequestLog
  feedback: StoredFeedback
  release: StoredRelease
  heartbeat: StoredHeartbeat
  rejected: RejectedBatch
}

export type RecordKind = keyof Records

export const RECORD_KINDS = ['entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected'] as const

export interface PageQuery {
  /** Default 100. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

/** Newest first. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Cursor of the following page; null at the end. */
  readonly next: string | null
}

export type LevelCounts = Readonly<Record<Level, number>> & { readonly total: number }

/** What is kept at most; the oldest goes first. */
export interface StoreLimits {
  /** Entries, and as many request logs. Of every other kind 10,000 are kept. */
  readonly maxEntries: number
  /** Bytes of JSON and of what is kept beside it for searching, for entries and for each other kind. */
  readonly maxBytes: number
}

export const MAX_OTHER_RECORDS = 10_000

export function toKindLimits(kind: RecordKind, limits: StoreLimits): { maxCount: number; maxBytes: number } {
  const maxCount = kind === 'entry' || kind === 'request' ? limits.maxEntries : MAX_OTHER_RECORDS
  return { maxCount, maxBytes: limits.maxBytes }
}

/** What came after a `seq`. */
export interface NewEntries {
  /** Oldest first. */
  readonly items: readonly StoredEntry[]
  /** Older ones that came after it too. */
  readonly skipped: number
}

export interface BucketCount {
  readonly bucket: number
  readonly level: Level
  readonly count: number
}

export interface ValueCounts {
  readonly items: readonly { readonly value: string; readonly count: number }[]
  /** Whether there are more. */
  readonly more: boolean
}

/** Failures of one fingerprint: what orders them. */
export interface GroupSummary {
  readonly fingerprint: string
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  readonly newestSeq: number
}

/** What else is told of a group. */
export interface GroupDetails {
  readonly newest: StoredEntry
  /** In any order, as `versions`. */
  readonly services: readonly string[]
  readonly versions: readonly string[]
  /** How many there are; beyond 1,000 a store need not count. */
  readonly users: number
  /** Counts in the parts of the trend that was asked for; what lies outside is in none. */
  readonly trend: readonly number[]
}

export interface Trend {
  readonly range: TimeRange
  readonly parts: number
}

/** Requests of one route, or of one bucket of its time. */
export interface Durations {
  readonly count: number
  readonly errors: number
  /** By nearest rank. */
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

export interface RouteDurations extends Durations {
  readonly method: string
  readonly route: string
  readonly clientErrors: number
  readonly maxMs: number
  readonly lastMs: number
}

/** What was logged in a time, or by a release. */
export interface Tally {
  readonly entries: number
  /** Of level error and fatal. */
  readonly errors: number
}

/** From `sinceMs`, and before `untilMs`. */
export interface TimeWindow {
  readonly sinceMs: number
  readonly untilMs: number
}

/** Where a filter is taken: `@throws IngestServiceError` `QUERY` for a wrong one, `STORE` where nothing is kept. */
export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'none'
  /** `bytes` is about the size of these records as JSON. */
  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void
  list<K extends RecordKind>(kind: K, page: PageQuery): Page<Records[K]>
  entries(query: EntryQuery): Page<StoredEntry>
  /** The newest `limit`. */
  entriesAfter(seq: number, filter: EntryFilter, limit: number): NewEntries
  counts(filter: EntryFilter): LevelCounts
  entry(id: string): StoredEntry | undefined
  /** The newest entry whose `metadata.event_id`, or own id, is this. */
  entryOfEvent(eventId: string): StoredEntry | undefined
  /** The release registered under this version. */
  releaseOfVersion(version: string): StoredRelease | undefined
  /** By the entries' timestamps; undefined where none matches. */
  timeRange(filter: EntryFilter): TimeRange | undefined
  bucketCounts(filter: EntryFilter, frame: TimeBuckets): Iterable<BucketCount>
  /** The most frequent first, then by code point. A tag that an entry has twice counts once. */
  values(field: EqualityFilter | 'tag', filter: EntryFilter, limit: number): ValueCounts
  /** Failures that match, by fingerprint, in any order. */
  groupSummaries(filter: EntryFilter): readonly GroupSummary[]
  /** In the order of `heads`, which are of the same filter. */
  groupDetails(filter: EntryFilter, heads: readonly GroupSummary[], trend: Trend): readonly GroupDetails[]
  /** The most frequent first, then by code point; at most `limit`. */
  routes(filter: RequestFilter, limit: number): readonly RouteDurations[]
  routeTimeRange(query: RouteQuery): TimeRange | undefined
  /** By bucket; empty ones are missing. */
  routeDurations(query: RouteQuery, frame: TimeBuckets): ReadonlyMap<number, Durations>
  /** In the order of `windows`, by the entries' timestamps. */
  talliesIn(windows: readonly TimeWindow[]): readonly Tally[]
  /** By `release_id`, those that no entry bears are missing. */
  talliesOfReleases(): ReadonlyMap<string, Tally>
  /** How many are kept of each kind. */
  recordCounts(): Record<RecordKind, number>
  /** The greatest `seq` ever stored, as far as is known; 0 where nothing was. */
  lastSeq(): number
  /** Removes records of every kind that were received before. */
  deleteOlder(receivedBeforeMs: number): void
  clear(): void
  close(): void
}
