/**
 * Decides whether a failure is an outage. If a load balancer has one bad node, some requests get a 503 while others are
 * accepted; this is not an outage. A failure is an outage if one of these is true:
 *
 * - more than half of the latest 32 replies are failures
 * - nothing was accepted since the previous failure of the same batch
 * - nothing was ever accepted
 */
import type { RetryState } from './wait-queue.js'

const MAX_REPLIES = 32

export class RecentReplies {
  /** For each of the latest replies since the last outage: whether it was a failure. */
  #failed: boolean[] = []
  #successes = 0

  recordSuccess(): void {
    this.#successes += 1
    this.#add(false)
  }

  /** @returns whether the failure is an outage */
  recordFailure(retryState: RetryState): boolean {
    this.#add(true)
    const isOutage =
      retryState.acceptedBefore === this.#successes || this.#failed.filter(Boolean).length * 2 > MAX_REPLIES
    retryState.acceptedBefore = this.#successes
    if (isOutage) this.#failed = []
    return isOutage
  }

  #add(isFailed: boolean): void {
    this.#failed.push(isFailed)
    if (this.#failed.length > MAX_REPLIES) this.#failed.shift()
  }
}
