/**
 * Whether a failure is an outage. A load balancer with a bad node answers a part of all requests 503 and accepts the others: that
 * is none. It is one where most of the latest replies are failures and, since few replies say little,
 *
 * - where one request at a time is sent: nothing speaks for the service, and at `maxConcurrency` 1 the order has to stay
 * - where the same batch has failed before, and nothing was accepted since then, or ever
 */
import type { Turn } from './line.js'

const KEPT = 32

export class RecentReplies {
  /** The latest since the last outage: whether each failed. */
  #failed: boolean[] = []
  #accepted = 0

  accepted(): void {
    this.#accepted += 1
    this.#add(false)
  }

  /** @param isAlone one request at a time is sent @returns whether it is an outage */
  failed(turn: Turn, isAlone: boolean): boolean {
    this.#add(true)
    const isOutage = isAlone || turn.acceptedBefore === this.#accepted || this.#failed.filter(Boolean).length * 2 > KEPT
    turn.acceptedBefore = this.#accepted
    if (isOutage) this.#failed = []
    return isOutage
  }

  #add(isFailed: boolean): void {
    this.#failed.push(isFailed)
    if (this.#failed.length > KEPT) this.#failed.shift()
  }
}
