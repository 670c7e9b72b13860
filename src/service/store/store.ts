/** What the service keeps, and what every store can do with it. All calls are synchronous. */
import type { Level, LogEntry } from '../../protocol/entry.js'
import type { Feedback, Release, RequestLog } from '../../protocol/resources.js'
import type { Endpoint } from '../endpoints.js'
import type { EntryFilter, EntryQuery } from '../queries.js'

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
  /** Bytes of JSON, for entries and for each other kind. */
  readonly maxBytes: number
}

export const MAX_OTHER_RECORDS = 10_000

export function limitsOf(kind: RecordKind, limits: StoreLimits): { maxCount: number; maxBytes: number } {
  const maxCount = kind === 'entry' || kind === 'request' ? limits.maxEntries : MAX_OTHER_RECORDS
  return { maxCount, maxBytes: limits.maxBytes }
}

export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'none'
  /** `bytes` is about the size of these records as JSON. */
  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void
  list<K extends RecordKind>(kind: K, page: PageQuery): Page<Records[K]>
  /** @throws IngestServiceError `QUERY` for a wrong filter, `STORE` where nothing is kept. */
  entries(query: EntryQuery): Page<StoredEntry>
  /** @throws IngestServiceError as `entries`. */
  counts(filter: EntryFilter): LevelCounts
  entry(id: string): StoredEntry | undefined
  /** The newest entry whose `metadata.event_id`, or own id, is this. */
  entryOfEvent(eventId: string): StoredEntry | undefined
  /** The release registered under this version. */
  releaseOfVersion(version: string): StoredRelease | undefined
  /** The greatest `seq` kept; 0 where nothing is. */
  lastSeq(): number
  clear(): void
  close(): void
}
