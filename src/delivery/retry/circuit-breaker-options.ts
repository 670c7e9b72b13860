/** What a gate is made of, and whom it tells. */
import type { Clock } from '../../shared/clock.js'
import type { Retryable, EndpointRejected } from '../../batch/sender.js'

export interface CircuitBreakerOptions {
  readonly clock: Clock
  /** Attempts in flight at once. */
  readonly maxConcurrency: number
  /** Attempts in flight before any has succeeded. Default 1. */
  readonly initialConcurrency?: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** In [0, 1). Default `Math.random`. */
  readonly random?: () => number
  /** For how long this thread's event loop has had nothing to do, in all. Default: as Node tells. */
  readonly idleMs?: () => number
  /** For each failure that closed the gate. `waitMs`: time until the next attempt. `isEnding`: the app ends, so there may be no next attempt. */
  readonly onFailure?: (
    trouble: Retryable | EndpointRejected,
    outageAgeMs: number,
    waitMs: number,
    isEnding: boolean,
  ) => void
  /** For the first success after a failure, or after silence that was asked for: then nothing `hasFailed`. */
  readonly onRecovery?: (outageAgeMs: number, hasFailed: boolean) => void
  /** For each Retry-After. */
  readonly onRetryAfter?: (delayMs: number) => void
}
