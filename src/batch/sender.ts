/**
 * One verb, many decorators: `send(batch)` is what the HTTP call, the retry and the quarantine each implement. An
 * outcome is a value; a rejected promise is a bug.
 */
import type { IngestResultError } from '../protocol/ingest-result.js'

/** At most 100 entries under one id, which stays theirs through every attempt. */
export interface Batch {
  /** UUID, fixed when the batch is cut. */
  readonly batchId: string
  /** Entries in the batch. */
  readonly count: number
  /** Position in `LEVELS` of the highest level among them: what a drop would cost. */
  readonly highestSeverity: number
  /** The whole request body, `{"batch_id":…,"logs":[…]}`, as UTF-8. */
  readonly body: Uint8Array
  /** Set where the body is compressed. */
  readonly contentEncoding?: 'gzip'
  /** Set for a part: the batch that was cut, and the positions in it that this part holds. */
  readonly origin?: { readonly batchId: string; readonly positions: readonly number[] }
  /** Set where entries of it lie on disk. */
  readonly acknowledgement?: BatchAcknowledgement
  /** Set where all of it lies on disk, and can be read back from there. */
  readonly place?: SegmentPosition
}

/** Where a batch begins on disk. */
export interface SegmentPosition {
  /** Number of the segment. */
  readonly segment: number
  /** In bytes. */
  readonly offset: number
}

/** The hold of the spool on a batch's entries. Positions are those in this batch. Never throws. */
export interface BatchAcknowledgement {
  /** Whether all of them are on disk, still: they may have been dropped at a bound. Default false. */
  readonly isDurable?: boolean
  /** Recorded before it is sent: these entries go on as a batch of their own, of which the result is the custody. */
  createPart(positions: readonly number[]): BatchAcknowledgement
  /** These entries (default all) were accepted or set aside, and are not to be sent again. */
  acknowledge(positions?: readonly number[]): void
}

/** An entry that the service refused, as it is kept for people. */
export interface DeadLetter {
  /** Of the batch that was cut, not of the part that was refused. */
  readonly batchId: string
  /** Position in that batch. */
  readonly index: number
  /** Of the reply. */
  readonly status: number
  /** The service's own words, empty where it gave none. */
  readonly code: string
  readonly field: string
  readonly reason: string
  /** As JSON. */
  readonly entry: string
}

/** The service took the batch; `rejected` names the entries it refused by their position. */
export interface Delivered {
  readonly kind: 'delivered'
  /** Entries taken; the others of the batch, `count - accepted`, were rejected. */
  readonly accepted: number
  readonly rejected: readonly IngestResultError[]
  /** Of the reply, where it names entries. */
  readonly status?: number
  /** Set where the 2xx had no ingest result, but could be the service's: it counts as accepted, and is reported once. */
  readonly unreadable?: true
}

/** The service looked at the content and refused all of it. */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  /** The entries that the reply names; empty where it names none. */
  readonly rejected: readonly IngestResultError[]
  /** Number of this failure. Set if the reply names no entry, and the service accepted other entries directly before it. */
  readonly failureNumber?: number | undefined
}

/** Not now: the same bytes may be sent again, not before `retryAfterMs` where the service gave one. */
export interface Retryable {
  readonly kind: 'retryable'
  readonly reason: string
  readonly status?: number
  readonly retryAfterMs?: number
}

/** The address, the key or the route is wrong, or something else than the service answered: keep everything, tell the user, probe from time to time. */
export interface EndpointRejected {
  readonly kind: 'endpoint-rejected'
  /** Of the reply. Without one nothing was sent, since the listener at the implicit local URL is not known to be this user's. */
  readonly status?: number
  readonly reason: string
  /** What the user can do, where `reason` does not say it: a sentence without its full stop. */
  readonly remedy?: string | undefined
}

/** The deadline of the shutdown passed before the service took the batch. */
export interface Abandoned {
  readonly kind: 'abandoned'
  readonly reason: string
  /** Entries of the batch that were taken before it was given up. Default 0. */
  readonly accepted?: number
  /** Entries that were refused, and set aside, before it was given up. Default none. */
  readonly rejected?: readonly IngestResultError[]
}

export type Outcome = Delivered | Refused | Retryable | EndpointRejected | Abandoned

export interface Sender {
  /** Never rejects. `signal` ends the attempt; what follows is `retryable` or `abandoned`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>
}
