/** The pause that the service asked for with Retry-After. */
import type { Clock } from '../../shared/clock.js'

/** Maximum random time added, so many processes do not return at the same instant. */
const MAX_JITTER_MS = 1000
const JITTER_SHARE = 0.1

export class RetryAfter {
  readonly #clock: Clock
  readonly #random: () => number
  /** Never shortened. */
  #until = -Infinity
  /** Retained until the first success after the pause. */
  #since: number | undefined

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** End of the latest pause. */
  get until(): number {
    return this.#until
  }

  /** Milliseconds until its end. */
  get leftMs(): number {
    return Math.max(this.#until - this.#clock.now(), 0)
  }

  /** Milliseconds since its start; undefined if it is over. */
  get ageMs(): number | undefined {
    return this.leftMs > 0 && this.#since !== undefined ? this.#clock.now() - this.#since : undefined
  }

  apply(delayMs: number): void {
    if (delayMs <= 0) return
    const now = this.#clock.now()
    if (this.leftMs === 0) this.#since = now
    const jitterMs = this.#random() * Math.min(MAX_JITTER_MS, delayMs * JITTER_SHARE)
    this.#until = Math.max(this.#until, now + delayMs + jitterMs)
  }

  /** Call for each success; one during the pause does not end it. @returns whether it is the first one after a pause */
  succeed(): boolean {
    if (this.#since === undefined || this.leftMs > 0) return false
    this.#since = undefined
    return true
  }
}
