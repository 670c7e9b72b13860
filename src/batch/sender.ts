/**
 * The interface of all stages that send a batch: the HTTP call and the senders that wrap it, such as retry and
 * isolation. Failures are outcomes; a rejected promise is a bug.
 */
import type { IngestResultError } from '../protocol/ingest-result.js'

/** At most 100 entries under one id, which every attempt reuses. */
export interface Batch {
  /** UUID, fixed when the batch is cut. */
  readonly batchId: string
  /** Entries in the batch. */
  readonly count: number
  /** Index in `LEVELS` of the highest level in the batch. */
  readonly highestSeverity: number
  /** The request body, `{"batch_id":…,"logs":[…]}`, as UTF-8. */
  readonly body: Uint8Array
  /** Set if the body is compressed. */
  readonly contentEncoding?: 'gzip'
  /** Set for a part of a batch: the original batch and the positions of this part's entries in it. */
  readonly origin?: { readonly batchId: string; readonly positions: readonly number[] }
  /** Set if entries of the batch are on disk. */
  readonly acknowledgement?: BatchAcknowledgement
  /** Set if the whole batch is on disk and can be read back. */
  readonly place?: SegmentPosition
}

/** Start of a batch on disk. */
export interface SegmentPosition {
  /** Number of the segment. */
  readonly segment: number
  /** In bytes. */
  readonly offset: number
}

/** Records which entries of a batch are settled. Positions are those in this batch. Only `storeDeadLetters` may throw. */
export interface BatchAcknowledgement {
  /** Whether all entries are still on disk; a limit may have deleted them. Default false. */
  readonly isDurable?: boolean
  /**
   * Records that these entries are sent as a separate batch. Must be called before that batch is sent.
   * @returns the acknowledgement of that batch
   */
  createPart(positions: readonly number[]): BatchAcknowledgement
  /**
   * Stores rejected entries of the batch, before they are acknowledged. If it throws, the batch is abandoned. Default:
   * the dead letters of the sender.
   */
  storeDeadLetters?(letters: readonly DeadLetter[]): void
  /** Records that these entries (default: all) were accepted or became dead letters and must not be sent again. */
  acknowledge(positions?: readonly number[]): void
}

/** An entry that the service rejected, stored for inspection. */
export interface DeadLetter {
  /** Id of the original batch, not of the rejected part. */
  readonly batchId: string
  /** Position in that batch. */
  readonly index: number
  /** Status of the reply. */
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
  /** Status of the reply, if it names entries. */
  readonly status?: number
  /**
   * Set if a 2xx reply had no ingest result but may be from the service. The batch counts as accepted; this is reported
   * once.
   */
  readonly unreadable?: true
}

/** All entries were rejected, or the reply may concern the key or the URL (`mayConcernEndpoint`). */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  /** The entries that the reply names; empty if it names none. */
  readonly rejected: readonly IngestResultError[]
  /** Number of this failure. Set if the reply names no entry and the service accepted other entries directly before. */
  readonly failureNumber?: number | undefined
  /**
   * Set if the reply may concern the key or the URL instead of the content, such as a 401 or a page of a gateway. Other
   * batches show which: if one is accepted, this one is isolated.
   */
  readonly mayConcernEndpoint?: true
}

/**
 * Failure of the NATS queue: unreachable or not responding, full, credentials rejected, publishing not permitted, or
 * stream missing or misconfigured.
 */
export type QueueFailure = 'unavailable' | 'full' | 'unauthorized' | 'forbidden' | 'misconfigured'

/** The same bytes may be sent again, after `retryAfterMs` if the service sent one. */
export interface Retryable {
  readonly kind: 'retryable'
  readonly reason: string
  readonly status?: number
  readonly retryAfterMs?: number
  /**
   * Set if an entry of the batch may be the cause: the endpoint refused the batch for now, or closed the connection. Not
   * for replies of a gateway that waited for the service.
   */
  readonly mayConcernContent?: true
  /** Set if the service may have stored the batch: its entries would arrive twice under another id. */
  readonly mayBeStored?: true
  /**
   * Set for a batch that isolation sends in another way: in parts, since one of its entries may be the cause, or
   * unchanged, but outside the search.
   */
  readonly sendAs?: 'parts' | 'separate'
  /** Set if the queue failed instead of the service. */
  readonly queue?: QueueFailure
}

/**
 * The URL or the key is wrong, or a program other than the service replied. Entries are kept, the user is notified and
 * the endpoint is probed.
 */
export interface EndpointRejected {
  readonly kind: 'endpoint-rejected'
  /**
   * Status of the reply. Undefined for `queue`, and if nothing was sent because the listener at the implicit local URL
   * could not be verified as this user's.
   */
  readonly status?: number
  /** Set if the queue rejected the batch instead of the service. */
  readonly queue?: QueueFailure
  readonly reason: string
  /** The remedy, if `reason` does not contain it: a sentence without a full stop. */
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
  /** Never rejects. Aborting `signal` ends the attempt with the outcome `retryable` or `abandoned`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>
}
