/**
 * Shares a Retry-After with all forwarders through the key-value bucket, since it applies to all requests with the same key. Each
 * forwarder's own circuit breakers decide; the bucket only passes on what other forwarders received.
 */
import type { Clock } from '../../shared/clock.js'
import type { StateBucket } from './state-bucket.js'

/** Polling finds values that the subscription missed, for example while its server was killed. */
const POLL_MS = 5_000
/** Replies to concurrent requests repeat the same end, within this tolerance. */
const SAME_END_MS = 250

interface PausableDelivery {
  readonly breaker: { applyRetryAfter(delayMs: number): void }
  readonly retryAfter: { on(listener: (delayMs: number) => void): void }
}

export interface SharedRetryAfterOptions {
  readonly bucket: Pick<StateBucket, 'put' | 'get' | 'watch'>
  /** Hash of the service's URL and key. */
  readonly destination: string
  readonly deliveries: readonly PausableDelivery[]
  readonly clock: Clock
}

export class SharedRetryAfter {
  readonly #options: SharedRetryAfterOptions
  readonly #key: string
  #until = -Infinity
  #readSequence = -1
  #isEnded = false
  #cancelPoll: () => void = () => {}

  constructor(options: SharedRetryAfterOptions) {
    this.#options = options
    this.#key = `retry-after.${options.destination}`
    for (const one of options.deliveries) one.retryAfter.on((delayMs) => this.#received(delayMs, one))
    options.bucket.watch(this.#key, (text) => this.#apply(parseDelayMs(text)))
  }

  /** Reads the bucket now, then every 5 s. */
  read(): void {
    this.#cancelPoll()
    void this.#poll()
  }

  end(): void {
    this.#isEnded = true
    this.#cancelPoll()
  }

  #received(delayMs: number, from: PausableDelivery): void {
    const { deliveries, bucket, clock } = this.#options
    for (const one of deliveries) if (one !== from) one.breaker.applyRetryAfter(delayMs)
    const until = clock.now() + delayMs
    if (until <= this.#until + SAME_END_MS) return
    this.#until = until
    void bucket.put(this.#key, JSON.stringify({ delayMs }))
  }

  #apply(delayMs: number): void {
    const { deliveries, clock } = this.#options
    const until = clock.now() + delayMs
    // Already known, or from this forwarder.
    if (!(delayMs > 0) || until <= this.#until + SAME_END_MS) return
    this.#until = until
    for (const { breaker } of deliveries) breaker.applyRetryAfter(delayMs)
  }

  async #poll(): Promise<void> {
    const value = await this.#options.bucket.get(this.#key)
    if (value !== undefined && value !== null && value.sequence !== this.#readSequence) {
      this.#readSequence = value.sequence
      const delayMs = parseDelayMs(value.text)
      const ageMs = Math.max(this.#options.clock.wallNow() - value.storedAtMs, 0)
      this.#apply(delayMs - ageMs)
    }
    if (this.#isEnded) return
    this.#cancelPoll()
    this.#cancelPoll = this.#options.clock.timer(POLL_MS, () => void this.#poll())
  }
}

/** Longest Retry-After that is honored. */
const MAX_DELAY_MS = 3_600_000

function parseDelayMs(text: string): number {
  try {
    const { delayMs } = Object(JSON.parse(text)) as { readonly delayMs?: unknown }
    return typeof delayMs === 'number' && delayMs > 0 ? Math.min(delayMs, MAX_DELAY_MS) : 0
  } catch {
    return 0
  }
}
