/** Signals that request termination. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Under npx one Ctrl-C arrives twice: from the terminal and forwarded by npm. */
const SAME_SIGNAL_MS = 300

/**
 * Handles the signals. They no longer end the process.
 * @param onSignal called with the number of signals so far
 * @returns a function that removes the handlers
 */
export function onTerminationSignal(onSignal: (times: number) => void): () => void {
  let times = 0
  let countedAt = -Infinity
  const listener = (): void => {
    const now = performance.now()
    if (now - countedAt < SAME_SIGNAL_MS) return
    countedAt = now
    times += 1
    onSignal(times)
  }
  for (const signal of SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
}
