/**
 * One verb, many decorators: `send(batch)` is what the HTTP call, the retry and (later) quarantine and
 * spool each implement. An outcome is a value; a rejected promise is a bug.
 */
import type { IngestResultError } from './protocol/ingest.js'

/** At most 100 entries under one id, which stays theirs through every attempt. */
export interface Batch {
  /** UUID, fixed when the batch is cut. */
  readonly batchId: string
  /** Entries in the batch. */
  readonly count: number
  /** Position in `LEVELS` of the highest level among them: what a drop would cost. */
  readonly highestRank: number
  /** The whole request body, `{"batch_id":…,"logs":[…]}`, as UTF-8. */
  readonly body: Uint8Array
  /** Set where the body is compressed. */
  readonly contentEncoding?: 'gzip'
}

/** The service took the batch; `rejected` names the entries it refused by their position. */
export interface Delivered {
  readonly kind: 'delivered'
  /** Entries taken; the others of the batch, `count - accepted`, were rejected. */
  readonly accepted: number
  readonly rejected: readonly IngestResultError[]
  /** Set where the 2xx body was not an ingest result: taken as accepted, and told once. */
  readonly unreadable?: true
}

/** The service looked at the content and refused all of it. */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  /** The entries that the reply names; empty where it names none. */
  readonly rejected: readonly IngestResultError[]
}

/** Not now: the same bytes may be sent again, not before `retryAfterMs` where the service gave one. */
export interface Later {
  readonly kind: 'later'
  readonly reason: string
  readonly status?: number
  readonly retryAfterMs?: number
}

/** The address, the key or the route is wrong: keep everything, tell the user, probe from time to time. */
export interface Misconfigured {
  readonly kind: 'misconfigured'
  readonly status: number
  readonly reason: string
}

/** The deadline of the shutdown passed before the service took the batch. */
export interface GivenUp {
  readonly kind: 'given-up'
  readonly reason: string
}

export type Outcome = Delivered | Refused | Later | Misconfigured | GivenUp

export interface Sender {
  /** Never rejects. `signal` ends the attempt; what follows is `later` or `given-up`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>
}
