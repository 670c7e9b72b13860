/** Types of the replies under `/local/`, except the records themselves. Shared with the page. */
import type { Level } from '../../protocol/log-entry.js'
import type { Release } from '../../protocol/resources.js'
import type { LevelCounts, RecordKind, Stored, StoredEntry, StoredFeedback } from '../store/stored-record.js'

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
  readonly trace_id?: string
  readonly request_id?: string
  readonly release_id?: string
  /** Number of breadcrumbs; left out if there are none. */
  readonly breadcrumbs?: number
}

/** One entry with the feedback that names its `metadata.event_id` or its id, oldest first. */
export interface EntryWithFeedback extends StoredEntry {
  readonly feedback: readonly StoredFeedback[]
  /** `ErrorGroup.fingerprint`; left out if the entry has none and is not a failure. */
  readonly fingerprint?: string
}

/** Entries by time (their own timestamp) and level. */
export interface Histogram {
  /** ISO 8601; null if no entry matches. The first bucket begins at `since`, the last ends at `until`. */
  readonly since: string | null
  readonly until: string | null
  /** Width of a bucket: a round number of milliseconds, seconds, minutes, hours or days. */
  readonly step_ms: number
  /** Oldest first, with empty ones; at most the requested number. */
  readonly buckets: readonly HistogramBucket[]
}

export interface HistogramBucket extends LevelCounts {
  /** ISO 8601: start of the bucket. */
  readonly at: string
}

/** Fields whose values can be listed. */
export const VALUE_FIELDS = ['service', 'environment', 'version', 'release_id', 'tag'] as const

export type ValueField = (typeof VALUE_FIELDS)[number]

/** The most frequent first. */
export interface FieldValues {
  readonly items: readonly { readonly value: string; readonly count: number }[]
  /** Whether there are more. */
  readonly more: boolean
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

/** A route's latency over time. */
export interface RouteLatency {
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
