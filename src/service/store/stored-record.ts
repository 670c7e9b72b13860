/** The records that the service stores, and pages of them. */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import type { Feedback, Release, RequestLog } from '../../protocol/resources.js'
import type { Endpoint } from '../http/endpoints.js'

export interface Stored {
  /** Created by the service. */
  readonly id: string
  /** Order of arrival over all kinds. Increases by at least 1, also across restarts on the same file. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly received_at: string
}

export interface StoredEntry extends Stored {
  /** Null if the request had none. */
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
  /** First 12 hexadecimal digits of the token's SHA-256. The token itself is not stored. */
  readonly monitor: string
}

/** A request that was refused, in whole or in part, because of its content. */
export interface RejectedBatch extends Stored {
  readonly endpoint: Endpoint
  readonly batch_id: string | null
  readonly status: number
  /** Entries in the request, and how many of them were accepted. */
  readonly entries: number
  readonly accepted: number
  /** As in the reply; at most 100. */
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
  /** `next` of the previous page. */
  readonly cursor?: string
}

/** Newest first. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Cursor of the following page; null at the end. */
  readonly next: string | null
}

export type LevelCounts = Readonly<Record<Level, number>> & { readonly total: number }
