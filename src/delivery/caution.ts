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

  /**
   * It failed, and others did not. Among as few as the last time allows the number is not the reason.
   * @param delayMs what it has cost
   */
  failedBesideSuccesses(among: number, now: number, delayMs: number): void {
    if (this.#ceiling < Infinity && among <= this.#ceiling) return this.forget()
    this.#ceiling = aFewLess(among)
    this.#since = now - delayMs
    this.#until = Infinity
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

/** Two at least: a lone request tells nothing of a service where some fail. */
export function aFewLess(limit: number): number {
  return Math.max(Math.floor(limit * CAUTIOUS_SHARE), 2)
}

/** The service says that it was too much, or that it is not up to it. */
export function isTooMuch({ status }: Later): boolean {
  return status === 429 || status === 503
}
