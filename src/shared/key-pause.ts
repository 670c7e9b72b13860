/**
 * The pause that the service asked for with Retry-After. It applies to all requests with an API key, so one object is made
 * for each key and passed to everything that sends with it.
 */
import type { Clock } from './clock.js'

/** Maximum random time added, so that many processes do not return at the same instant. */
const MAX_JITTER_MS = 1_000
const JITTER_SHARE = 0.1

export class KeyPause {
  readonly #clock: Pick<Clock, 'now'>
  readonly #random: () => number
  #until = -Infinity

  /** @param random in [0, 1) */
  constructor(clock: Pick<Clock, 'now'>, random: () => number = Math.random) {
    this.#clock = clock
    this.#random = random
  }

  /** Its end, by the clock's `now`. */
  get until(): number {
    return this.#until
  }

  get leftMs(): number {
    return Math.max(this.#until - this.#clock.now(), 0)
  }

  /** Never shortens the pause. */
  apply(delayMs: number): void {
    if (delayMs <= 0) return
    const jitterMs = this.#random() * Math.min(MAX_JITTER_MS, delayMs * JITTER_SHARE)
    this.#until = Math.max(this.#until, this.#clock.now() + delayMs + jitterMs)
  }
}
