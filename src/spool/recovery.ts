/** What the dead left: claimed, and read back one batch at a time. */
import type { Batch } from '../sender.js'
import { isClaimExpired } from './aging.js'
import { assemble } from './assemble.js'
import { Claims, removeIfSettled } from './claims.js'
import type { ClaimsOptions } from './claims.js'
import { SEGMENT_HEADER_BYTES, isSegment, journalOf } from './format.js'
import { isOwnFolder } from '../shared/safe-folders.js'
import { holdParts } from './hold.js'
import type { Instance } from './instance.js'
import { readJournal } from './journal.js'
import type { Settlement } from './journal.js'
import { SegmentReader } from './reader.js'
import type { ReadBatch } from './reader.js'
import { isFinal } from './owner.js'
import { Segment } from './segment.js'
import { countLeft, countOpen, hasForeignSegment, isForeignSegment } from './survey.js'
import { namesIn } from './usage.js'

export interface RecoveryOptions extends ClaimsOptions {
  readonly maxAgeMs: number
  /** Since the machine's boot. Default: not known. */
  readonly uptimeMs?: () => number
  /** Entries taken over, when they are read. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: 'spool' | 'age' | 'damaged', detail: string) => void
}

/** A segment that was claimed, and what of it is still to be read. */
interface Rest {
  readonly segment: Segment
  /** Where the first batch begins that was not given out. */
  restAt: number
  /** Damage before that. */
  damagedBytes: number
  /** Before that, on the monotonic clock, an owner that cannot be seen may write to it without knowing of the claim. */
  readonly finalAt: number
}

interface Open extends Rest {
  readonly reader: SegmentReader
  /** `damagedBytes` when it was opened. */
  readonly damagedBefore: number
  readonly settlements: ReadonlyMap<string, Settlement>
  /** Too old: read for the number of its entries alone. */
  readonly isOld: boolean
  oldEntries: number
}

/**
 * After a claim, for an owner that cannot be seen: it looks for its folder before and after each write that comes more than half a lease
 * after its last look, or the same by a wall clock that differs by more than 5 s. What it writes without knowing is written before that.
 */
const UNAWARE_MS = 20_000

export class Recovery {
  readonly #options: RecoveryOptions
  readonly #claims: Claims
  /** The oldest first. */
  #waiting: Rest[] = []
  /** Cannot be read for now: tried again at the next scan. */
  #postponed: Rest[] = []
  readonly #told = new WeakSet<Segment>()
  #open: Open | undefined
  #ready: Batch[] = []
  /** Read whole, or vanished, with entries under way. */
  readonly #unsettled = new Set<Segment>()
  #isClosed = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#claims = new Claims(options)
  }

  /** Whether `next` may find something. */
  get hasMore(): boolean {
    return !this.#isClosed && (this.#ready.length > 0 || this.#open !== undefined || this.#waiting.length > 0)
  }

  /** What `dropOldest` may delete. */
  get segments(): Segment[] {
    return this.#rests.filter((rest) => this.#isFinal(rest)).map(({ segment }) => segment)
  }

  get #rests(): Rest[] {
    return [...(this.#open === undefined ? [] : [this.#open]), ...this.#waiting, ...this.#postponed]
  }

  /** Entries that were read and not yet taken. */
  get readyEntries(): number {
    return this.#ready.reduce((sum, { count }) => sum + count, 0)
  }

  /** Of these, what is no longer on disk: its segment was dropped at a bound. */
  get looseEntries(): number {
    return this.#ready.filter(({ custody }) => custody?.isKept !== true).reduce((sum, { count }) => sum + count, 0)
  }

  get claimed(): Segment[] {
    return [...this.#rests.map(({ segment }) => segment), ...this.#unsettled]
  }

  /** They are counted elsewhere. */
  forgetReady(): void {
    this.#ready = []
  }

  /** Claims what is free, each folder by one rename into the instance's own. @throws the system's errors */
  scan(instance: Instance): void {
    this.#waiting.push(...this.#postponed.splice(0))
    for (const folder of this.#claims.claim(instance)) this.#take(folder)
    this.#waiting.sort(({ segment: a }, { segment: b }) => (a.path < b.path ? -1 : 1))
  }

  /**
   * Reads the next batch and gives it to `take`, in the same turn in which it is counted.
   * @returns whether there was one. Never rejects. One call at a time.
   */
  async next(take: (batch: Batch) => void): Promise<boolean> {
    for (;;) {
      const ready = this.#ready.shift()
      if (ready !== undefined) {
        take(ready)
        return true
      }
      const open = this.#isClosed ? undefined : (this.#open ??= this.#openNext())
      if (open === undefined) return false
      await this.#readFrom(open)
    }
  }

  /** Makes room: deletes the oldest segment whole. False where there is none. */
  dropOldest(): boolean {
    const oldest = this.#rests.find((rest) => this.#isFinal(rest))
    if (oldest === undefined) return false
    if (oldest === this.#open) this.#closeOpen(this.#open)
    this.#waiting = this.#waiting.filter((rest) => rest !== oldest)
    this.#postponed = this.#postponed.filter((rest) => rest !== oldest)
    this.#drop(oldest)
    return true
  }

  /** Reads nothing more; what is not settled stays on disk. */
  close(): void {
    this.#isClosed = true
    for (const segment of this.#leaveAll()) segment.close()
  }

  /** What was claimed is in other hands now. */
  giveUp(): void {
    for (const segment of this.#leaveAll()) segment.giveUp()
    this.#unsettled.clear()
  }

  #leaveAll(): Segment[] {
    const all = this.claimed
    if (this.#open !== undefined) this.#closeOpen(this.#open)
    this.#waiting = []
    this.#postponed = []
    this.#ready = []
    return all
  }

  #take(folder: string): void {
    if (!isOwnFolder(folder)) return
    const { onError, onForeign, clock, machine } = this.#options
    // Claims looks first; a folder may have come in between.
    if (hasForeignSegment(folder)) return onForeign(folder)
    const names = namesIn(folder).filter(isSegment)
    const finalAt = isFinal(folder, machine) ? -Infinity : clock.now() + UNAWARE_MS
    for (const name of names) {
      const segment = new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved: (removed) => {
        this.#unsettled.delete(removed)
        removeIfSettled(folder, onError)
      } })
      this.#waiting.push({ segment, restAt: SEGMENT_HEADER_BYTES, damagedBytes: 0, finalAt })
    }
    if (names.length === 0) removeIfSettled(folder, onError)
  }

  #openNext(): Open | undefined {
    const { clock, machine, maxAgeMs, uptimeMs = () => Infinity, onForeign } = this.#options
    for (let rest = this.#waiting.shift(); rest !== undefined; rest = this.#waiting.shift()) {
      const { segment: { path }, restAt } = rest
      try {
        // Looked at when it was claimed; but then it may not have been readable.
        if (isForeignSegment(path)) onForeign(path)
        else {
          const isOld = isClaimExpired(path, { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs })
          return { ...rest, isOld, oldEntries: 0, damagedBefore: rest.damagedBytes, settlements: readJournal(journalOf(path)), reader: new SegmentReader(path, restAt) }
        }
      } catch (error) {
        this.#postpone(rest, error)
      }
    }
    return undefined
  }

  #isFinal({ finalAt }: Rest): boolean {
    return this.#options.clock.now() >= finalAt
  }

  #postpone(rest: Rest, error: unknown): void {
    const { segment } = rest
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // Deleted by somebody: there is nothing to be tried again.
      this.#unsettled.add(segment)
      segment.complete()
    } else this.#postponed.push(restOf(rest))
    if (!this.#told.has(segment)) this.#options.onError(error)
    this.#told.add(segment)
  }

  async #readFrom(open: Open): Promise<void> {
    const wasFinal = this.#isFinal(open)
    try {
      const read = await open.reader.next()
      // Dropped, or closed, meanwhile.
      if (this.#open !== open) return
      // A batch without a seal may still grow, and so may the segment: from here on it is read again.
      if (read?.sealedCount === undefined && !wasFinal) {
        this.#closeOpen(open)
        this.#postponed.push(restOf(open))
        return
      }
      if (open.isOld) return this.#countOld(open, read)
      open.restAt = open.reader.position
      open.damagedBytes = open.damagedBefore + open.reader.damagedBytes
      if (read === undefined) return this.#finish(open)
      const { batches, missing } = assemble(read, open.settlements.get(read.batchId))
      const entries = batches.reduce((sum, { count }) => sum + count, 0)
      open.segment.add(entries)
      const custody = holdParts(open.segment, read.batchId, batches.map(({ positions }) => positions))
      this.#ready = batches.map(({ batchId, count, positions, isWhole, body }, at): Batch => ({
        batchId, count, highestRank: read.rank, body, custody: custody[at],
        ...(!isWhole && { origin: { batchId: read.batchId, positions } }),
      } as Batch))
      this.#options.onRecovered(entries + missing)
      if (missing > 0) this.#options.onDropped(missing, 'damaged', `what ${open.segment.path} held of them is damaged or missing`)
    } catch (error) {
      if (this.#open !== open) return
      this.#closeOpen(open)
      this.#postpone(open, error)
    }
  }

  /** In turns, as it is read: a whole backlog may be too old, and counting it at once would block the app. */
  #countOld(open: Open, read: ReadBatch | undefined): void {
    for (const piece of read?.pieces ?? []) open.oldEntries += countOpen(piece, open.settlements.get(read?.batchId ?? ''))
    if (read !== undefined) return
    this.#closeOpen(open)
    this.#remove(open.segment, open.oldEntries, 'age', `older than spool.maxAgeMs ${this.#options.maxAgeMs}`)
  }

  #finish(open: Open): void {
    this.#closeOpen(open)
    const { damagedBytes, segment } = open
    if (damagedBytes > 0) this.#options.onDropped(0, 'damaged', `${damagedBytes} bytes of ${segment.path} are damaged, and are passed over`)
    this.#unsettled.add(segment)
    segment.complete()
  }

  #closeOpen(open: Open): void {
    this.#open = undefined
    open.reader.close().catch(this.#options.onError)
  }

  #drop({ segment, restAt }: Rest): void {
    let entries = 0
    try {
      entries = countLeft(segment.path, restAt)
    } catch (error) {
      this.#options.onError(error)
    }
    this.#remove(segment, entries, 'spool', 'spool.maxBytes is full, the oldest segment went')
  }

  #remove(segment: Segment, entries: number, reason: 'spool' | 'age', why: string): void {
    segment.drop()
    this.#options.onRecovered(entries)
    this.#options.onDropped(entries, reason, `${why}, left by an earlier process: ${segment.path}`)
  }
}

function restOf({ segment, restAt, damagedBytes, finalAt }: Rest): Rest {
  return { segment, restAt, damagedBytes, finalAt }
}
