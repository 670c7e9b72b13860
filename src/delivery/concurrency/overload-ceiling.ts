/**
 * Limits concurrency after an overload reply. The limit grows fast up to half of the requests that were in flight, then
 * by one. The number at which the service was overloaded is not tried again for a multiple of the time that the
 * overload cost.
 *
 * Failures while other requests are accepted are an overload only if a lower limit reduces them. A service that accepts
 * one request less than are in flight fails at least one request per round trip. Fewer failures cost less than a lower
 * limit, and do not change it.
 */
import type { Retryable } from '../../batch/outcome.js'

/** Maximum share of the number of requests that were in flight at the overload. */
const CAUTIOUS_SHARE = 0.9
/** The limit shrinks after this many failures within as many round trips. */
const FREQUENT = 3
/** Multiple of the time that the overload cost, measured until the same number of requests was in flight again. */
const PATIENCE = 10
const MAX_PATIENCE_MS = 60_000
/** After failures at a limit, it is not tried again before this many requests per failure were accepted. */
const ACCEPTED_PER_FAILURE = 200
/** Lowest limit, because with one request at a time partial failures cannot be distinguished from an outage. */
const MIN_LIMIT = 2

export class OverloadCeiling {
  #half = Infinity
  #ceiling = Infinity
  #since = 0
  #until = Infinity
  /** Failures while other requests were accepted, since the limit was lowered. */
  #failed = 0
  /** Requests accepted at the ceiling. */
  #accepted = 0
  /** Latest failures while the limit is not lowered, the oldest first. */
  #latest: { readonly sequence: number; readonly now: number }[] = []
  /** The limit before failures lowered it. */
  #limitBefore = 0
  /** Until this time failures do not lower the limit, because they did not depend on it. */
  #unrelatedUntil = -Infinity

  /** Above this number, the limit grows by one. */
  get half(): number {
    return this.#half
  }

  /** Maximum of the limit. */
  get ceiling(): number {
    return this.#ceiling
  }

  /** @param inFlight requests in flight, including the one with the overload reply */
  overloaded(inFlight: number, now: number): void {
    this.reset()
    this.#half = Math.max(Math.floor(inFlight / 2), 1)
    this.#ceiling = Math.max(Math.min(inFlight - 1, Math.floor(inFlight * CAUTIOUS_SHARE)), 1)
    this.#since = now
    this.#until = Infinity
  }

  /**
   * Called when a request failed while others were accepted. Lowers the limit by a tenth if such failures are frequent.
   * If requests still fail at half the limit, the failures do not depend on it: it is restored, and failures do not
   * lower it for a while.
   * @param sequence number of the request
   * @param inFlight requests in flight, including this one
   * @returns the new limit
   */
  singleFailure(sequence: number, inFlight: number, limit: number, now: number): number {
    if (now < this.#unrelatedUntil) return limit
    if (this.#ceiling === Infinity) {
      this.#latest = [...this.#latest.slice(1 - FREQUENT), { sequence, now }]
      const [first] = this.#latest
      if (first === undefined || this.#latest.length < FREQUENT) return limit
      if (sequence - first.sequence > FREQUENT * inFlight) return limit
      this.#limitBefore = limit
      this.#since = first.now
      this.#failed = FREQUENT
    } else if (inFlight <= Math.max(this.#limitBefore / 2, MIN_LIMIT)) {
      this.#unrelatedUntil = now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS)
      this.reset()
      return Math.max(this.#limitBefore, limit)
    } else this.#failed += 1
    this.#ceiling = reduced(inFlight)
    this.#accepted = 0
    this.#until = Infinity
    return reduced(limit)
  }

  /** Called when another request of the same round trip failed. */
  addFailure(): void {
    this.#failed += 1
  }

  /** Called when a request succeeded at this limit. */
  succeeded(limit: number, now: number): void {
    if (limit < this.#ceiling) return
    this.#accepted += 1
    this.#until = Math.min(this.#until, now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS))
    if (now >= this.#until && this.#accepted >= this.#failed * ACCEPTED_PER_FAILURE) this.#ceiling = Infinity
  }

  reset(): void {
    this.#half = this.#ceiling = Infinity
    this.#failed = this.#accepted = 0
    this.#latest = []
  }
}

function reduced(limit: number): number {
  return Math.max(Math.floor(limit * CAUTIOUS_SHARE), MIN_LIMIT)
}

/** Whether the service replied that it is overloaded. */
export function isOverload({ status }: Retryable): boolean {
  return status === 429 || status === 503
}
