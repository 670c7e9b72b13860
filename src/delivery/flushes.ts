/** Who waits for what was logged before: until it is acknowledged, or safe on disk while the service is down. */
import type { Clock } from '../clock.js'
import type { Mark } from './held.js'

/** `spooled`: on disk, and the service is down. */
export type Flushed = 'acknowledged' | 'spooled'

export interface FlushesOptions {
  readonly clock: Clock
  /** An outage of this age ends the wait for what is on disk. */
  readonly requestTimeoutMs: number
  readonly outageAgeMs: () => number
  /** Whether there are entries on disk of which this process will not hear any more. */
  readonly hasKept: () => boolean
  /** The oldest that is not settled, in each lane. */
  readonly oldest: () => Mark
}

interface Waiter {
  readonly before: Mark
  readonly resolve: (flushed: Flushed) => void
}

const LEAST_LOOK_MS = 50

export class Flushes {
  readonly #options: FlushesOptions
  #waiters: Waiter[] = []
  #cancelTimer: (() => void) | undefined

  constructor(options: FlushesOptions) {
    this.#options = options
  }

  /** Resolves when everything before the mark is settled or safe. Never rejects. */
  add(before: Mark): Promise<Flushed> {
    return new Promise((resolve) => {
      this.#waiters.push({ before, resolve })
      this.look()
    })
  }

  /** Something was settled. */
  look(): void {
    if (this.#waiters.length === 0) return
    const oldest = this.#options.oldest()
    const isDown = this.#options.outageAgeMs() >= this.#options.requestTimeoutMs
    this.#resolve(({ before }) => {
      if (oldest.loose < before.loose) return undefined
      if (oldest.stored >= before.stored) return this.#options.hasKept() ? 'spooled' : 'acknowledged'
      return isDown ? 'spooled' : undefined
    })
    if (this.#waiters.length > 0) this.#lookLater()
  }

  /** Nothing more will be settled. */
  end(flushed: Flushed): void {
    this.#cancelTimer?.()
    this.#resolve(() => flushed)
  }

  #resolve(stateOf: (waiter: Waiter) => Flushed | undefined): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const waiter of waiters) {
      const flushed = stateOf(waiter)
      if (flushed === undefined) this.#waiters.push(waiter)
      else waiter.resolve(flushed)
    }
  }

  #lookLater(): void {
    if (this.#cancelTimer !== undefined) return
    const { clock, requestTimeoutMs, outageAgeMs } = this.#options
    this.#cancelTimer = clock.timer(Math.max(requestTimeoutMs - outageAgeMs(), LEAST_LOOK_MS), () => {
      this.#cancelTimer = undefined
      this.look()
    })
  }
}
