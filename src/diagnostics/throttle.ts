import type { Clock } from '../shared/clock.js'

/**
 * Passes on the first value immediately. Merges later values within the window and passes the result on when it ends.
 */
export class Throttle<T> {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #merge: (pending: T, next: T) => T
  readonly #out: (value: T) => void
  #pending: T | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, windowMs: number, merge: (pending: T, next: T) => T, out: (value: T) => void) {
    this.#clock = clock
    this.#windowMs = windowMs
    this.#merge = merge
    this.#out = out
  }

  offer(value: T): void {
    if (this.#cancelTimer !== undefined) {
      this.#pending = this.#pending === undefined ? value : this.#merge(this.#pending, value)
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
    const hadPending = this.#pending !== undefined
    this.#pending = undefined
    return hadPending
  }

  #openWindow(): void {
    this.#cancelTimer = this.#clock.timer(this.#windowMs, () => {
      this.#cancelTimer = undefined
      if (this.#pending !== undefined) this.#openWindow()
      this.#passOn()
    })
  }

  #passOn(): void {
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) this.#out(pending)
  }
}
