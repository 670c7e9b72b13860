/** Failures of the service, from the first to the next success, and until when nothing may be sent for them. */
import { nextDelayMs } from '../backoff.js'
import type { Clock } from '../clock.js'
import type { Later, Misconfigured } from '../sender.js'

export interface OutageOptions {
  readonly clock: Clock
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** In [0, 1). */
  readonly random: () => number
}

/** A wrong key or address mends itself rarely, and each probe counts against the rate limit. */
const MISCONFIGURED_PROBE_MS = 60_000
/** Added to a Retry-After so that not all processes come back in the same instant. */
const MAX_JITTER_MS = 1000
const JITTER_SHARE = 0.1

export class Outage {
  readonly #options: OutageOptions
  #failures = 0
  #since: number | undefined
  #trouble: string | undefined
  /** From a Retry-After: nothing cuts it short. */
  #notBefore = -Infinity
  /** From the backoff: can be cut short. */
  #pausedUntil = -Infinity

  constructor(options: OutageOptions) {
    this.#options = options
  }

  get isOn(): boolean {
    return this.#since !== undefined
  }

  /** Milliseconds since the first of the failures, 0 while there is none. */
  get ageMs(): number {
    return this.#since === undefined ? 0 : this.#options.clock.now() - this.#since
  }

  /** The reason of the last failure. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Nothing may be sent before that. */
  get opensAt(): number {
    return Math.max(this.#notBefore, this.#pausedUntil)
  }

  respect(retryAfterMs: number): void {
    const { clock, random } = this.#options
    const jitterMs = random() * Math.min(MAX_JITTER_MS, retryAfterMs * JITTER_SHARE)
    this.#notBefore = Math.max(this.#notBefore, clock.now() + retryAfterMs + jitterMs)
  }

  failed(trouble: Later | Misconfigured): void {
    const now = this.#options.clock.now()
    this.#failures += 1
    this.#since ??= now
    this.#trouble = trouble.reason
    const pauseMs = trouble.kind === 'misconfigured'
      ? MISCONFIGURED_PROBE_MS
      : nextDelayMs({ ...this.#options, attempt: this.#failures, outageAgeMs: this.ageMs })
    this.#pausedUntil = now + pauseMs
  }

  /** Ends the pause of the backoff; a Retry-After holds. */
  cutShort(): void {
    this.#pausedUntil = -Infinity
  }

  /** The backoff begins anew. */
  startOver(): void {
    this.cutShort()
    this.#failures = 0
  }

  end(): void {
    this.#failures = 0
    this.#since = undefined
    this.#trouble = undefined
  }
}
