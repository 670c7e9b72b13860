/** What the transport tells the service about itself: that entries were dropped. Pure. */
import type { DropReason } from './account.js'
import type { LogEntry } from '../protocol/log-entry.js'

/** Entries dropped, by reason. */
export type DroppedByReason = Partial<Readonly<Record<DropReason, number>>>

/** Drops not yet reported to the service. */
export interface UnreportedDrops {
  readonly dropped: DroppedByReason
  /** When the latest of them was dropped, in milliseconds since the Unix epoch. */
  readonly lastAtMs: number
}

/** Drops within this time are merged into one notice. */
export const NOTICE_WINDOW_MS = 10_000

/** Position of `warn` in `LEVELS`. */
export const NOTICE_SEVERITY = 2

/** An entry of level warn, as JSON. @param labels what every entry of this app carries @param atMs of the latest drop */
export function createDropNotice(
  dropped: DroppedByReason,
  labels: Pick<LogEntry, 'service' | 'environment' | 'version'>,
  atMs: number,
): string {
  const { service, environment, version } = labels
  const count = Object.values(dropped).reduce((sum, one) => sum + one, 0)
  const reasons = Object.entries(dropped)
    .map(([reason, one]) => `${reason} ${one}`)
    .join(', ')
  const entry: LogEntry = {
    level: 'warn',
    message: `pino-ingest dropped ${count === 1 ? '1 entry' : `${count} entries`} (${reasons})`,
    timestamp: new Date(atMs).toISOString(),
    ...(service !== undefined && { service }),
    ...(environment !== undefined && { environment }),
    ...(version !== undefined && { version }),
    metadata: { pino_ingest: { dropped: { ...dropped } } },
  }
  return JSON.stringify(entry)
}
