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

export class Caution {
  #half = Infinity
  #ceiling = Infinity
  #since = 0
  #until = Infinity

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

/** The service says that it was too much, or that it is not up to it. */
export function isTooMuch({ status }: Later): boolean {
  return status === 429 || status === 503
}
