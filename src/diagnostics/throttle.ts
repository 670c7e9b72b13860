import type { Clock } from '../shared/clock.js'

/**
 * Passes on the first value immediately. Merges later values within the window and passes the result on when it ends.
 */
export class Throttle<T> {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #merge: (held: T, next: T) => T
  readonly #out: (value: T) => void
  #held: T | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, windowMs: number, merge: (held: T, next: T) => T, out: (value: T) => void) {
    this.#clock = clock
    this.#windowMs = windowMs
    this.#merge = merge
    this.#out = out
  }

  offer(value: T): void {
    if (this.#cancelTimer !== undefined) {
      this.#held = this.#held === undefined ? value : this.#merge(this.#held, value)
      return
    }
    this.#openWindow()
    this.#out(value)
  }

  /** Passes on the merged value, and ends the window. */
  flushNow(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#passOn()
  }

  /** Discards the merged value. The window continues. @returns whether there was one */
  discard(): boolean {
    const isHeld = this.#held !== undefined
    this.#held = undefined
    return isHeld
  }

  #openWindow(): void {
    this.#cancelTimer = this.#clock.timer(this.#windowMs, () => {
      this.#cancelTimer = undefined
      if (this.#held !== undefined) this.#openWindow()
      this.#passOn()
    })
  }

  #passOn(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.#out(held)
  }
}
