/** Types of the replies below `/local/`, except the records. Shared with the page. */
import type { Level } from '../../protocol/log-entry.js'
import type { LevelCounts, Page, RecordKind, Stored, StoredEntry, StoredFeedback } from '../store/stored-record.js'

/**
 * Entries by their timestamp, newest first; entries of the same millisecond by `seq`. `next` is the cursor of the following page in the
 * direction of the query: the next older page for `cursor`, the next newer one for `newer`.
 */
export interface EntryPage<T> extends Page<T> {
  /** The greatest `seq` in the store when the page was read. The stream continues after it. */
  readonly last_seq: number
}

/** The entries around one, sorted by time, newest first, without filters. */
export interface EntryContext {
  readonly items: readonly EntrySummary[]
  /** Cursor for `newer=`; null if no entry is newer. */
  readonly newer: string | null
  /** Cursor for `cursor=`; null if no entry is older. */
  readonly older: string | null
}

/**
 * Summary of an entry for a row of a list: with `view=summary`, and in the stream. Omits fields that the entry does not have. Texts are
 * truncated to 200 characters unless stated otherwise, and then end in `…`. Filters compare whole values, so a truncated value matches
 * no entry.
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
  /** The first 20 tags, of at most 100 characters each. */
  readonly tags?: readonly string[]
  /** Number of all tags; omitted if `tags` has all. */
  readonly tag_count?: number
  /** `user_id`, else the user's id, e-mail address or name. */
  readonly user?: string
  readonly action?: string
  /**
   * The first 8 texts, numbers and booleans of the metadata, except `pid`, `hostname`, `event_id`, the address and
   * port of the client, and the request's path and URL; nested ones as `a.b`. Texts have at
   * most 80 characters. Details with names of more than 60 characters are omitted.
   */
  readonly details?: Readonly<Record<string, string | number | boolean>>
  /** The values of the requested columns that the entry has, as text. */
  readonly columns?: Readonly<Record<string, string>>
  readonly trace_id?: string
  readonly span_id?: string
  readonly request_id?: string
  readonly release_id?: string
  /** Id of the run: `RunSummary.run`. */
  readonly run?: string
  /** The first field with a text of the query that occurs in none of the shown texts: message, error, request path, details. */
  readonly hit?: { readonly field: string; readonly value: string }
  /** Number of breadcrumbs; omitted if there are none. */
  readonly breadcrumbs?: number
  /** Set if a user's feedback names the entry. */
  readonly has_feedback?: true
}

/** One entry with the feedback that names its `metadata.event_id` or its id, oldest first. */
export interface EntryWithFeedback extends StoredEntry {
  /** Feedback on the entry. */
  readonly feedback: readonly StoredFeedback[]
  /** The fingerprint of the entry, or the one computed for its error. */
  readonly fingerprint?: string
}

/** Counts of entries by level and by their own timestamp. */
export interface Histogram {
  /**
   * ISO 8601; null if no entry matches. The first bucket begins at `since`, the last ends at `until`. Outliers are outside if the query
   * has no time bound.
   */
  readonly since: string | null
  readonly until: string | null
  /** Width of a bucket: a round number of milliseconds, seconds, minutes, hours or days. */
  readonly step_ms: number
  /** Buckets, oldest first, including empty ones; at most the requested number. */
  readonly buckets: readonly HistogramBucket[]
  /** Number of matching entries before `since`, and from `until`. */
  readonly before: number
  readonly after: number
}

export interface HistogramBucket extends LevelCounts {
  /** Start of the bucket, ISO 8601. */
  readonly at: string
}

/** A function of entries over time, by the values of a field. The range is determined as for a histogram. */
export interface ChartData {
  readonly since: string | null
  readonly until: string | null
  readonly step_ms: number
  /**
   * The 8 groups with the most entries, most first; one without `by`. An entry with several values of the field is in several groups. The
   * group of a `user` is its id, else e-mail address, else name; that of an `error` its type, else message.
   */
  readonly groups: readonly ChartGroup[]
  /** All other groups together, each entry once, and their number; null if there are none. */
  readonly others: (ChartSeries & { readonly groups: number }) | null
  /** Number of matching entries in the range without a number in the field of the function. */
  readonly without_number: number
  /** Number of matching entries before `since`, and from `until`. */
  readonly before: number
  readonly after: number
}

export interface ChartSeries {
  /** Number of entries in the range; only those with a number, if the function has a field. */
  readonly count: number
  /** The function of all entries in the range, at most ±`Number.MAX_VALUE`; percentiles by nearest rank. */
  readonly value: number
  /** One value per step from `since`; null for a step without an entry, except 0 for `count`. */
  readonly values: readonly (number | null)[]
}

export interface ChartGroup extends ChartSeries {
  /** The value of the field after `by`; null for entries without the field, and without `by`. */
  readonly name: string | null
}

/** Values of a field, most frequent first. */
export interface FieldValues {
  readonly items: readonly { readonly value: string; readonly count: number }[]
  /** Whether there are more values. */
  readonly more: boolean
  /** Number of counted records, the newest matching ones; omitted if all were counted. */
  readonly counted?: number
}

/** A field for queries: a field with a fixed name, or a path in stored metadata. */
export interface FieldInfo {
  readonly name: string
  readonly type: 'text' | 'number' | 'time' | 'level'
  /** Number of records with the field among the newest 20,000. */
  readonly count: number
  /** The values of `service`, `environment` and `metadata.logger` in these records, if there are at most 50. */
  readonly values?: readonly string[]
}

/** A run is one process of a service: the entries with the same service, `metadata.pid` and `metadata.hostname`. */
export interface RunSummary {
  /** Value for the field `run`: `shop-4711@laptop`. */
  readonly run: string
  readonly service: string | null
  readonly pid: string
  readonly hostname: string
  /** First and last timestamp of the entries, ISO 8601. */
  readonly first_seen: string
  readonly last_seen: string
  readonly entries: number
  /** Whether another run of the service had ended before. */
  readonly is_restart: boolean
}

/** Entries of the same failure. */
export interface ErrorGroup {
  /** The entry's `fingerprint`, else computed from error type, normalized message and first application frame. Value for the filter `fingerprint`. */
  readonly fingerprint: string
  /** Whether the newest entry was sent with this fingerprint. */
  readonly is_given: boolean
  readonly level: Level
  /** Error type of the newest entry. */
  readonly type: string | null
  readonly message: string
  readonly count: number
  /** First and last timestamp of the entries, ISO 8601. */
  readonly first_seen: string
  readonly last_seen: string
  /** At most 10 services and 10 versions, sorted. */
  readonly services: readonly string[]
  readonly versions: readonly string[]
  /** Distinct users, counted up to 1,000: of the entries, else of their request or trace, else the e-mail address of their feedback. */
  readonly users: number
  /** The 10 users with the most entries. */
  readonly top_users: readonly { readonly user: string; readonly count: number }[]
  /** Versions of the first and the last entry with a version; null if there is none. */
  readonly first_version: string | null
  readonly last_version: string | null
  /**
   * Whether the first stored entry of this failure has the latest version of its service: the most recently introduced of at least two.
   */
  readonly is_new: boolean
  /** Method and path, with values as `*`, if all entries are requests of one route; else null. */
  readonly route: string | null
  /** Id of the newest entry. */
  readonly newest: string
  /** Number of entries that feedback names; omitted if there are none. */
  readonly feedback?: number
  /** Counts in 24 equal parts of the requested time range, oldest first. Default range: that of the stored entries. */
  readonly trend: readonly number[]
}

/** Statistics of the request logs of one method and route; percentiles by nearest rank. */
export interface RouteStats {
  /** Null if the requests have no service. */
  readonly service: string | null
  readonly method: string
  /** The route pattern, or the path if the log has no route. */
  readonly route: string
  readonly count: number
  /** Number of requests with status 5xx, and with 4xx. */
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

/** Summary of the entries with one `trace.trace_id`, over all services. */
export interface TraceSummary {
  readonly trace_id: string
  /** ISO 8601. The start of an entry is its timestamp minus its duration. */
  readonly started_at: string
  readonly duration_ms: number
  readonly entries: number
  /** Number of entries with level error and fatal. */
  readonly errors: number
  /** In the order of their first entry; at most 10. */
  readonly services: readonly string[]
  /**
   * Method and path of the root span's request, else of the request that started first; without a request the action or
   * message of the first entry.
   */
  readonly name: string
  /** Number of entries that feedback names; omitted if there are none. */
  readonly feedback?: number
}

/** The spans and entries of one trace or one request. */
export interface Timeline {
  /** As in `TraceSummary`. */
  readonly name: string
  readonly started_at: string
  readonly duration_ms: number
  /** Spans sorted by start. The page nests them by `parent_span_id`. */
  readonly spans: readonly TraceSpan[]
  /** Entries that are not part of a span, oldest first. */
  readonly entries: readonly EntrySummary[]
  /** Number of entries that are not in this reply, which has the oldest 2,000. */
  readonly omitted: number
}

export interface Trace extends Timeline {
  readonly trace_id: string
}

/** The entries with one `span_id`; without span ids, those of one request, if its duration is known. */
export interface TraceSpan {
  /** Of a request without a span id, the id of its first entry. */
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly service: string | null
  readonly name: string
  readonly started_at: string
  /** Null if the span has only one entry, without a duration. */
  readonly duration_ms: number | null
  /** Most severe level of the entries. */
  readonly level: Level
  /** Oldest first. */
  readonly entries: readonly EntrySummary[]
}

/** A version of a service, found in entries. */
export interface VersionSummary {
  readonly service: string | null
  readonly version: string
  /** ISO 8601. */
  readonly first_seen: string
  readonly last_seen: string
  readonly entries: number
  /** `release_id` of the registration, else of the entries; null if neither has one. */
  readonly release_id: string | null
}

export interface ReleaseComparison {
  readonly before: ReleaseSide
  readonly after: ReleaseSide
  /** Groups that increased, then new ones, then gone ones, at most 100 of each; the most frequent first. */
  readonly groups: readonly ComparedGroup[]
  /** The most frequent first. */
  readonly routes: readonly RouteComparison[]
}

/** An error group that differs between the sides. `count` and the other statistics are those of the later side that has it. */
export interface ComparedGroup extends ErrorGroup {
  /** `increased`: at least 5 entries, and at least twice the share of all entries. `new` and `gone`: only one side has entries. */
  readonly change: 'increased' | 'new' | 'gone'
  /** Numbers of entries on each side. */
  readonly before: number
  readonly after: number
}

/** Statistics of one side: the entries that match its query, and the request logs of these runs. */
export interface ReleaseSide {
  readonly query: string
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
  /** Null if the requests have no service. */
  readonly service: string | null
  readonly method: string
  readonly route: string
  /** Null if the side has no request for the route. */
  readonly before: RouteSide | null
  readonly after: RouteSide | null
}

export interface RouteSide {
  readonly count: number
  readonly p95_ms: number
  /** Share of requests with status 5xx. */
  readonly error_rate: number
}

/** Summary of a heartbeat monitor. */
export interface MonitorSummary {
  /** First 12 hexadecimal digits of the token's SHA-256. */
  readonly monitor: string
  /** The newest name that its pings gave, null without one. */
  readonly name: string | null
  readonly pings: number
  /** ISO 8601. */
  readonly first_ping: string
  readonly last_ping: string
  /** Median time between the last 50 pings; null for fewer than two pings. */
  readonly interval_ms: number | null
  /** Times of the last 50 pings, newest first, ISO 8601. */
  readonly recent: readonly string[]
}

/** Reply to `GET /local/status`. */
export interface ServiceStatus {
  readonly version: string
  /** The base URL for applications. */
  readonly url: string
  readonly started_at: string
  readonly db_file: string | null
  /** Number of stored records of each kind. */
  readonly stored: Readonly<Record<RecordKind, number>>
  readonly limits: { readonly max_entries: number; readonly max_bytes: number; readonly max_age_ms: number | null }
}

/** Original location (file, line and column) of a location in a compiled file, by its source map. */
export interface SourcePosition {
  /** Absolute path. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /** Original name of the identifier at the location, if the compiler has changed it. */
  readonly name: string | null
  /** Lines around the location. Only for the first location of a request, if a stack of the entry names it. */
  readonly lines?: { readonly start: number; readonly text: readonly string[] }
}

/** Data of `event: entries` in `GET /local/stream` (Server-Sent Events: HTML, 9.2). The `id:` is the `seq` of the last entry. */
export interface StreamEntries {
  /** Oldest first. */
  readonly items: readonly EntrySummary[]
  /** Number of entries skipped because the subscriber was too slow or had missed too many. Queries return them. */
  readonly skipped: number
}

/** Data of `event: changed`: the other kinds of records that were stored. */
export interface StreamChanged {
  readonly kinds: readonly Exclude<RecordKind, 'entry'>[]
}

// `event: reset` reports that all records were deleted; its data is `{}`.
