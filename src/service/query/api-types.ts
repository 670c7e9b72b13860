/** Types of the replies under `/local/`, except the records themselves. Shared with the page. */
import type { Level } from '../../protocol/log-entry.js'
import type { Release } from '../../protocol/resources.js'
import type { LevelCounts, Page, RecordKind, Stored, StoredEntry, StoredFeedback } from '../store/stored-record.js'

/**
 * Entries by their timestamp, newest first; entries of the same millisecond by `seq`. `next` is the cursor of the following page in the
 * direction of the query: the next older page for `cursor`, the next newer one for `newer`.
 */
export interface EntryPage<T> extends Page<T> {
  /** The greatest `seq` in the store when the page was read. The stream continues after it. */
  readonly last_seq: number
}

/** The entries around one, by time and without filters, newest first. */
export interface EntryContext {
  readonly items: readonly EntrySummary[]
  /** Cursor for `newer=`, or null if no entry is newer. */
  readonly newer: string | null
  /** Cursor for `cursor=`, or null if no entry is older. */
  readonly older: string | null
}

/**
 * An entry as a row of a list: with `view=summary`, and in the stream. Fields that the entry does not have are left out. Texts
 * are cut at 200 characters unless stated otherwise, and end in `…` then. Filters compare whole values, so a shortened value matches no
 * entry.
 */
export interface EntrySummary extends Stored {
  /** The entry's own timestamp. */
  readonly timestamp: string
  readonly level: Level
  /** At most 500 characters. */
  readonly message: string
  readonly service?: string
  readonly environment?: string
  readonly version?: string
  readonly error?: { readonly type?: string; readonly message?: string }
  readonly request?: {
    readonly method?: string
    readonly path?: string
    readonly status_code?: number
    readonly duration_ms?: number
  }
  /** The first 20, each of at most 100 characters. */
  readonly tags?: readonly string[]
  /** Number of all tags; left out if `tags` has all of them. */
  readonly tag_count?: number
  /** `user_id`, else the user's id, e-mail address or name. */
  readonly user?: string
  readonly action?: string
  /**
   * The first 8 texts, numbers and booleans of the metadata; nested ones as `a.b`. Without `pid`, `hostname` and `event_id`. Names have at
   * most 60 characters (longer ones are left out), texts at most 80.
   */
  readonly details?: Readonly<Record<string, string | number | boolean>>
  /** The values of the requested columns that the entry has, as text. */
  readonly columns?: Readonly<Record<string, string>>
  readonly trace_id?: string
  readonly span_id?: string
  readonly request_id?: string
  readonly release_id?: string
  /** Number of breadcrumbs; left out if there are none. */
  readonly breadcrumbs?: number
}

/** One entry with the feedback that names its `metadata.event_id` or its id, oldest first. */
export interface EntryWithFeedback extends StoredEntry {
  /** Feedback on the entry. */
  readonly feedback: readonly StoredFeedback[]
  /** `ErrorGroup.fingerprint`; left out if the entry has none and is not a failure. */
  readonly fingerprint?: string
}

/** Entries by time (their own timestamp) and level. */
export interface Histogram {
  /**
   * ISO 8601; null if no entry matches. The first bucket begins at `since`, the last ends at `until`. Where the query has no bound, outliers
   * are outside.
   */
  readonly since: string | null
  readonly until: string | null
  /** Width of a bucket: a round number of milliseconds, seconds, minutes, hours or days. */
  readonly step_ms: number
  /** Oldest first, with empty ones; at most the requested number. */
  readonly buckets: readonly HistogramBucket[]
  /** Numbers of matching entries before `since` and from `until`. */
  readonly before: number
  readonly after: number
}

export interface HistogramBucket extends LevelCounts {
  /** ISO 8601: start of the bucket. */
  readonly at: string
}

/** The most frequent first. */
export interface FieldValues {
  readonly items: readonly { readonly value: string; readonly count: number }[]
  /** Whether there are more. */
  readonly more: boolean
  /** Number of the newest matching records that were counted; left out if all were. */
  readonly counted?: number
}

/** A field that can be used in queries: those with a fixed name, and the paths of metadata that are stored. */
export interface FieldInfo {
  readonly name: string
  readonly type: 'text' | 'number' | 'time' | 'level'
  /** Number of records that have it, among the newest 20,000. */
  readonly count: number
}

/** Entries of one failure. */
export interface ErrorGroup {
  /** The entry's `fingerprint`, else computed from error type, normalized message and first application frame. The filter `fingerprint` takes it. */
  readonly fingerprint: string
  /** Whether the newest entry was sent with it. */
  readonly is_given: boolean
  readonly level: Level
  /** Of the newest entry. */
  readonly type: string | null
  readonly message: string
  readonly count: number
  /** ISO 8601, by the entries' timestamps. */
  readonly first_seen: string
  readonly last_seen: string
  /** At most 10 of each, sorted. */
  readonly services: readonly string[]
  readonly versions: readonly string[]
  /** Distinct users (`user_id`, else `user.id`), counted up to 1,000. */
  readonly users: number
  /** The 10 users with the most entries. */
  readonly top_users: readonly { readonly user: string; readonly count: number }[]
  /** Of the first and the last entry that has one; null if none has. */
  readonly first_version: string | null
  readonly last_version: string | null
  /**
   * Whether the first stored entry of this failure has the latest version of its service: the version that was first seen last, of at
   * least two.
   */
  readonly is_new: boolean
  /** Method and path, with values as `*`, if the group consists of requests of one route; else null. */
  readonly route: string | null
  /** Id of the newest entry. */
  readonly newest: string
  /** Counts in 24 equal parts of the requested time (else of the stored entries' time), oldest first. */
  readonly trend: readonly number[]
}

/** Request logs of one method and route; percentiles by nearest rank. */
export interface RouteStats {
  readonly method: string
  /** The pattern; the path if the log has none. */
  readonly route: string
  readonly count: number
  /** Status 5xx, and 4xx. */
  readonly errors: number
  readonly client_errors: number
  /** `errors / count`. */
  readonly error_rate: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly max_ms: number
  /** ISO 8601. */
  readonly last_seen: string
}

/** A route's latency over time. The range is as that of a histogram. */
export interface RouteLatency {
  /** Numbers of requests before and after the range. */
  readonly before: number
  readonly after: number
  readonly step_ms: number
  readonly buckets: readonly {
    readonly at: string
    readonly count: number
    readonly errors: number
    /** Null if the bucket is empty. */
    readonly p50_ms: number | null
    readonly p95_ms: number | null
    readonly p99_ms: number | null
  }[]
}

/** A registered release and the entries around its registration. */
export interface ReleaseHealth {
  readonly release_id: string
  /** From the last registration. */
  readonly release: Release
  /** ISO 8601: first and last registration. */
  readonly registered_at: string
  readonly last_registered_at: string
  /** An hour, shorter if the next release was registered earlier, or if the hour is not over. The same on both sides. */
  readonly window_ms: number
  /** All entries, and those of level error and fatal, in the windows before and after the first registration. */
  readonly before: { readonly entries: number; readonly errors: number }
  readonly after: { readonly entries: number; readonly errors: number }
  /** Entries with its `release_id`. */
  readonly linked: { readonly entries: number; readonly errors: number }
}

/** The entries of one `trace.trace_id`, over all services. */
export interface TraceSummary {
  readonly trace_id: string
  /** ISO 8601. An entry that has a duration starts that much before its timestamp. */
  readonly started_at: string
  readonly duration_ms: number
  readonly entries: number
  /** Entries of level error and fatal. */
  readonly errors: number
  /** In the order of their first entry; at most 10. */
  readonly services: readonly string[]
  /** Method and path of the first request, else the action or message of the first entry. */
  readonly name: string
}

export interface Trace {
  readonly trace_id: string
  readonly started_at: string
  readonly duration_ms: number
  /** By start time. The page nests them by `parent_span_id`. */
  readonly spans: readonly TraceSpan[]
  /** Entries without a span, oldest first. */
  readonly entries: readonly EntrySummary[]
  /** Number of entries of the trace that are not in this reply, which has the oldest 2,000. */
  readonly omitted: number
}

export interface TraceSpan {
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly service: string | null
  readonly name: string
  readonly started_at: string
  /** Null if the span has one entry, without a duration. */
  readonly duration_ms: number | null
  /** The most severe of its entries. */
  readonly level: Level
  /** Oldest first. */
  readonly entries: readonly EntrySummary[]
}

/** A version that entries have. */
export interface VersionSummary {
  readonly version: string
  /** ISO 8601. */
  readonly first_seen: string
  readonly last_seen: string
  readonly entries: number
  /** Of its registration, else of its entries; null if neither has one. */
  readonly release_id: string | null
}

export interface ReleaseComparison {
  readonly before: ReleaseSide
  readonly after: ReleaseSide
  /** Groups with entries in one version only, the most frequent first; at most 100. */
  readonly new_groups: readonly ErrorGroup[]
  readonly gone_groups: readonly ErrorGroup[]
  /** The most frequent first. */
  readonly routes: readonly RouteComparison[]
}

/** One version: its entries, and the request logs that belong to it. */
export interface ReleaseSide {
  readonly version: string
  readonly entries: number
  /** Entries of level error and fatal. */
  readonly errors: number
  /** `errors / entries`; 0 without entries. */
  readonly error_rate: number
  readonly requests: number
  /** Share of requests with status 5xx; 0 without requests. */
  readonly request_error_rate: number
  /** Null without requests. */
  readonly p95_ms: number | null
}

export interface RouteComparison {
  readonly method: string
  readonly route: string
  /** Null if that version has no request of the route. */
  readonly before: RouteSide | null
  readonly after: RouteSide | null
}

export interface RouteSide {
  readonly count: number
  readonly p95_ms: number
  /** Share of requests with status 5xx. */
  readonly error_rate: number
}

/** A heartbeat monitor by its pings. */
export interface MonitorSummary {
  /** First 12 hexadecimal digits of the token's SHA-256. */
  readonly monitor: string
  readonly pings: number
  /** ISO 8601. */
  readonly first_ping: string
  readonly last_ping: string
  /** Median time between the last 50 pings; null below two. */
  readonly interval_ms: number | null
  /** The last 50, newest first, ISO 8601. */
  readonly recent: readonly string[]
}

/** `GET /local/status`. */
export interface ServiceStatus {
  readonly version: string
  /** The base URL to send to, and whether it is the transport's own default. */
  readonly url: string
  readonly is_default_url: boolean
  readonly started_at: string
  readonly db_file: string | null
  /** Number of stored records of each kind. */
  readonly stored: Readonly<Record<RecordKind, number>>
  readonly limits: { readonly max_entries: number; readonly max_bytes: number; readonly max_age_ms: number | null }
}

/** `GET /local/stream`, Server-Sent Events (HTML, 9.2): `event: entries`, with `id:` the `seq` of the last. */
export interface StreamEntries {
  /** Oldest first. */
  readonly items: readonly EntrySummary[]
  /** Entries that were skipped because the subscriber was too slow or had missed too many. They can be queried. */
  readonly skipped: number
}

/** `event: changed`: the other kinds of records that were stored. */
export interface StreamChanged {
  readonly kinds: readonly Exclude<RecordKind, 'entry'>[]
}

// `event: reset` has `{}` as data: all records were deleted.
