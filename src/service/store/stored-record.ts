/** The records that the service stores, and pages of them. */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import type { Feedback, Release, RequestLog } from '../../protocol/resources.js'
import type { Endpoint } from '../endpoints.js'

/** A record that the service has stored. */
export interface Stored {
  /** Created by the service. */
  readonly id: string
  /** Order of arrival over all kinds. Increases by at least 1, also across restarts on the same file. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly received_at: string
}

/** A stored log entry. */
export interface StoredEntry extends Stored {
  /** Null if the request had none. */
  readonly batch_id: string | null
  /** The entry as it was sent. */
  readonly entry: LogEntry
}

/** A stored request log. */
export interface StoredRequestLog extends Stored {
  /** The request log as it was sent. */
  readonly request: RequestLog
}

/** Stored feedback. */
export interface StoredFeedback extends Stored {
  /** The feedback as it was sent. */
  readonly feedback: Feedback
}

/** A registered release. */
export interface StoredRelease extends Stored {
  /** Id that the service created. */
  readonly release_id: string
  /** The release as it was sent. */
  readonly release: Release
}

/** A received heartbeat. */
export interface StoredHeartbeat extends Stored {
  /** First 12 hexadecimal digits of the token's SHA-256. The token itself is not stored. */
  readonly monitor: string
  /** The name in the header `X-Monitor-Name`, null without one. */
  readonly name: string | null
}

/** A request that was rejected, in whole or in part, because of its content. */
export interface RejectedRequest extends Stored {
  /** Endpoint of the request. */
  readonly endpoint: Endpoint
  /** The request's `batch_id`, null without one. */
  readonly batch_id: string | null
  /** Status of the reply. */
  readonly status: number
  /** Number of entries in the request. */
  readonly entries: number
  /** Number of entries that were accepted. */
  readonly accepted: number
  /** As in the reply; at most 100. */
  readonly reasons: readonly RejectionReason[]
}

/** Why a request was rejected, or an entry of it. */
export interface RejectionReason {
  /** Path from the body, for example `['logs', 3, 'level']`. */
  readonly loc: readonly (string | number)[]
  /** What is wrong. */
  readonly message: string
  /** The value at `loc` as JSON, shortened; undefined if there is none. */
  readonly value?: string
  /** Message and service of the rejected entry, shortened. */
  readonly entry?: {
    /** The entry's message, at most 200 characters. */
    readonly message?: string
    /** The entry's service. */
    readonly service?: string
  }
}

export interface Records {
  entry: StoredEntry
  request: StoredRequestLog
  feedback: StoredFeedback
  release: StoredRelease
  heartbeat: StoredHeartbeat
  rejected: RejectedRequest
}

/** A kind of stored record. */
export type RecordKind = keyof Records

export const RECORD_KINDS = ['entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected'] as const

/** Selects a page of a list. */
export interface PageQuery {
  /** Maximum number of records. Default 100. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly cursor?: string
}

/** A page of a list, newest first. */
export interface Page<T> {
  /** The records of the page. */
  readonly items: readonly T[]
  /** Cursor of the following page; null at the end. */
  readonly next: string | null
}

/** Number of entries by level, and in total. */
export type LevelCounts = Readonly<Record<Level, number>> & {
  /** Sum of all levels. */
  readonly total: number
}
