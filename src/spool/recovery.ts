/** What the dead left: claimed, and read back one batch at a time. */
import { lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import type { Batch } from '../sender.js'
import { assemble } from './assemble.js'
import { Claims } from './claims.js'
import type { ClaimsOptions } from './claims.js'
import { OWNER, SEGMENT_HEADER_BYTES, isJournal, isSegment, journalOf } from './format.js'
import { isOwnFolder } from './folders.js'
import { holdParts } from './hold.js'
import type { Instance } from './instance.js'
import { readJournal } from './journal.js'
import type { Settlement } from './journal.js'
import { SegmentReader } from './reader.js'
import { Segment } from './segment.js'
import { countLeft } from './survey.js'
import { namesIn } from './usage.js'

export interface RecoveryOptions extends ClaimsOptions {
  readonly maxAgeMs: number
  /** Entries taken over, when they are read. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: 'spool' | 'age' | 'damaged', detail: string) => void
}

interface Open {
  readonly segment: Segment
  readonly reader: SegmentReader
  readonly settlements: ReadonlyMap<string, Settlement>
  /** Where the first batch begins that was not given out. */
  restAt: number
}

export class Recovery {
  readonly #options: RecoveryOptions
  readonly #claims: Claims
  /** The oldest first. */
  #waiting: Segment[] = []
  #open: Open | undefined
  #ready: Batch[] = []
  /** Read whole, with entries under way. */
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

  /** Entries that were read and not yet taken. */
  get readyEntries(): number {
    return this.#ready.reduce((sum, { count }) => sum + count, 0)
  }

  /** Of these, what is no longer on disk: its segment was dropped at a bound. */
  get looseEntries(): number {
    return this.#ready.filter(({ custody }) => custody?.isKept !== true).reduce((sum, { count }) => sum + count, 0)
  }

  /** They are counted elsewhere. */
  forgetReady(): void {
    this.#ready = []
  }

  /** Claims what is free, each folder by one rename into the instance's own. Never throws. */
  scan(instance: Instance): void {
    for (const folder of this.#claims.claim(instance)) this.#take(folder)
    this.#waiting.sort((a, b) => (a.path < b.path ? -1 : 1))
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
      if (this.#isClosed) return false
      const open = (this.#open ??= this.#openNext())
      if (open === undefined) return false
      await this.#readFrom(open)
    }
  }

  /** Makes room: deletes the oldest segment whole. False where there is none. */
  dropOldest(): boolean {
    const open = this.#open
    if (open !== undefined) {
      this.#closeOpen(open)
      this.#drop(open.segment, 'spool', open.restAt)
      return true
    }
    const oldest = this.#waiting.shift()
    if (oldest === undefined) return false
    this.#drop(oldest, 'spool', SEGMENT_HEADER_BYTES)
    return true
  }

  /** Reads nothing more; what is not settled stays on disk. */
  close(): void {
    this.#isClosed = true
    if (this.#open !== undefined) this.#closeOpen(this.#open)
    for (const segment of this.#unsettled) segment.close()
    this.#waiting = []
    this.#ready = []
  }

  /** What was claimed is in other hands now. */
  giveUp(): void {
    for (const segment of this.#waiting) segment.giveUp()
    if (this.#open !== undefined) {
      this.#open.segment.giveUp()
      this.#closeOpen(this.#open)
    }
    for (const segment of this.#unsettled) segment.giveUp()
    this.#unsettled.clear()
    this.#waiting = []
    this.#ready = []
  }

  #take(folder: string): void {
    if (!isOwnFolder(folder)) return
    const { onError } = this.#options
    const names = namesIn(folder).filter(isSegment)
    for (const name of names) {
      const segment = new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved: (removed) => {
        this.#unsettled.delete(removed)
        this.#removeFolder(folder)
      } })
      this.#waiting.push(segment)
    }
    if (names.length === 0) this.#removeFolder(folder)
  }

  /** When its last segment is gone. */
  #removeFolder(folder: string): void {
    try {
      if (!readdirSync(folder).every((name) => name === OWNER || isJournal(name))) return
      rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#options.onError(error)
    }
  }

  #openNext(): Open | undefined {
    const { clock, maxAgeMs, onError } = this.#options
    for (let segment = this.#waiting.shift(); segment !== undefined; segment = this.#waiting.shift()) {
      try {
        const { path } = segment
        if (clock.wallNow() - lstatSync(path).mtimeMs > maxAgeMs) this.#drop(segment, 'age', SEGMENT_HEADER_BYTES)
        else return { segment, reader: new SegmentReader(path, SEGMENT_HEADER_BYTES), settlements: readJournal(journalOf(path)), restAt: SEGMENT_HEADER_BYTES }
      } catch (error) {
        // It stays where it is; the next start tries again.
        onError(error)
      }
    }
    return undefined
  }

  async #readFrom(open: Open): Promise<void> {
    const { segment } = open
    try {
      const read = await open.reader.next()
      // Dropped, or closed, meanwhile.
      if (this.#open !== open) return
      open.restAt = open.reader.position
      if (read === undefined) return this.#finish(open)
      const { batches, missing } = assemble(read, open.settlements.get(read.batchId))
      const entries = batches.reduce((sum, { count }) => sum + count, 0)
      segment.add(entries)
      const custody = holdParts(segment, read.batchId, batches.map(({ positions }) => positions))
      this.#ready = batches.map(({ batchId, count, positions, isWhole, body }, at): Batch => ({
        batchId, count, highestRank: read.rank, body, custody: custody[at],
        ...(!isWhole && { origin: { batchId: read.batchId, positions } }),
      } as Batch))
      this.#options.onRecovered(entries + missing)
      if (missing > 0) this.#options.onDropped(missing, 'damaged', `of a batch in ${segment.path} frames are missing`)
    } catch (error) {
      if (this.#open !== open) return
      this.#closeOpen(open)
      this.#options.onError(error)
    }
  }

  #finish(open: Open): void {
    this.#closeOpen(open)
    const { damagedBytes } = open.reader
    if (damagedBytes > 0) this.#options.onDropped(0, 'damaged', `${damagedBytes} bytes of ${open.segment.path} are no frames`)
    this.#unsettled.add(open.segment)
    open.segment.complete()
  }

  #closeOpen(open: Open): void {
    this.#open = undefined
    open.reader.close().catch(this.#options.onError)
  }

  #drop(segment: Segment, reason: 'spool' | 'age', from: number): void {
    let entries = 0
    try {
      entries = countLeft(readFileSync(segment.path), from, readJournal(journalOf(segment.path)))
    } catch (error) {
      this.#options.onError(error)
    }
    segment.drop()
    this.#options.onRecovered(entries)
    this.#options.onDropped(entries, reason, `the oldest segment went, left by an earlier process: ${segment.path}`)
  }
}
