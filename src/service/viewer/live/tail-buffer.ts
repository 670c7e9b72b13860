/**
 * The rows of the list (pure): a window of at most `maxRows` over all matching entries, sorted by time, newest first.
 *
 *     index 0   ┌ newer rows that were removed; only their count is known
 *               ├ loaded rows
 *     length    └ older entries, loaded page by page
 *
 * Entries from the stream wait until the list is drawn or, if it is frozen, until it is released.
 */
import type { EntrySummary } from '../../query/api-types.js'
import { compareRows, createRow, formatCursor, findInsertIndex, mergeRows } from './tail-row.js'
import type { TailRow } from './tail-row.js'

export const MAX_ROWS = 5000
export const PAGE_ROWS = 500
export const MAX_WAITING = 2000
/** Maximum number of late rows not drawn yet, and of older entries that wait for their page. */
const MAX_REMEMBERED = 500

export interface TailLimits {
  readonly maxRows: number
  readonly pageRows: number
  /** Distance from the end at which the next page is requested, in rows. */
  readonly marginRows: number
}

const LIMITS: TailLimits = { maxRows: MAX_ROWS, pageRows: PAGE_ROWS, marginRows: 60 }

export interface Wanted {
  readonly kind: 'newer' | 'older'
  readonly cursor: string
  readonly limit: number
}

export interface TailPage {
  /** Newest first. */
  readonly items: readonly EntrySummary[]
  readonly hasOlder: boolean
  /** Greatest `seq` in the store when the page was read. */
  readonly lastSeq: number
}

export class TailBuffer {
  readonly #limits: TailLimits
  /** Loaded rows, oldest first: new rows are pushed. */
  #rows: TailRow[] = []
  /** Waiting entries, in order of arrival. */
  #waiting: TailRow[] = []
  #waitingCount = 0
  #aboveCount = 0
  /** The newest row that was removed at the top. */
  #aboveTop: TailRow | undefined
  /** Entries that arrived but belong to older pages that are not loaded yet. */
  #below: TailRow[] = []
  #unseen: TailRow[] = []
  #hasOlder = false
  #isFrozen = false
  #arrived = 0
  #lastSeq = 0
  #newestMs = -Infinity
  #startMs: number | null = null
  #isTorn = false
  /** Whether newer entries were missed since the first page was requested. */
  #isTornSince = false

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Number of rows, including those that were removed at the top. */
  get length(): number {
    return this.#aboveCount + this.#rows.length
  }

  /** Index of the first loaded row. */
  get firstLoaded(): number {
    return this.#aboveCount
  }

  /** Number of entries that have arrived but are not in the rows yet. */
  get waiting(): number {
    return this.#waitingCount
  }

  /** Total number of entries from the stream. */
  get arrived(): number {
    return this.#arrived
  }

  /** `seq` of the last entry from the stream, or of the first page. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  get hasOlder(): boolean {
    return this.#hasOlder
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  /** Whether newer entries were missed; the list must then be loaded again. */
  get isTorn(): boolean {
    return this.#isTorn
  }

  at(index: number): TailRow | undefined {
    const place = index - this.#aboveCount
    return place < 0 ? undefined : this.#rows[this.#rows.length - 1 - place]
  }

  /** @returns -1 if the entry is not in the loaded rows */
  indexOf(id: string): number {
    return this.#indexAt(this.#rows.findLastIndex(({ entry }) => entry.id === id))
  }

  /** Call when the first page is requested: entries missed from now on may not be in it. */
  expectPage(): void {
    this.#isTornSince = false
  }

  /** Replaces the rows by the first page. @param keepNewer keep entries from the stream that arrived after the page was read */
  reset({ items, hasOlder, lastSeq }: TailPage, keepNewer: boolean): void {
    // After a gap, newer entries cannot be added.
    const isTorn = keepNewer && this.#isTornSince
    const known = keepNewer && !isTorn ? [...this.#rows, ...this.#waiting, ...this.#below] : []
    const newer = known.filter(({ entry }) => entry.seq > lastSeq)
    const last = keepNewer ? this.#lastSeq : 0
    this.clear()
    this.#rows = items.map((entry) => createRow(entry)).toReversed()
    this.#hasOlder = hasOlder
    this.#lastSeq = Math.max(last, lastSeq)
    this.#newestMs = this.#rows.at(-1)?.timeMs ?? -Infinity
    this.#isTorn = isTorn
    this.#waiting = newer
    this.#waitingCount = newer.length
    if (!isTorn) this.merge()
  }

  clear(): void {
    this.#rows = []
    this.#waiting = []
    this.#waitingCount = 0
    this.#aboveCount = 0
    this.#aboveTop = undefined
    this.#below = []
    this.#unseen = []
    this.#hasOlder = false
    this.#lastSeq = 0
    this.#newestMs = -Infinity
    this.#isTorn = false
  }

  /** Adds entries from the stream, in order of arrival. */
  push(items: readonly EntrySummary[], skipped: number): void {
    const fresh = items.filter(({ seq }) => seq > this.#lastSeq)
    this.#arrived += fresh.length + skipped
    this.#waitingCount += fresh.length + skipped
    if (skipped > 0) this.#isTorn = this.#isTornSince = true
    for (const entry of fresh) {
      const row = createRow(entry, this.#newestMs)
      this.#newestMs = Math.max(this.#newestMs, row.timeMs)
      this.#lastSeq = entry.seq
      this.#waiting.push(row)
    }
    if (this.#waiting.length > MAX_WAITING) this.#isTorn = this.#isTornSince = true
    if (this.#isTorn) this.#waiting = []
  }

  freeze(): void {
    this.#isFrozen = true
  }

  /** @returns false if the waiting entries cannot be added; the first page must then be loaded again */
  release(): boolean {
    this.#isFrozen = false
    return this.merge()
  }

  /** Inserts the waiting entries by time, unless the list is frozen. @returns false if that is not possible */
  merge(): boolean {
    if (this.#isTorn || this.#aboveCount > 0) return false
    if (this.#isFrozen) return true
    const added = this.#waiting.filter((row) => this.#isInWindow(row)).toSorted(compareRows)
    this.#waiting = []
    this.#waitingCount = 0
    if (added.length === 0) return true
    const oldest = this.#rows[0]
    const older = this.#hasOlder && oldest !== undefined ? findInsertIndex(added, oldest) : 0
    this.#below = [...this.#below, ...added.splice(0, older)].slice(-MAX_REMEMBERED)
    mergeRows(this.#rows, added)
    const late = added.filter(({ lateMs }) => lateMs > 0)
    if (late.length > 0) this.#unseen = [...this.#unseen, ...late].slice(-MAX_REMEMBERED)
    this.#dropOldest()
    return true
  }

  /** Returns the number of late rows below this index that were never drawn, and the index of the first. */
  lateBelow(index: number): { readonly count: number; readonly first: number } {
    const indices = this.#unseen.map((row) => this.#indexOfRow(row)).filter((at) => at >= index)
    return { count: indices.length, first: Math.min(...indices) }
  }

  /** Marks rows as drawn. */
  see(first: number, last: number): void {
    if (this.#unseen.length === 0) return
    this.#unseen = this.#unseen.filter((row) => {
      const at = this.#indexOfRow(row)
      return at !== -1 && (at < first || at >= last)
    })
  }

  /** Removes the rows before the start of a sliding window. @param startMs null without a window @returns whether anything changed */
  slide(startMs: number | null): boolean {
    this.#startMs = startMs
    const count = this.#rows.findIndex((row) => this.#isInWindow(row))
    const excess = count === -1 ? this.#rows.length : count
    if (excess === 0) return false
    this.#rows.splice(0, excess)
    this.#hasOlder = false
    this.#below = []
    if (this.#rows.length === 0 && this.#aboveCount > 0) this.#tearAbove()
    return true
  }

  /** Returns the page to load for these rows. */
  wanted(first: number, last: number): Wanted | undefined {
    const newest = this.#rows.at(-1)
    const oldest = this.#rows[0]
    if (newest === undefined || oldest === undefined) return undefined
    if (this.#aboveCount > 0 && first < this.#aboveCount + this.#limits.marginRows)
      return { kind: 'newer', cursor: formatCursor(newest), limit: Math.min(this.#limits.pageRows, this.#aboveCount) }
    if (!this.#hasOlder || last < this.length - this.#limits.marginRows) return undefined
    return { kind: 'older', cursor: formatCursor(oldest), limit: this.#limits.pageRows }
  }

  /** Adds the next page at the bottom, newest first. Removes excess rows at the top. */
  addOlder(cursor: string, items: readonly EntrySummary[], hasOlder: boolean): void {
    const oldest = this.#rows[0]
    // The rows changed since the page was requested.
    if (oldest === undefined || formatCursor(oldest) !== cursor) return
    const page = items.map((entry) => createRow(entry)).toReversed()
    const end = page[0]
    const isOfPage = (row: TailRow): boolean => !hasOlder || (end !== undefined && compareRows(row, end) >= 0)
    mergeRows(page, this.#below.filter(isOfPage).toSorted(compareRows))
    this.#below = this.#below.filter((row) => !isOfPage(row))
    this.#rows = [...page, ...this.#rows]
    this.#hasOlder = hasOlder
    while (this.#rows.length > this.#limits.maxRows) {
      const removed = this.#rows.splice(-this.#limits.pageRows)
      this.#aboveTop ??= removed.at(-1)
      this.#aboveCount += removed.length
    }
  }

  /** Adds rows that were removed at the top, newest first. If they have changed, the list must be loaded again. */
  addNewer({ cursor, limit }: Wanted, items: readonly EntrySummary[]): void {
    const newest = this.#rows.at(-1)
    if (this.#aboveCount < limit || newest === undefined || formatCursor(newest) !== cursor) return
    this.#aboveCount -= limit
    for (const entry of items.toReversed()) this.#rows.push(createRow(entry))
    // Late entries may have arrived between these rows.
    const isEnd = this.#aboveCount === 0
    if (items.length !== limit || (isEnd && this.#rows.at(-1)?.entry.seq !== this.#aboveTop?.entry.seq))
      this.#isTorn = true
    if (isEnd) this.#aboveTop = undefined
    this.#dropOldest()
  }

  /** Returns an API cursor above all loaded and waiting rows; null if there are none. */
  cursorAbove(): string | null {
    const newest = [...this.#rows.slice(-1), ...this.#waiting].toSorted(compareRows).at(-1)
    return newest === undefined
      ? null
      : formatCursor({ ...newest, entry: { ...newest.entry, seq: newest.entry.seq + 1 } })
  }

  /** Updates the columns of loaded and waiting entries. @returns whether all items are newer than the oldest row */
  replace(items: readonly EntrySummary[]): boolean {
    const entries = new Map(items.map((entry) => [entry.seq, entry]))
    const update = (row: TailRow): TailRow => {
      const entry = entries.get(row.entry.seq)
      return entry === undefined ? row : { ...row, entry }
    }
    this.#rows = this.#rows.map(update)
    this.#waiting = this.#waiting.map(update)
    const [oldest] = this.#rows
    const last = items.at(-1)
    return oldest !== undefined && last !== undefined && compareRows(createRow(last), oldest) > 0
  }

  /** Adds newer rows on top of a list that does not follow the stream. @param items newest first */
  addOnTop(items: readonly EntrySummary[]): void {
    mergeRows(this.#rows, items.map((entry) => createRow(entry)).toReversed())
  }

  #isInWindow({ timeMs }: TailRow): boolean {
    return this.#startMs === null || timeMs >= this.#startMs
  }

  #tearAbove(): void {
    this.#aboveCount = 0
    this.#aboveTop = undefined
    this.#isTorn = true
  }

  #indexAt(place: number): number {
    return place === -1 ? -1 : this.length - 1 - place
  }

  #indexOfRow(row: TailRow): number {
    const place = findInsertIndex(this.#rows, row)
    return this.#rows[place]?.entry.seq === row.entry.seq ? this.#indexAt(place) : -1
  }

  #dropOldest(): void {
    const excess = this.#rows.length - this.#limits.maxRows
    if (excess <= 0) return
    this.#rows.splice(0, excess)
    this.#hasOlder = true
  }
}
