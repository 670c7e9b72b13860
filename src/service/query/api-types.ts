/** What the JSON API under `/local/` answers beside the records themselves: types alone, shared with the page. */
import type { Level } from '../../protocol/log-entry.js'
import type { Release } from '../../protocol/resources.js'
import type { LevelCounts, RecordKind, Stored, StoredEntry, StoredFeedback } from '../store/store.js'

/**
 * An entry as a line of a list: `view=brief`, and what the stream carries. Fields that the entry lacks are left out.
 * Below 16 KiB as JSON: texts are cut at 200 characters where nothing else is said, and end in `…` then; a text full of
 * control characters is cut earlier. Filters compare whole values, so one that was cut finds nothing.
 */
export interface EntrySummary extends Stored {
  /** The entry's own, as it was sent. */
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
  /** How many the entry has; left out where there is none. */
  readonly breadcrumbs?: number
}

/** One entry with the feedback that names its `metadata.event_id` or its id, oldest first. */
export interface EntryWithFeedback extends StoredEntry {
  readonly feedback: readonly StoredFeedback[]
  /** The group that it is in (`ErrorGroup.fingerprint`); left out where it has none and is no failure. */
  readonly fingerprint?: string
}

/** Entries by time (their own timestamp) and level. */
export interface Histogram {
  /** ISO 8601; null where no entry matches. The first bucket begins at `since`, the last ends at `until`. */
  readonly since: string | null
  readonly until: string | null
  /** Width of a bucket: a round number of milliseconds, seconds, minutes, hours or days. */
  readonly step_ms: number
  /** Oldest first, empty ones included; at most as many as were asked for. */
  readonly buckets: readonly HistogramBucket[]
}

export interface HistogramBucket extends LevelCounts {
  /** ISO 8601: where it begins. */
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

/** Entries that are one and the same failure. */
export interface ErrorGroup {
  /** The entry's `fingerprint`; where it has none, made of the error's type, its message without numbers and ids, and its first own frame. The filter `fingerprint` takes it. */
  readonly fingerprint: string
  /** Whether the entry said it itself. */
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
  /** How many different users (`user_id`, else `user.id`) met it, counted up to 1,000. */
  readonly users: number
  /** Id of the newest entry. */
  readonly newest: string
  /** Counts in 24 equal parts of the time asked for (else of what is kept), oldest first. */
  readonly trend: readonly number[]
}

/** Request logs of one method and route; percentiles by nearest rank. */
export interface RouteStats {
  readonly method: string
  /** The pattern; the path where the log has none. */
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
    /** Null where the bucket is empty. */
    readonly p50_ms: number | null
    readonly p95_ms: number | null
    readonly p99_ms: number | null
  }[]
}

/** A registered release and what was logged around it. */
export interface ReleaseHealth {
  readonly release_id: string
  /** As it was registered last. */
  readonly release: Release
  /** ISO 8601: first and last registration. */
  readonly registered_at: string
  readonly last_registered_at: string
  /** The window: an hour, shorter where the next release came or now is earlier; the same length on both sides. */
  readonly window_ms: number
  /** All entries, and those of level error and fatal, in the windows before and after the first registration. */
  readonly before: { readonly entries: number; readonly errors: number }
  readonly after: { readonly entries: number; readonly errors: number }
  /** Entries that bear its `release_id`. */
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
  readonly store: 'memory' | 'sqlite' | 'none'
  readonly db_file: string | null
  /** How many are kept of each kind. */
  readonly kept: Readonly<Record<RecordKind, number>>
  readonly limits: { readonly max_entries: number; readonly max_bytes: number; readonly max_age_ms: number | null }
}

/** `GET /local/stream`, Server-Sent Events (HTML, 9.2): `event: entries`, with `id:` the `seq` of the last. */
export interface StreamEntries {
  /** Oldest first. */
  readonly items: readonly EntrySummary[]
  /** Entries left out because the reader was too slow or had missed too many; they can be queried. */
  readonly skipped: number
}

/** `event: changed`: kinds other than entries of which something was stored. */
export interface StreamChanged {
  readonly kinds: readonly Exclude<RecordKind, 'entry'>[]
}

// `event: reset` has `{}` as data: everything was forgotten.
