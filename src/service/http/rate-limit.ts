/** A fixed window over all endpoints that carry a key. */

export interface RateLimitOptions {
  /** Requests in one window. */
  readonly requests: number
  readonly windowMs: number
}

export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #now: () => number
  #windowStart = -Infinity
  #taken = 0

  constructor(options: RateLimitOptions, now: () => number) {
    this.#options = options
    this.#now = now
  }

  /** 0 where the request may go on; else the seconds until the next window, not rounded. */
  take(): number {
    const { requests, windowMs } = this.#options
    const now = this.#now()
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now
      this.#taken = 0
    }
    if (this.#taken < requests) {
      this.#taken++
      return 0
    }
    return (this.#windowStart + windowMs - now) / 1000
  }
}
