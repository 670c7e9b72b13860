/** Who waits for what was logged before: until it is acknowledged, or safe on disk while the service is down. */
import type { Clock } from '../clock.js'
import type { Gate } from './gate.js'
import type { Mark } from './held.js'

/** `spooled`: on disk, and the service is down. */
export type Flushed = 'acknowledged' | 'spooled'

export interface FlushesOptions {
  readonly clock: Clock
  /** An outage of this age ends the wait for what is on disk. */
  readonly requestTimeoutMs: number
  readonly gate: Pick<Gate, 'outageAgeMs' | 'isClosed' | 'failedAttempts'>
  /** Whether there are entries on disk of which this process will not hear any more. */
  readonly hasKept: () => boolean
  /** The oldest that is not settled, in each lane. */
  readonly oldest: () => Mark
}

interface Waiter {
  readonly before: Mark
  /** When it began to wait. */
  readonly failedAttempts: number
  readonly endsInOutage: boolean
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

  /**
   * Resolves when everything before the mark is settled or safe. Never rejects.
   * @param endsInOutage whether what is on disk while the service is down is waited for no longer
   */
  add(before: Mark, endsInOutage = true): Promise<Flushed> {
    return new Promise((resolve) => {
      this.#waiters.push({ before, endsInOutage, failedAttempts: this.#options.gate.failedAttempts, resolve })
      this.look()
    })
  }

  /** Something was settled. */
  look(): void {
    if (this.#waiters.length === 0) return
    const oldest = this.#options.oldest()
    const { gate, requestTimeoutMs } = this.#options
    const isLong = gate.outageAgeMs >= requestTimeoutMs
    // Outage and pause may be over, and nobody has asked since: a process that was stopped has not.
    const isDown = (since: number): boolean => isLong && (gate.isClosed || gate.failedAttempts > since)
    this.#resolve(({ before, endsInOutage, failedAttempts }) => {
      if (oldest.loose < before.loose) return undefined
      if (oldest.stored >= before.stored) return this.#options.hasKept() ? 'spooled' : 'acknowledged'
      return endsInOutage && isDown(failedAttempts) ? 'spooled' : undefined
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
    const { clock, requestTimeoutMs, gate } = this.#options
    this.#cancelTimer = clock.timer(Math.max(requestTimeoutMs - gate.outageAgeMs, LEAST_LOOK_MS), () => {
      this.#cancelTimer = undefined
      this.look()
    })
  }
}
