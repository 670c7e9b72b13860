/**
 * Limits concurrency after an overload reply. Up to half of the requests that were in flight the limit grows fast again. The
 * number at which the service was overloaded is not tried again for a multiple of the time that the overload cost.
 */
import type { Retryable } from '../../batch/sender.js'

/** Maximum share of the number of requests that were in flight at the overload. */
const CAUTIOUS_SHARE = 0.9
/** Multiple of the time that the overload cost, that is, until the same number of requests was in flight again. */
const PATIENCE = 10
const MAX_PATIENCE_MS = 60_000
/** Lowest limit: with one request at a time, partial failures cannot be distinguished from an outage. */
const MIN_LIMIT = 2

export class OverloadCeiling {
  #half = Infinity
  #ceiling = Infinity
  #since = 0
  #until = Infinity
  /** The limit before failures lowered it. */
  #limitBefore = 0
  /** Until then failures do not lower the limit, because they did not depend on it. */
  #unrelatedUntil = -Infinity

  /** Growth beyond it is by one. */
  get half(): number {
    return this.#half
  }

  /** The limit must not exceed it. */
  get ceiling(): number {
    return this.#ceiling
  }

  /** @param inFlight requests in flight, including the one with the overload reply */
  overloaded(inFlight: number, now: number): void {
    this.#half = Math.max(Math.floor(inFlight / 2), 1)
    this.#ceiling = Math.max(Math.min(inFlight - 1, Math.floor(inFlight * CAUTIOUS_SHARE)), 1)
    this.#since = now
    this.#until = Infinity
  }

  /**
   * A request failed while others were accepted: lowers the limit by a tenth. If requests still fail at half the limit, the
   * failures do not depend on it: it is restored, and failures do not lower it for a while.
   * @param inFlight requests in flight, including this one @param delayMs delay of its batch @returns the new limit
   */
  isolatedFailure(inFlight: number, limit: number, now: number, delayMs: number): number {
    if (now < this.#unrelatedUntil) return limit
    if (this.#ceiling === Infinity) {
      this.#limitBefore = limit
      this.#since = now - delayMs
    } else if (inFlight <= Math.max(this.#limitBefore / 2, MIN_LIMIT)) {
      this.#unrelatedUntil = now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS)
      this.reset()
      return Math.max(this.#limitBefore, limit)
    }
    this.#ceiling = reduced(inFlight)
    this.#until = Infinity
    return reduced(limit)
  }

  /** Another request of the same round trip failed. */
  addDelay(delayMs: number): void {
    this.#since -= delayMs
  }

  /** A request succeeded at this limit. */
  succeeded(limit: number, now: number): void {
    if (limit < this.#ceiling) return
    this.#until = Math.min(this.#until, now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS))
    if (now >= this.#until) this.#ceiling = Infinity
  }

  reset(): void {
    this.#half = this.#ceiling = Infinity
  }
}

function reduced(limit: number): number {
  return Math.max(Math.floor(limit * CAUTIOUS_SHARE), MIN_LIMIT)
}

/** Whether the service replied that it is overloaded. */
export function isOverload({ status }: Retryable): boolean {
  return status === 429 || status === 503
}
