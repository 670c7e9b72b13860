/** Time as a parameter, so that tests can inject a clock. */

export interface Clock {
  /** Milliseconds on a clock that never jumps; for waiting and for ages. */
  now(): number
  /** Milliseconds since the Unix epoch; for timestamps and for comparing with a reply's Date. */
  wallNow(): number
  /** Calls `fire` once after `delayMs`, unless the returned function is called before. */
  timer(delayMs: number, fire: () => void): () => void
}

/** Node reduces a longer delay to 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  timer: (delayMs, fire) => cancelling(startTimer(delayMs, fire)),
}

/** Its timers do not keep the process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  timer: (delayMs, fire) => cancelling(startTimer(delayMs, fire).unref()),
}

function startTimer(delayMs: number, fire: () => void): NodeJS.Timeout {
  return setTimeout(fire, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS))
}

function cancelling(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer)
}
