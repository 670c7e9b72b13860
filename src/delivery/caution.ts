/**
 * What a refusal teaches: up to half of what was in flight it may go fast again, and what was refused is not tried again for
 * a time that is long against what the refusal has cost.
 */
import type { Later } from '../sender.js'

/** Of what was refused, at most. */
const CAUTIOUS_SHARE = 0.9
/** Times what it has cost, until as many were in flight again. */
const PATIENCE = 10
const MAX_PATIENCE_MS = 60_000
/** A lone request tells nothing of a service where some fail. */
const LEAST = 2

export class Caution {
  #half = Infinity
  #ceiling = Infinity
  #since = 0
  #until = Infinity
  /** The limit before failures lowered it. */
  #from = 0
  #unrelatedUntil = -Infinity

  /** Growth beyond it is by one. */
  get half(): number { return this.#half }

  /** Not to be passed. */
  get ceiling(): number { return this.#ceiling }

  /** @param among requests in flight: it was one of so many */
  refused(among: number, now: number): void {
    this.#half = Math.max(Math.floor(among / 2), 1)
    this.#ceiling = Math.max(Math.min(among - 1, Math.floor(among * CAUTIOUS_SHARE)), 1)
    this.#since = now
    this.#until = Infinity
  }

  /**
   * It failed, and others did not: a tenth fewer. If the same is true among half as many, the number is not the reason: it
   * is restored, and left alone for a while.
   * @param delayMs what it has cost @returns the new limit
   */
  failedBesideSuccesses(among: number, limit: number, now: number, delayMs: number): number {
    if (now < this.#unrelatedUntil) return limit
    if (this.#ceiling === Infinity) {
      this.#from = limit
      this.#since = now - delayMs
    } else if (among <= Math.max(this.#from / 2, LEAST)) {
      this.#unrelatedUntil = now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS)
      this.forget()
      return Math.max(this.#from, limit)
    }
    this.#ceiling = aTenthLess(among)
    this.#until = Infinity
    return aTenthLess(limit)
  }

  /** Another of those that were in flight with it. */
  costMore(delayMs: number): void { this.#since -= delayMs }

  /** So many may be in flight, and all is well. */
  succeeded(limit: number, now: number): void {
    if (limit < this.#ceiling) return
    this.#until = Math.min(this.#until, now + Math.min((now - this.#since) * PATIENCE, MAX_PATIENCE_MS))
    if (now >= this.#until) this.#ceiling = Infinity
  }

  forget(): void {
    this.#half = this.#ceiling = Infinity
  }
}

function aTenthLess(limit: number): number {
  return Math.max(Math.floor(limit * CAUTIOUS_SHARE), LEAST)
}

/** The service says that it was too much, or that it is not up to it. */
export function isTooMuch({ status }: Later): boolean {
  return status === 429 || status === 503
}
