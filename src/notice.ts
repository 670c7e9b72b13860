/** What the transport tells the service about itself: that entries were dropped. Pure. */
import type { DropReason } from './account.js'
import type { LogEntry } from './protocol/entry.js'

export interface Dropped {
  readonly count: number
  readonly reason: DropReason
}

/** Merged over this time: one entry tells what many drops were. */
export const NOTICE_WINDOW_MS = 10_000

/** Position of `warn` in `LEVELS`. */
export const NOTICE_RANK = 2

/** An entry of level warn, as JSON. @param labels what every entry of this app carries */
export function droppedNotice({ count, reason }: Dropped, labels: Pick<LogEntry, 'service' | 'environment' | 'version'>, wallNowMs: number): string {
  const { service, environment, version } = labels
  const entry: LogEntry = {
    level: 'warn',
    message: `pino-ingest dropped ${count === 1 ? '1 entry' : `${count} entries`} (${reason})`,
    timestamp: new Date(wallNowMs).toISOString(),
    ...(service !== undefined && { service }),
    ...(environment !== undefined && { environment }),
    ...(version !== undefined && { version }),
    metadata: { pino_ingest: { dropped: count, reason } },
  }
  return JSON.stringify(entry)
}
