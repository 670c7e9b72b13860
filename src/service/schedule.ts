/** Waiting as a parameter, so that tests need not wait. */

/** Runs it once, `delayMs` later, and never before this call returns. Returns what takes it back. */
export type Schedule = (delayMs: number, run: () => void) => () => void

/** Timers that do not keep the process alive. */
export const unrefTimers: Schedule = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
