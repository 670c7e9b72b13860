/**
 * The rows of the list (pure): a window over all matching entries, newest first, of at most MAX_ROWS.
 *
 *     index 0   ┌ newer ones that were removed: only their number and cursors
 *               ├ rows
 *     length    └ older ones, loaded page by page
 *
 * New entries wait while the list is paused.
 */
import type { EntrySummary } from '../../query/api-types.js'

export const MAX_ROWS = 5000
export const PAGE_ROWS = 500
const MAX_WAITING = 2000
/** The next page is requested so many rows before an end. */
const MARGIN_ROWS = 60

/** A cursor of the API is the `seq` below which a page begins. */
export interface Wanted {
  readonly kind: 'newer' | 'older'
  readonly cursor: string
  readonly limit: number
}

export class TailBuffer {
  /** Oldest first, so that new rows are pushed. */
  #rows: EntrySummary[] = []
  #waiting: EntrySummary[] = []
  #waitingCount = 0
  #above: Wanted[] = []
  #aboveCount = 0
  #hasOlder = false
  #isHeld = false
  #arrived = 0
  #isTorn = false
  /** The same, since a page was requested. */
  #isTornSince = false

  /** Number of all rows, including those that were removed above. */
  get length(): number {
    return this.#aboveCount + this.#rows.length
  }

  /** Entries that arrived while the list is paused. */
  get waiting(): number {
    return this.#waitingCount
  }

  /** Entries from the stream in total. */
  get arrived(): number {
    return this.#arrived
  }

  get hasOlder(): boolean {
    return this.#hasOlder
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Whether newer entries were missed, so that the list must be loaded again. */
  get isTorn(): boolean {
    return this.#isTorn
  }

  at(index: number): EntrySummary | undefined {
    const place = index - this.#aboveCount
    return place < 0 ? undefined : this.#rows[this.#rows.length - 1 - place]
  }

  /** -1 if it is not among the rows. */
  indexOf(id: string): number {
    const place = this.#rows.findLastIndex((row) => row.id === id)
    return place === -1 ? -1 : this.#aboveCount + this.#rows.length - 1 - place
  }

  /** Entries that are missed from now on may not be in the first page that is being requested. */
  expectPage(): void {
    this.#isTornSince = false
  }

  /** The first page, newest first. `keepNewer` keeps entries from the stream since that page was requested. */
  reset(items: readonly EntrySummary[], hasOlder: boolean, keepNewer: boolean): void {
    const newestSeq = items[0]?.seq ?? 0
    // If the page leaves a gap, the entries after it cannot be appended.
    const isTorn = keepNewer && this.#isTornSince
    const newer = keepNewer && !isTorn ? [...this.#rows, ...this.#waiting].filter(({ seq }) => seq > newestSeq) : []
    this.clear()
    this.#rows = items.toReversed()
    this.#hasOlder = hasOlder
    this.push(newer, 0)
    this.#isTorn ||= isTorn
  }

  clear(): void {
    this.#rows = []
    this.#waiting = []
    this.#waitingCount = 0
    this.#above = []
    this.#aboveCount = 0
    this.#hasOlder = false
    this.#isTorn = false
  }

  /** Entries from the stream, oldest first. */
  push(items: readonly EntrySummary[], skipped: number): void {
    const knownSeq = (this.#waiting.at(-1) ?? this.at(0))?.seq ?? 0
    const fresh = (items[0]?.seq ?? 0) > knownSeq ? items : items.filter(({ seq }) => seq > knownSeq)
    this.#arrived += fresh.length + skipped
    if (skipped > 0) this.#isTorn = this.#isTornSince = true
    if (!this.#isHeld && this.#aboveCount === 0) {
      for (const item of fresh) this.#rows.push(item)
      this.#dropOldest()
      return
    }
    this.#waitingCount += fresh.length + skipped
    for (const item of fresh) this.#waiting.push(item)
    if (this.#waiting.length > MAX_WAITING) this.#isTorn = this.#isTornSince = true
    if (this.#isTorn) this.#waiting = []
  }

  hold(): void {
    this.#isHeld = true
  }

  /** @returns false if the waiting entries cannot be appended, so that the first page must be loaded again */
  release(): boolean {
    this.#isHeld = false
    if (this.#isTorn || this.#aboveCount > 0) return false
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingCount = 0
    this.push(waiting, 0)
    return true
  }

  /** The pages to load for these rows. */
  wanted(first: number, last: number): Wanted | undefined {
    const above = this.#above.at(-1)
    if (above !== undefined && first < this.#aboveCount + MARGIN_ROWS) return above
    const oldest = this.#rows[0]
    if (!this.#hasOlder || oldest === undefined || last < this.length - MARGIN_ROWS) return undefined
    return { kind: 'older', cursor: String(oldest.seq), limit: PAGE_ROWS }
  }

  /** The next page at the bottom. Excess rows are removed at the top. */
  addOlder(items: readonly EntrySummary[], hasOlder: boolean): void {
    const oldestSeq = this.#rows[0]?.seq ?? Infinity
    this.#rows = [...items.filter(({ seq }) => seq < oldestSeq).toReversed(), ...this.#rows]
    this.#hasOlder = hasOlder
    while (this.#rows.length > MAX_ROWS) {
      const left = this.#rows.splice(-PAGE_ROWS)
      const newestSeq = left.at(-1)?.seq ?? 0
      this.#above.push({ kind: 'newer', cursor: String(newestSeq + 1), limit: left.length })
      this.#aboveCount += left.length
    }
  }

  /** A page that was removed at the top. If it has changed, the list must be loaded again. */
  addNewer(items: readonly EntrySummary[]): void {
    const above = this.#above.pop()
    if (above === undefined) return
    this.#aboveCount -= above.limit
    if (items.length !== above.limit) this.#isTorn = true
    for (const item of items.toReversed()) this.#rows.push(item)
    this.#dropOldest()
  }

  #dropOldest(): void {
    const excess = this.#rows.length - MAX_ROWS
    if (excess <= 0) return
    this.#rows.splice(0, excess)
    this.#hasOlder = true
  }
}
