/** What is done again and again: the lease, the look for the dead, the synchronisation. */
import type { Clock } from '../shared/clock.js'

export interface PeriodicTasksOptions {
  readonly clock: Clock
  readonly renewMs: number
  readonly isPowerSafe: boolean
  readonly renew: () => void
  readonly scan: () => void
  readonly sync: () => void
}

const SCAN_MS = 15_000
/** What a power failure may cost (`durability: 'power'`). */
const SYNC_MS = 1_000

export class PeriodicTasks {
  readonly #options: PeriodicTasksOptions
  readonly #cancels = new Set<() => void>()

  constructor(options: PeriodicTasksOptions) {
    this.#options = options
  }

  start(): void {
    const { renewMs, renew, scan, sync, isPowerSafe } = this.#options
    this.#every(renewMs, renew)
    this.#every(SCAN_MS, scan)
    if (isPowerSafe) this.#every(SYNC_MS, sync)
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }

  #every(ms: number, act: () => void): void {
    const cancel = this.#options.clock.timer(ms, () => {
      this.#cancels.delete(cancel)
      this.#every(ms, act)
      act()
    })
    this.#cancels.add(cancel)
  }
}
