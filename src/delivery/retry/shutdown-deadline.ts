/** The end of the app, after which nothing more is sent: a time, or so many failures before it. */
import { FAILURES_AFTER_SUCCESS } from '../shutdown-policy.js'

export class ShutdownDeadline {
  #at = Infinity
  #failuresLeft = Infinity

  /** By the clock's `now`; `Infinity` until it is set. */
  get at(): number {
    return this.#at
  }

  /** @param failures after so many more it is there */
  set(at: number, failures: number): void {
    this.#at = at
    this.#failuresLeft = failures
  }

  failed(now: number): void {
    this.#failuresLeft -= 1
    if (this.#failuresLeft <= 0) this.#at = now
  }

  /** A connection that breaks now is no outage. */
  succeeded(): void {
    if (this.#failuresLeft < FAILURES_AFTER_SUCCESS) this.#failuresLeft = FAILURES_AFTER_SUCCESS
  }
}
