import type { Clock } from './clock.js'

/** Resolves after `ms`, or when one of the signals is aborted. */
export function pause(clock: Pick<Clock, 'timer'>, ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.timer(ms, end)
    for (const signal of signals) signal.addEventListener('abort', end)
  })
}
