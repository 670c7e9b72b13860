/**
 * The rows of the list (pure), sorted by time, newest first: the newest entries, and the older pages that were loaded by scrolling.
 * Entries from the stream wait until the list is drawn or, if it is frozen, until it is released.
 */
import type { EntrySummary } from '../../query/api-types.js'
import { findFirst } from '../../store/time-index.js'

/** Number of rows to keep when entries are added. Scrolling loads older ones again. */
const MAX_ROWS = 5000
const MAX_WAITING = 2000
/** Distance from the end at which the next page is requested, in rows. */
const MARGIN_ROWS = 60

export interface TailPage {
  /** Newest first. */
  readonly items: readonly EntrySummary[]
  readonly hasOlder: boolean
  /** Greatest `seq` in the store when the page was read. */
  readonly lastSeq: number
}

export class TailBuffer {
  readonly #maxRows: number
  rows: readonly EntrySummary[] = []
  hasOlder = false
  /** While true, arriving entries wait. */
  isFrozen = false
  arrived = 0
  /** `seq` of the last entry from the stream, or of the first page. */
  lastSeq = 0
  /** In order of arrival. */
  #waiting: readonly EntrySummary[] = []
  /** Number of entries that arrived, but are neither in the rows nor waiting. */
  #missed = 0

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows
  }

  /** Number of entries that have arrived but are not in the rows yet. */
  get waiting(): number {
    return this.#waiting.length + this.#missed
  }

  /** Whether entries were missed; the list must then be loaded again. */
  get isTorn(): boolean {
    return this.#missed > 0
  }

  /** @returns -1 if the entry is not in the rows */
  indexOf(id: string | null): number {
    return this.rows.findIndex((entry) => entry.id === id)
  }

  reset({ items, hasOlder, lastSeq }: TailPage): void {
    this.rows = items
    this.hasOlder = hasOlder
    this.lastSeq = lastSeq
    this.#waiting = []
    this.#missed = 0
  }

  clear(): void {
    this.reset({ items: [], hasOlder: false, lastSeq: 0 })
  }

  /** Adds entries from the stream, in order of arrival. */
  push(items: readonly EntrySummary[], skipped: number): void {
    const fresh = items.filter(({ seq }) => seq > this.lastSeq)
    this.lastSeq = fresh.at(-1)?.seq ?? this.lastSeq
    this.arrived += fresh.length + skipped
    this.#missed += skipped
    this.#waiting = [...this.#waiting, ...fresh]
    if (!this.isTorn && this.#waiting.length <= MAX_WAITING) return
    this.#missed += this.#waiting.length
    this.#waiting = []
  }

  /**
   * Inserts the waiting entries by time, unless the list is frozen.
   * @param startMs start of a sliding window, whose older rows are removed @returns false if the list must be loaded again
   */
  merge(startMs: number | null): boolean {
    if (this.isTorn) return false
    if (this.isFrozen) return true
    const oldest = this.hasOlder ? this.rows.at(-1) : undefined
    // Older entries are loaded with their page: inserting them would leave a gap.
    this.insert(this.#waiting.filter((entry) => oldest === undefined || compareRows(entry, oldest) < 0))
    this.#waiting = []
    const { rows } = this
    const end = startMs === null ? rows.length : findFirst(rows.length, (at) => isBefore(rows[at], startMs))
    if (Math.min(end, this.#maxRows) === rows.length) return true
    this.rows = rows.slice(0, Math.min(end, this.#maxRows))
    this.hasOlder = end > this.#maxRows
    return true
  }

  /** Returns the cursor of the page to load if these rows are drawn. */
  findCursor(endRow: number): string | undefined {
    const oldest = this.rows.at(-1)
    const isNear = this.hasOlder && endRow >= this.rows.length - MARGIN_ROWS
    return isNear && oldest !== undefined ? formatCursor(oldest) : undefined
  }

  /** Adds the next page at the bottom, unless the rows have changed since it was requested. */
  addOlder(cursor: string, items: readonly EntrySummary[], hasOlder: boolean): void {
    const oldest = this.rows.at(-1)
    if (oldest === undefined || formatCursor(oldest) !== cursor) return
    this.rows = [...this.rows, ...items]
    this.hasOlder = hasOlder
  }

  insert(entries: readonly EntrySummary[]): void {
    const added = entries.toSorted(compareRows)
    const oldest = added.at(-1)
    if (oldest === undefined) return
    const end = findFirst(this.rows.length, (at) => compareRows(this.rows[at] as EntrySummary, oldest) > 0)
    const head = [...this.rows.slice(0, end), ...added].toSorted(compareRows)
    this.rows = [...head.filter(({ seq }, at) => seq !== head[at - 1]?.seq), ...this.rows.slice(end)]
  }
}

function timeOf({ timestamp }: EntrySummary): number {
  return Date.parse(timestamp)
}

export function isBefore(entry: EntrySummary | undefined, timeMs: number): boolean {
  return entry !== undefined && timeOf(entry) < timeMs
}

/** @returns a negative number if `a` is newer */
function compareRows(a: EntrySummary, b: EntrySummary): number {
  return timeOf(b) - timeOf(a) || b.seq - a.seq
}

function formatCursor(entry: EntrySummary): string {
  return `${timeOf(entry)}-${entry.seq}`
}
