/** One timer, which is set anew rather than twice. */
import type { Clock } from '../../shared/clock.js'

export class WakeTimer {
  readonly #clock: Clock
  readonly #ring: () => void
  #at: number | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** May ring early, by a millisecond or for the longest delays (see `Clock`): whoever hears it looks at the clock. */
  set(at: number): void {
    if (this.#at === at) return
    this.#cancelTimer?.()
    this.#at = at
    this.#cancelTimer = this.#clock.timer(at - this.#clock.now(), () => {
      this.#at = undefined
      this.#ring()
    })
  }

  clear(): void {
    this.#cancelTimer?.()
    this.#at = undefined
  }
}
