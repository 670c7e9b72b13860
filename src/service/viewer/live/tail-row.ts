/** Rows of the list, sorted by timestamp, then by `seq` (pure). */
import type { EntrySummary } from '../../query/api-types.js'

export interface TailRow {
  readonly entry: EntrySummary
  /** The entry's timestamp in whole milliseconds, as in cursors. */
  readonly timeMs: number
  /** Delay relative to entries that arrived earlier; 0 if it is less than LATE_AFTER_MS. */
  readonly lateMs: number
}

/** An entry that is this much older than an earlier arrival is marked as late. Applications send batches about once a second. */
export const LATE_AFTER_MS = 2000

export function createRow(entry: EntrySummary, newestMs = -Infinity): TailRow {
  const timeMs = Date.parse(entry.timestamp)
  // Limits by the time of receipt: a sender whose clock is ahead must not make all other entries late.
  const late = Math.min(newestMs, Date.parse(entry.received_at)) - timeMs
  return { entry, timeMs, lateMs: late > LATE_AFTER_MS ? late : 0 }
}

/** @returns a negative number if `a` is older */
export function compareRows(a: TailRow, b: TailRow): number {
  return a.timeMs - b.timeMs || a.entry.seq - b.entry.seq
}

/** Returns the API cursor of a row. */
export function formatCursor({ timeMs, entry }: TailRow): string {
  return `${timeMs}-${entry.seq}`
}

/** Returns the position of the first row that is not older. @param rows oldest first */
export function findInsertIndex(rows: readonly TailRow[], row: TailRow): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareRows(rows[middle] as TailRow, row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Inserts rows by time into `rows`, and ignores duplicates. Both lists are oldest first. */
export function mergeRows(rows: TailRow[], added: readonly TailRow[]): void {
  const first = added[0]
  if (first === undefined) return
  const tail = rows.splice(findInsertIndex(rows, first))
  let at = 0
  for (const row of added) {
    for (let next = tail[at]; next !== undefined && compareRows(next, row) <= 0; next = tail[at]) {
      rows.push(next)
      at += 1
    }
    if (rows.at(-1)?.entry.seq !== row.entry.seq) rows.push(row)
  }
  for (; at < tail.length; at++) rows.push(tail[at] as TailRow)
}
