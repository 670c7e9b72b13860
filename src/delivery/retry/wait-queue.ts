/** The batches that wait for the circuit breaker, the oldest first. */
import type { Batch } from '../../batch/batch.js'

/**
 * The sequence of a batch and its failures. Kept through all attempts, so an older batch is sent before a younger one.
 */
export interface RetryState {
  readonly sequence: number
  readonly batchId: string
  /** Id of the original batch, if this one is a part. */
  readonly rootId: string
  /** Number of requests accepted before the first attempt. */
  readonly acceptedAtStart: number
  /** Whether a part of the batch can be sent alone. */
  readonly isDivisible: boolean
  /** Failures of this batch while other requests were accepted. */
  singleFailures: number
  /** Failures of this batch during outages. */
  outageFailures: number
  /** Failures in a row that an entry of the batch may have caused; -Infinity after a failure such as a timeout. */
  contentFailures: number
  /** Number of requests accepted before the latest failure after which the service may have stored the batch. */
  mayBeStoredAt: number | undefined
  /** Rejections after which the batch was sent again unchanged, because the service may have stored it. */
  repeats: number
  /** Number of requests accepted before the latest failure of the batch. */
  acceptedBefore: number
  /** The batch waits until this time; others may be sent first. */
  notBefore: number
}

export type RetriedBatch = Pick<Batch, 'batchId' | 'count' | 'origin'>

/** After so many failures in outages a batch lets others go first. Short outages end earlier, and keep the order. */
export const FAILURES_BEFORE_OTHERS = 3

/** Whether the batch may be the cause of the failures, so another one is the better probe. */
export function isSuspect({ outageFailures }: RetryState): boolean {
  return outageFailures >= FAILURES_BEFORE_OTHERS
}

interface Waiter {
  readonly retryState: RetryState
  /** Removes the batch from the queue. */
  readonly end: (isAdmitted: boolean) => void
}

export class WaitQueue {
  readonly #waiters: Waiter[] = []
  #nextSequence = 0
  /** Whether the latest probe of a rejecting endpoint was a batch that was not rejected. */
  #wasNewest = false

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  get size(): number {
    return this.#waiters.length
  }

  /** @param acceptedAtStart number of requests accepted up to now */
  createRetryState({ batchId, count, origin }: RetriedBatch, notBefore: number, acceptedAtStart: number): RetryState {
    const rootId = origin?.batchId ?? batchId
    const ids = { sequence: this.#nextSequence++, batchId, rootId, acceptedAtStart }
    const counts = { singleFailures: 0, outageFailures: 0, contentFailures: 0, acceptedBefore: 0, repeats: 0 }
    return { ...ids, ...counts, mayBeStoredAt: undefined, isDivisible: count > 1, notBefore }
  }

  /** Whether another batch waits that can show more: no part of the same original, and no suspect. */
  hasOtherThan({ rootId }: RetryState): boolean {
    return this.#waiters.some(({ retryState }) => retryState.rootId !== rootId && !isSuspect(retryState))
  }

  /** Number of waiting batches that let others go first: they wait for their `notBefore`, or were probed often. */
  countDelayed(now: number): number {
    return this.#waiters.filter(({ retryState }) => retryState.notBefore > now || isSuspect(retryState)).length
  }

  /** The earliest time at which a batch may be sent; Infinity if none waits. */
  get dueAt(): number {
    return Math.min(...this.#waiters.map(({ retryState }) => retryState.notBefore))
  }

  /** Limits each `notBefore` to `at`. */
  limitDelays(at = -Infinity): void {
    for (const { retryState } of this.#waiters) retryState.notBefore = Math.min(retryState.notBefore, at)
  }

  /**
   * @param signal aborting it removes the batch
   * @param onEnd called once
   */
  enter(retryState: RetryState, signal: AbortSignal, onEnd: (isAdmitted: boolean) => void): void {
    const leave = (): void => waiter.end(false)
    const waiter: Waiter = {
      retryState,
      end: (isAdmitted) => {
        signal.removeEventListener('abort', leave)
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        onEnd(isAdmitted)
      },
    }
    signal.addEventListener('abort', leave)
    const younger = this.#waiters.findIndex((other) => other.retryState.sequence > retryState.sequence)
    this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
  }

  /**
   * Admits the oldest batch that was not probed often; else the one that was probed least.
   * @param isEnding few attempts are left, so each batch gets one before another gets a second
   * @param searchedId the original batch that is searched for bad entries. Of batches with as many failures, its parts
   * are sent first: an entry is only proven bad if others are left that are accepted afterwards
   */
  admitFirst(now: number, isEnding: boolean, searchedId: string | undefined): void {
    const due = this.#due(now)
    const unsuspected = isEnding ? undefined : due.find(({ retryState }) => !isSuspect(retryState))
    const failures = ({ retryState }: Waiter): number => retryState.outageFailures + retryState.singleFailures
    const isOther = ({ retryState }: Waiter): number => Number(retryState.rootId !== searchedId)
    ;(unsuspected ?? due.toSorted((a, b) => failures(a) - failures(b) || isOther(a) - isOther(b)).at(0))?.end(true)
  }

  /**
   * While the endpoint may reject everything: admits, alternately, the newest batch that was not rejected, and a part of
   * a rejected batch. Several bad batches in a row may wait, and each batch may have a bad entry.
   */
  admitProbe(now: number, wasRejected: (rootId: string) => boolean): void {
    const due = this.#due(now)
    const newest = due.findLast(({ retryState }) => !isSuspect(retryState) && !wasRejected(retryState.rootId))
    const part = due.find(({ retryState: { batchId, rootId } }) => batchId !== rootId && wasRejected(rootId))
    const probe = this.#wasNewest ? (part ?? newest) : (newest ?? part)
    this.#wasNewest = probe === newest
    ;(probe ?? due.at(0))?.end(true)
  }

  #due(now: number): Waiter[] {
    return this.#waiters.filter(({ retryState }) => retryState.notBefore <= now)
  }

  /** Removes the batches that may only be sent at `at` or later. */
  cancelFrom(at: number): void {
    for (const waiter of this.#waiters.filter(({ retryState }) => retryState.notBefore >= at)) waiter.end(false)
  }
}
