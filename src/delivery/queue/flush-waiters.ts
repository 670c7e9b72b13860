/** Who waits for what was logged before: until it is acknowledged, or safe on disk while the service is down. */
import type { Clock } from '../../shared/clock.js'
import type { CircuitBreaker } from '../retry/circuit-breaker.js'
import type { Watermark } from './queued-batch.js'

/** `spooled`: on disk, and the service is down. */
export type FlushOutcome = 'acknowledged' | 'spooled'

export interface FlushWaitersOptions {
  readonly clock: Clock
  /** An outage of this age ends the wait for what is on disk. */
  readonly requestTimeoutMs: number
  readonly gate: Pick<CircuitBreaker, 'outageAgeMs' | 'retryAfterLeftMs' | 'rejections' | 'retrySoon'>
  /** Whether there are entries on disk of which this process will not hear any more. */
  readonly hasKept: () => boolean
  /** The oldest that is not settled, in each lane. */
  readonly oldest: () => Watermark
}

interface Waiter {
  readonly before: Watermark
  /** Attempts begun before it began to wait: their failures may be older than the call. */
  readonly begunAttempts: number
  /** Undefined where it waits for the service, however long that is down. */
  readonly endsAt: number | undefined
  readonly resolve: (flushed: FlushOutcome) => void
}

/** Failed attempts are not announced: they are looked for. */
const LOOK_MS = 50

export class FlushWaiters {
  readonly #options: FlushWaitersOptions
  #waiters: Waiter[] = []
  #cancelTimer: (() => void) | undefined

  constructor(options: FlushWaitersOptions) {
    this.#options = options
  }

  /**
   * Resolves when everything before the mark is settled. Never rejects.
   * @param timeoutMs With it, resolves as `spooled` as well, when all of it is on disk and
   * - the service is down for `requestTimeoutMs`, and an attempt that began after this call has failed, or the time is over;
   *   a backoff is cut short for that attempt
   * - or a Retry-After forbids attempts for longer than the time that is left
   */
  add(before: Watermark, timeoutMs?: number): Promise<FlushOutcome> {
    const { clock, gate } = this.#options
    return new Promise((resolve) => {
      const endsAt = timeoutMs === undefined ? undefined : clock.now() + timeoutMs
      this.#waiters.push({ before, endsAt, begunAttempts: gate.rejections.attemptsBegun, resolve })
      this.check()
    })
  }

  /** Something was settled. */
  check(): void {
    if (this.#waiters.length === 0) return
    const oldest = this.#options.oldest()
    const { gate } = this.#options
    this.#resolve((waiter) => {
      const { before } = waiter
      if (oldest.memoryOnly < before.memoryOnly) return undefined
      if (oldest.durable >= before.durable) return this.#options.hasKept() ? 'spooled' : 'acknowledged'
      return this.#canStopWaiting(waiter) ? 'spooled' : undefined
    })
    if (
      this.#waiters.some(
        ({ endsAt, begunAttempts }) => endsAt !== undefined && begunAttempts === gate.rejections.attemptsBegun,
      )
    )
      gate.retrySoon()
    if (this.#waiters.length > 0) this.#lookLater()
  }

  /** Nothing more will be settled. */
  end(flushed: FlushOutcome): void {
    this.#cancelTimer?.()
    this.#resolve(() => flushed)
  }

  #canStopWaiting({ endsAt, begunAttempts }: Waiter): boolean {
    if (endsAt === undefined) return false
    const { gate, requestTimeoutMs, clock } = this.#options
    const leftMs = Math.max(endsAt - clock.now(), 0)
    if (gate.retryAfterLeftMs > leftMs) return true
    return gate.outageAgeMs >= requestTimeoutMs && (gate.rejections.latestFailed > begunAttempts || leftMs === 0)
  }

  #resolve(stateOf: (waiter: Waiter) => FlushOutcome | undefined): void {
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
    this.#cancelTimer = this.#options.clock.timer(LOOK_MS, () => {
      this.#cancelTimer = undefined
      this.check()
    })
  }
}
