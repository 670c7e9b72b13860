import type { Clock } from './clock.js'

/** Resolves after `ms`, or when `signal` is aborted. */
export function pause(clock: Pick<Clock, 'timer'>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.timer(ms, end)
    signal.addEventListener('abort', end)
  })
}
