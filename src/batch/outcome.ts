/** What can happen to a batch. Failures are outcomes. */
import type { IngestResultError } from '../protocol/ingest-result.js'

/** The service accepted the batch, except for the entries in `rejected`. */
export interface Delivered {
  readonly kind: 'delivered'
  /** Number of accepted entries; the others, `count - accepted`, were rejected. */
  readonly accepted: number
  readonly rejected: readonly IngestResultError[]
  /** Status of the reply. Undefined from the queue. */
  readonly status?: number
  /**
   * Set if the reply may be from the service but is not the result of the batch: a 2xx without an ingest result, or one that accepts
   * more entries than were sent. The batch counts as accepted; this is reported once.
   */
  readonly unreadable?: true | undefined
}

/** The service rejected all entries. */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  /** The entries that the reply names; empty if it names none. */
  readonly rejected: readonly IngestResultError[]
}

/**
 * Failure of the NATS queue: unreachable or not responding, full, credentials rejected, publishing not permitted, or
 * stream missing or misconfigured.
 */
export type QueueFailure = 'unavailable' | 'full' | 'unauthorized' | 'forbidden' | 'misconfigured'

/** Why this process could not send: it has too many open files, or its HTTP client failed. */
export type ProcessFailure = 'descriptors' | 'client'

/** The same bytes may be sent again, after `retryAfterMs` if the service sent one. */
export interface Retryable {
  readonly kind: 'retryable'
  readonly reason: string
  readonly status?: number
  readonly retryAfterMs?: number
  /**
   * Set if an entry of the batch may be the cause: the endpoint answered that it cannot take the batch now, or closed the connection. Not
   * for replies of a gateway that waited for the service.
   */
  readonly mayConcernContent?: true
  /** Set if a gateway or this process did not wait for the reply any longer, so that the service may have stored the batch. */
  readonly mayBeStored?: true
  /** Set if the queue failed instead of the service. */
  readonly queue?: QueueFailure
  /** Set if this process failed instead of the service. */
  readonly processFailure?: ProcessFailure
}

/**
 * The URL or the key is wrong, a program other than the service replied, or something on the way refuses this payload.
 * Other entries show which.
 */
export interface EndpointRejected {
  readonly kind: 'endpoint-rejected'
  /** Status of the reply. Undefined for `queue`. */
  readonly status?: number
  /** Set if the queue rejected the batch instead of the service. */
  readonly queue?: QueueFailure
  readonly reason: string
}

/** The batch is not sent: because of a bug, or because another forwarder may have its message. */
export interface Abandoned {
  readonly kind: 'abandoned'
  readonly reason: string
}

export type Outcome = Delivered | Refused | Retryable | EndpointRejected | Abandoned
