/** Ends requests at their deadlines. Uses one timer for all of them, because most requests get a reply long before. */
import { nativeClearTimeout, nativeSetImmediate, nativeSetTimeout, systemClock } from '../shared/clock.js'

export interface TimedRequest {
  /** As `systemClock.now()`. */
  readonly deadlineAt: number
  timeOut(): void
}

export class RequestTimeouts {
  /** Requests that have not ended. */
  readonly #open: ReadonlySet<TimedRequest>
  #timer: NodeJS.Timeout | undefined
  #timerAt = Infinity

  constructor(open: ReadonlySet<TimedRequest>) {
    this.#open = open
  }

  /** Must be called when a request with this deadline is open. */
  watch(deadlineAt: number, now: number): void {
    if (deadlineAt >= this.#timerAt) return
    nativeClearTimeout(this.#timer)
    this.#timerAt = deadlineAt
    // The timer need not keep the process alive, because a request has a socket.
    this.#timer = nativeSetTimeout(() => nativeSetImmediate(() => this.#check()), deadlineAt - now).unref()
  }

  /** Runs after pending input was read, because after a suspension timers run before replies are read. */
  #check(): void {
    this.#timerAt = Infinity
    const now = systemClock.now()
    let nextAt = Infinity
    for (const request of this.#open) {
      if (request.deadlineAt <= now) request.timeOut()
      else nextAt = Math.min(nextAt, request.deadlineAt)
    }
    if (nextAt < Infinity) this.watch(nextAt, now)
  }
}
