/**
 * The interface of all stages that send a batch: the HTTP call, and the senders that wrap it, such as retry and isolation.
 * Outcomes are values: a rejected promise is a bug.
 */
import type { IngestResultError } from '../protocol/ingest-result.js'

/** At most 100 entries under one id, which is the same in every attempt. */
export interface Batch {
  /** UUID, fixed when the batch is cut. */
  readonly batchId: string
  /** Entries in the batch. */
  readonly count: number
  /** Index in `LEVELS` of the highest level in the batch. */
  readonly highestSeverity: number
  /** The whole request body, `{"batch_id":…,"logs":[…]}`, as UTF-8. */
  readonly body: Uint8Array
  /** Set if the body is compressed. */
  readonly contentEncoding?: 'gzip'
  /** Set for a part: the batch that was cut, and the positions in it that this part holds. */
  readonly origin?: { readonly batchId: string; readonly positions: readonly number[] }
  /** Set if entries of the batch are on disk. */
  readonly acknowledgement?: BatchAcknowledgement
  /** Set if the whole batch is on disk and can be read back. */
  readonly place?: SegmentPosition
}

/** Where a batch begins on disk. */
export interface SegmentPosition {
  /** Number of the segment. */
  readonly segment: number
  /** In bytes. */
  readonly offset: number
}

/** Records in the spool which entries of a batch are settled. Positions are those in this batch. Never throws. */
export interface BatchAcknowledgement {
  /** Whether all entries are still on disk: they may have been deleted at a limit. Default false. */
  readonly isDurable?: boolean
  /**
   * Records that these entries are sent as a batch of their own. Call it before that batch is sent.
   * @returns the acknowledgement of that batch
   */
  createPart(positions: readonly number[]): BatchAcknowledgement
  /** These entries (default: all) were accepted or became dead letters, and must not be sent again. */
  acknowledge(positions?: readonly number[]): void
}

/** An entry that the service rejected, stored for inspection. */
export interface DeadLetter {
  /** Of the original batch, not of the part that was rejected. */
  readonly batchId: string
  /** Position in that batch. */
  readonly index: number
  /** Of the reply. */
  readonly status: number
  /** Error code and message of the service; empty if it gave none. */
  readonly code: string
  readonly field: string
  readonly reason: string
  /** As JSON. */
  readonly entry: string
}

/** The service accepted the batch, except for the entries in `rejected`. */
export interface Delivered {
  readonly kind: 'delivered'
  /** Number of accepted entries; the others, `count - accepted`, were rejected. */
  readonly accepted: number
  readonly rejected: readonly IngestResultError[]
  /** Of the reply, if it names entries. */
  readonly status?: number
  /** Set if the 2xx had no ingest result, but may be from the service: the batch counts as accepted, which is reported once. */
  readonly unreadable?: true
}

/** The service checked the content and rejected all of it. */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  /** The entries that the reply names; empty if it names none. */
  readonly rejected: readonly IngestResultError[]
  /** Number of this failure. Set if the reply names no entry, and the service accepted other entries directly before it. */
  readonly failureNumber?: number | undefined
}

/**
 * What failed at the queue of `nats`: it cannot be reached or does not answer, it is full, it rejects the credentials, or stream or
 * permissions are not as they must be.
 */
export type QueueFailure = 'unavailable' | 'full' | 'unauthorized' | 'forbidden' | 'misconfigured'

/** The same bytes may be sent again, but not before `retryAfterMs`, if the service gave one. */
export interface Retryable {
  readonly kind: 'retryable'
  readonly reason: string
  readonly status?: number
  readonly retryAfterMs?: number
  /** Set if the queue failed, and not the service. */
  readonly queue?: QueueFailure
}

/**
 * The URL or the key is wrong, or another program than the service answered. Entries are kept, the user is notified, and the endpoint is
 * probed.
 */
export interface EndpointRejected {
  readonly kind: 'endpoint-rejected'
  /** Of the reply. Undefined if nothing was sent, since the listener at the implicit local URL could not be verified as this user's; and for `queue`. */
  readonly status?: number
  /** Set if the queue rejected it, and not the service. */
  readonly queue?: QueueFailure
  readonly reason: string
  /** What the user can do, if `reason` does not say it: a sentence without a full stop. */
  readonly remedy?: string | undefined
}

/** The deadline of the shutdown passed before the service accepted the batch. */
export interface Abandoned {
  readonly kind: 'abandoned'
  readonly reason: string
  /** Entries that were accepted before the batch was abandoned. Default 0. */
  readonly accepted?: number
  /** Entries that were rejected and became dead letters before the batch was abandoned. Default none. */
  readonly rejected?: readonly IngestResultError[]
}

export type Outcome = Delivered | Refused | Retryable | EndpointRejected | Abandoned

export interface Sender {
  /** Never rejects. `signal` ends the attempt; the outcome is then `retryable` or `abandoned`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>
}
