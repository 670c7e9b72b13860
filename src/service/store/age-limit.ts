/** Deletes records older than `maxAgeMs` by time of receipt, at startup and then every minute. */
import type { Clock } from '../../shared/clock.js'

const INTERVAL_MS = 60_000

export interface AgeLimitOptions {
  readonly maxAgeMs: number
  readonly deleteOlder: (receivedBeforeMs: number) => void
  readonly clock: Clock
}

/** @returns function that stops the timer */
export function startAgeLimit({ maxAgeMs, deleteOlder, clock }: AgeLimitOptions): () => void {
  let cancel = (): void => {}
  const run = (): void => {
    deleteOlder(clock.wallNow() - maxAgeMs)
    cancel = clock.timer(INTERVAL_MS, run)
  }
  run()
  return () => cancel()
}
