/** Time as a parameter, which lets tests inject a clock. */
import { performance } from 'node:perf_hooks'
import * as timers from 'node:timers'

// Captured at load, because fake timers in an application's tests replace the globals.
const { now: wallNow } = Date
export const { setTimeout: nativeSetTimeout, clearTimeout: nativeClearTimeout } = timers
export const { setImmediate: nativeSetImmediate } = timers

export interface Clock {
  /** Milliseconds on a monotonic clock, for delays and ages. */
  now(): number
  /** Milliseconds since the Unix epoch; for timestamps and for comparison with a reply's Date. */
  wallNow(): number
  /** Calls `fire` once after `delayMs`, unless the returned function is called before. */
  timer(delayMs: number, fire: () => void): () => void
}

/** Node replaces a longer delay with 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow,
  timer: (delayMs, fire) => cancelling(startTimer(delayMs, fire)),
}

/** A clock whose timers do not keep the process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  timer: (delayMs, fire) => cancelling(startTimer(delayMs, fire).unref()),
}

function startTimer(delayMs: number, fire: () => void): NodeJS.Timeout {
  return nativeSetTimeout(fire, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS))
}

function cancelling(timer: NodeJS.Timeout): () => void {
  return () => nativeClearTimeout(timer)
}
