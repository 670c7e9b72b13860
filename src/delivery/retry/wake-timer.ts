/** A timer that can be reset to another time. */
import type { Clock } from '../../shared/clock.js'

export class WakeTimer {
  readonly #clock: Clock
  readonly #onWake: () => void
  #at: number | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, onWake: () => void) {
    this.#clock = clock
    this.#onWake = onWake
  }

  /** May fire early, by 1 ms or, for the longest delays, by more (see `Clock`). The listener must check the time. */
  set(at: number): void {
    if (this.#at === at) return
    this.#cancelTimer?.()
    this.#at = at
    this.#cancelTimer = this.#clock.timer(at - this.#clock.now(), () => {
      this.#at = undefined
      this.#onWake()
    })
  }

  clear(): void {
    this.#cancelTimer?.()
    this.#at = undefined
  }
}
