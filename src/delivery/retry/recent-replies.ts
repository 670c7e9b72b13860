/**
 * Decides whether a failure is an outage. If a load balancer has one bad node, some requests get a 503 while others are
 * accepted; this is not an outage. A failure is an outage if
 *
 * - most of the latest replies are failures
 * - the same batch has failed before, and nothing was accepted since then, or nothing was ever accepted
 */
import type { RetryState } from './wait-queue.js'

const KEPT = 32

export class RecentReplies {
  /** For each of the latest replies since the last outage: whether it was a failure. */
  #failed: boolean[] = []
  #accepted = 0

  recordSuccess(): void {
    this.#accepted += 1
    this.#add(false)
  }

  /** @returns whether the failure is an outage */
  recordFailure(retryState: RetryState): boolean {
    this.#add(true)
    const isOutage = retryState.acceptedBefore === this.#accepted || this.#failed.filter(Boolean).length * 2 > KEPT
    retryState.acceptedBefore = this.#accepted
    if (isOutage) this.#failed = []
    return isOutage
  }

  #add(isFailed: boolean): void {
    this.#failed.push(isFailed)
    if (this.#failed.length > KEPT) this.#failed.shift()
  }
}
