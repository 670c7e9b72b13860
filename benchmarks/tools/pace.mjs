/**
 * Log calls at a steady rate: each tick makes the calls that are due, and the event loop is free in between, as in a
 * server. At a low rate it sleeps until the next call.
 */

/** Node's shortest timer. Late calls are made at the next tick. */
const TICK_MS = 1

/**
 * @param {{ perSecond: number, forMs: number, call: (n: number) => void }} work
 * @returns {Promise<{ calls: number, tookMs: number }>} at the end of the last tick
 */
export function pace({ perSecond, forMs, call }) {
  return new Promise((resolve) => {
    const fromMs = performance.now()
    let calls = 0
    const tick = () => {
      const ms = Math.min(performance.now() - fromMs, forMs)
      for (const due = Math.floor((ms * perSecond) / 1000); calls < due; calls += 1) call(calls)
      if (ms < forMs) setTimeout(tick, Math.max(TICK_MS, Math.min(forMs, ((calls + 1) / perSecond) * 1000) - ms))
      else resolve({ calls, tookMs: performance.now() - fromMs })
    }
    setTimeout(tick, TICK_MS)
  })
}
