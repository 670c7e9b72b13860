/** Repeats tasks at intervals until it is stopped. */
import type { Clock } from '../shared/clock.js'

export class PeriodicTasks {
  readonly #clock: Clock
  readonly #cancels = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  every(intervalMs: number, run: () => void): void {
    const cancel = this.#clock.timer(intervalMs, () => {
      this.#cancels.delete(cancel)
      this.every(intervalMs, run)
      run()
    })
    this.#cancels.add(cancel)
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }
}
