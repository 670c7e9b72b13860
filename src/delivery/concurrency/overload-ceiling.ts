/**
 * What a refusal teaches: up to half of what was in flight it may go fast again, and what was refused is not tried again for
 * a time that is long against what the refusal has cost.
 */
import type { Retryable } from '../../batch/sender.js'

/** Of what was refused, at most. */
const CAUTIOUS_SHARE = 0.9
/** Times what it has cost, until as many were in flight again. */
const PATIENCE = 10
const MAX_PATIENCE_MS = 60_000
/** Lowest limit: with one request at a time, partial failures cannot be told from an outage. */
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

  /** Not to be passed. */
  get ceiling(): number {
    return this.#ceiling
  }

  /** @param among requests in flight: it was one of so many */
  overloaded(among: number, now: number): void {
    this.#half = Math.max(Math.floor(among / 2), 1)
    this.#ceiling = Math.max(Math.min(among - 1, Math.floor(among * CAUTIOUS_SHARE)), 1)
    this.#since = now
    this.#until = Infinity
  }

  /**
   * A request failed while others were accepted: lowers the limit by a tenth. If requests still fail at half the limit, the
   * failures do not depend on it: it is restored, and failures do not lower it for a while.
   * @param among requests in flight with it @param delayMs delay of its batch @returns the new limit
   */
  isolatedFailure(among: number, limit: number, now: number, delayMs: number): number {
    if (now < this.#unrelatedUntil) return limit
    if (this.#ceiling === Infinity) {
      this.#limitBefore = limit
      this.#since = now - delayMs
    } else if (among <= Math.max(this.#limitBefore / 2, MIN_LIMIT)) {
      this.#unrelatedUntil = now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS)
      this.reset()
      return Math.max(this.#limitBefore, limit)
    }
    this.#ceiling = reduced(among)
    this.#until = Infinity
    return reduced(limit)
  }

  /** Another request of the same round trip failed. */
  addDelay(delayMs: number): void {
    this.#since -= delayMs
  }

  /** So many may be in flight, and all is well. */
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

/** The service says that it was too much, or that it is not up to it. */
export function isOverload({ status }: Retryable): boolean {
  return status === 429 || status === 503
}
