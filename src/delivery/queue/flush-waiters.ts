/** Pending flushes. Each waits until all earlier batches are acknowledged or, during an outage, on disk. */
import type { Clock } from '../../shared/clock.js'
import type { CircuitBreaker } from '../retry/circuit-breaker.js'
import type { Watermark } from './queued-batch.js'

/** `spooled`: on disk, during an outage. */
export type FlushOutcome = 'acknowledged' | 'spooled'

export interface FlushWaitersOptions {
  readonly clock: Clock
  /** An outage of this age ends the wait for batches on disk. */
  readonly requestTimeoutMs: number
  readonly breaker: Pick<CircuitBreaker, 'failures' | 'retrySoon'>
  /** Whether this process abandoned entries that are on disk. */
  readonly hasKept: () => boolean
  /** The oldest unsettled batch of each kind. */
  readonly oldest: () => Watermark
}

interface Waiter {
  readonly before: Watermark
  /** Number of attempts started before the flush. Their failures may be older than the flush. */
  readonly begunAttempts: number
  /** Undefined if the flush waits through any outage. */
  readonly endsAt: number | undefined
  readonly resolve: (flushed: FlushOutcome) => void
}

/** Interval of checks, since the conditions depend on time and on failed attempts. */
const CHECK_INTERVAL_MS = 50

export class FlushWaiters {
  readonly #options: FlushWaitersOptions
  #waiters: Waiter[] = []
  #cancelTimer: (() => void) | undefined

  constructor(options: FlushWaitersOptions) {
    this.#options = options
  }

  /**
   * Resolves when all batches before the watermark are settled. Never rejects.
   * @param timeoutMs If given, also resolves as `spooled` when all of them are on disk and
   * - the outage is older than `requestTimeoutMs`, and an attempt that started after this call has failed or the time
   *   is over; the backoff is shortened for that attempt
   * - or a Retry-After forbids attempts for longer than the remaining time
   */
  add(before: Watermark, timeoutMs?: number): Promise<FlushOutcome> {
    const { clock, breaker } = this.#options
    return new Promise((resolve) => {
      const endsAt = timeoutMs === undefined ? undefined : clock.now() + timeoutMs
      this.#waiters.push({ before, endsAt, begunAttempts: breaker.failures.attempts.begun, resolve })
      this.check()
    })
  }

  /** Must be called when a batch is settled. */
  check(): void {
    if (this.#waiters.length === 0) return
    const oldest = this.#options.oldest()
    const { breaker } = this.#options
    this.#resolve((waiter) => {
      const { before } = waiter
      if (oldest.memoryOnly < before.memoryOnly) return undefined
      if (oldest.durable >= before.durable) return this.#options.hasKept() ? 'spooled' : 'acknowledged'
      return this.#canStopWaiting(waiter) ? 'spooled' : undefined
    })
    if (
      this.#waiters.some(
        ({ endsAt, begunAttempts }) => endsAt !== undefined && begunAttempts === breaker.failures.attempts.begun,
      )
    )
      breaker.retrySoon()
    if (this.#waiters.length > 0) this.#checkLater()
  }

  /** Must be called when no more batches will be settled. */
  end(flushed: FlushOutcome): void {
    this.#cancelTimer?.()
    this.#resolve(() => flushed)
  }

  #canStopWaiting({ endsAt, begunAttempts }: Waiter): boolean {
    if (endsAt === undefined) return false
    const { breaker, requestTimeoutMs, clock } = this.#options
    const leftMs = Math.max(endsAt - clock.now(), 0)
    if (breaker.failures.retryAfterLeftMs > leftMs) return true
    return (
      breaker.failures.outageAgeMs >= requestTimeoutMs &&
      (breaker.failures.attempts.lastFailedAttempt > begunAttempts || leftMs === 0)
    )
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

  #checkLater(): void {
    if (this.#cancelTimer !== undefined) return
    this.#cancelTimer = this.#options.clock.timer(CHECK_INTERVAL_MS, () => {
      this.#cancelTimer = undefined
      this.check()
    })
  }
}
