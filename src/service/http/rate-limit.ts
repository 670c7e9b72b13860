/** A fixed-window rate limit, shared by all endpoints that require a key. */

export interface RateLimitOptions {
  /** Requests in one window. */
  readonly requests: number
  /** Length of a window in milliseconds. */
  readonly windowMs: number
}

export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #now: () => number
  #windowStartMs = -Infinity
  #taken = 0

  constructor(options: RateLimitOptions, now: () => number) {
    this.#options = options
    this.#now = now
  }

  /** Counts a request. @returns 0 if it is within the limit, else the seconds until the next window, not rounded */
  take(): number {
    const { requests, windowMs } = this.#options
    const now = this.#now()
    if (now - this.#windowStartMs >= windowMs) {
      this.#windowStartMs = now
      this.#taken = 0
    }
    this.#taken++
    return this.#taken <= requests ? 0 : (this.#windowStartMs + windowMs - now) / 1000
  }
}
