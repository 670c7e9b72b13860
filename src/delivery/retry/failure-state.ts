/**
 * Failures of the service, from the first to the next success, and until when nothing may be sent for them. Silence that
 * it has asked for is as good as an outage while it lasts, and is none from then on: nothing has failed in it.
 */
import { nextDelayMs } from '../../shared/backoff.js'
import type { Clock } from '../../shared/clock.js'
import type { Retryable, EndpointRejected } from '../../batch/sender.js'
import type { RetryState } from './wait-queue.js'
import { RecentReplies } from './recent-replies.js'

export interface FailureStateOptions {
  readonly clock: Clock
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** In [0, 1). */
  readonly random: () => number
}

/** What a success has ended. */
export interface EndedOutage {
  readonly ageMs: number
  /** Else there was silence alone. */
  readonly hasFailed: boolean
}

const SILENCE = 'the service has asked for silence'
/** A wrong key or address mends itself rarely, and each probe counts against the rate limit. */
const MISCONFIGURED_PROBE_MS = 60_000
/** Added to a Retry-After so that not all processes come back in the same instant. */
const MAX_JITTER_MS = 1000
const JITTER_SHARE = 0.1
/** Share of `retryMinMs` per failure of one batch while others are accepted: the service does not need a pause. */
const BATCH_SHARE = 1 / 4
/** Maximum delay of one batch while others are accepted. */
const MAX_BATCH_DELAY_MS = 5_000

export class FailureState {
  readonly #options: FailureStateOptions
  readonly #recent = new RecentReplies()
  #failures = 0
  #since: number | undefined
  /** The first failure since a success. */
  #suspectedSince: number | undefined
  /** Start of the first failed attempt since a success. */
  #failingSince: number | undefined
  #trouble: string | undefined
  /** From a Retry-After: nothing cuts it short. */
  #notBefore = -Infinity
  /** When that silence began. Kept beyond its end, until a success has come. */
  #heldSince: number | undefined
  /** From the backoff: can be cut short. */
  #pausedUntil = -Infinity
  #failedAt = -Infinity

  constructor(options: FailureStateOptions) {
    this.#options = options
  }

  /** As `ageMs`, but counts from the start of the first failed attempt since a success: it may have waited for a reply until its timeout. */
  get failingMs(): number {
    const now = this.#options.clock.now()
    return Math.max(this.ageMs, now - (this.#failingSince ?? now))
  }

  /** Milliseconds since the first of the failures, or since silence began; 0 while there is neither. */
  get ageMs(): number {
    const since = this.#since ?? (this.retryAfterLeftMs > 0 ? this.#heldSince : undefined)
    return since === undefined ? 0 : this.#options.clock.now() - since
  }

  /** The reason of the last failure, or that silence was asked for. */
  get lastFailure(): string | undefined {
    return this.#trouble ?? (this.retryAfterLeftMs > 0 ? SILENCE : undefined)
  }

  /** Milliseconds until the end of the silence that was asked for, 0 where it is over. */
  get retryAfterLeftMs(): number {
    return Math.max(this.#notBefore - this.#options.clock.now(), 0)
  }

  /** Nothing may be sent before that. */
  get opensAt(): number {
    return Math.max(this.#notBefore, this.#pausedUntil)
  }

  applyRetryAfter(retryAfterMs: number): void {
    const { clock, random } = this.#options
    if (retryAfterMs <= 0) return
    if (this.retryAfterLeftMs === 0) this.#heldSince = clock.now()
    const jitterMs = random() * Math.min(MAX_JITTER_MS, retryAfterMs * JITTER_SHARE)
    this.#notBefore = Math.max(this.#notBefore, clock.now() + retryAfterMs + jitterMs)
  }

  /**
   * Whether this failure counts as an outage, as a 429 and a Retry-After always do. If not, it delays only its own batch.
   * @param startedAt of the failed attempt
   * @param isAlone whether only one request at a time is sent
   */
  isOutage({ status }: Retryable, turn: RetryState, startedAt: number, isAlone: boolean): boolean {
    this.#failingSince ??= startedAt
    if (this.lastFailure !== undefined || status === 429 || this.#recent.recordFailure(turn, isAlone)) return true
    const { clock, random, retryMinMs, retryMaxMs } = this.#options
    const now = clock.now()
    this.#suspectedSince ??= now
    turn.failures += 1
    turn.notBefore = now + random() * Math.min(retryMinMs * BATCH_SHARE * turn.failures, retryMaxMs, MAX_BATCH_DELAY_MS)
    return false
  }

  failed(trouble: Retryable | EndpointRejected): void {
    const now = this.#options.clock.now()
    this.#failures += 1
    // Not from a silence that is over: nobody may have sent anything since.
    this.#since ??= Math.min(now - this.ageMs, this.#suspectedSince ?? now)
    this.#trouble = trouble.reason
    // Without a status it is the local service that is missing: asking again costs nothing, and it may be started at any moment.
    const pauseMs =
      trouble.kind === 'misconfigured' && trouble.status !== undefined
        ? MISCONFIGURED_PROBE_MS
        : nextDelayMs({ ...this.#options, attempt: this.#failures, outageAgeMs: this.ageMs })
    this.#failedAt = now
    this.#pausedUntil = now + pauseMs
  }

  /** The pause of the backoff lasts no longer than `retryMinMs` from the last failure on; a Retry-After holds. */
  shortenBackoff(): void {
    this.#pausedUntil = Math.min(this.#pausedUntil, this.#failedAt + this.#options.retryMinMs)
  }

  /** Ends the pause of the backoff; a Retry-After holds. */
  endBackoff(): void {
    this.#pausedUntil = -Infinity
  }

  /** The backoff begins anew. */
  resetBackoff(): void {
    this.endBackoff()
    this.#failures = 0
  }

  /** The service took something. @returns undefined where all was well, and while the silence lasts */
  end(): EndedOutage | undefined {
    this.#recent.recordSuccess()
    this.#suspectedSince = this.#failingSince = undefined
    const hasFailed = this.#since !== undefined
    const isHeld = this.retryAfterLeftMs > 0
    if (!hasFailed && (isHeld || this.#heldSince === undefined)) return undefined
    const { ageMs } = this
    this.#failures = 0
    this.#since = undefined
    this.#trouble = undefined
    if (!isHeld) this.#heldSince = undefined
    return { ageMs, hasFailed }
  }
}
