/** What the dead left: claimed, and read back one batch at a time. */
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.js'
import type { Batch } from '../sender.js'
import { assemble } from './assemble.js'
import { CLAIMED, INSTANCE_NAME, LEFT, OWNER, SEGMENT_HEADER_BYTES, isSegment, journalOf } from './format.js'
import { holdParts } from './hold.js'
import { removeIfEmpty } from './instance.js'
import type { Instance } from './instance.js'
import { readJournal } from './journal.js'
import type { Settlement } from './journal.js'
import { isAbandoned } from './owner.js'
import type { Machine } from './owner.js'
import { SegmentReader } from './reader.js'
import { Segment } from './segment.js'
import { countLeft, hasForeignSegment } from './survey.js'
import { namesIn } from './usage.js'

export interface RecoveryOptions {
  /** Folders of the destinations whose batches are sent: the own first, then those of earlier keys. */
  readonly destinations: readonly string[]
  readonly machine: Machine
  readonly clock: Clock
  readonly maxAgeMs: number
  /** Entries taken over, when they are read. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: 'spool' | 'age' | 'damaged', detail: string) => void
  readonly onError: (error: unknown) => void
  /** Another version's folder, left alone. */
  readonly onForeign: (path: string) => void
}

interface Claimed {
  readonly folder: string
  readonly segment: Segment
}

interface Open {
  readonly claimed: Claimed
  readonly reader: SegmentReader
  readonly settlements: ReadonlyMap<string, Settlement>
}

export class Recovery {
  readonly #options: RecoveryOptions
  readonly #foreign = new Set<string>()
  /** The oldest first. */
  #waiting: Claimed[] = []
  #open: Open | undefined
  #ready: Batch[] = []
  /** Read whole, with entries under way. */
  readonly #unsettled = new Set<Segment>()
  #isClosed = false

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /** Whether `next` may find something. */
  get hasMore(): boolean {
    return !this.#isClosed && (this.#ready.length > 0 || this.#open !== undefined || this.#waiting.length > 0)
  }

  /** Entries that were read and not yet taken. */
  get readyEntries(): number {
    return this.#ready.reduce((sum, { count }) => sum + count, 0)
  }

  /** Claims what is free, each folder by one rename into the instance's own. Never throws. */
  scan(instance: Instance): void {
    for (const destination of this.#options.destinations) {
      for (const name of namesIn(destination)) this.#tryClaim(destination, name, instance)
    }
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
      this.#drop(open.claimed, 'spool', open.reader.position)
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
    for (const { segment } of this.#waiting) segment.giveUp()
    if (this.#open !== undefined) {
      this.#open.claimed.segment.giveUp()
      this.#closeOpen(this.#open)
    }
    for (const segment of this.#unsettled) segment.giveUp()
    this.#unsettled.clear()
    this.#waiting = []
    this.#ready = []
  }

  #tryClaim(destination: string, name: string, instance: Instance): void {
    const match = INSTANCE_NAME.exec(name)
    if (match?.[2] === undefined || match[1] === instance.name) return
    const path = join(destination, name)
    const { machine, clock, onError } = this.#options
    try {
      if (match[2] !== LEFT && !isAbandoned(path, machine, clock.wallNow())) return
      if (hasForeignSegment(path)) return this.#leaveAlone(path)
      mkdirSync(instance.claimedPath, { recursive: true, mode: 0o700 })
      const claimed = join(instance.claimedPath, match[1] as string)
      renameSync(path, claimed)
      this.#adopt(claimed, instance.claimedPath)
    } catch (error) {
      // Another was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
    }
  }

  #leaveAlone(path: string): void {
    if (this.#foreign.has(path)) return
    this.#foreign.add(path)
    this.#options.onForeign(path)
  }

  /** Also what the dead had claimed, and their dead: moved up, so that paths do not grow with every death. */
  #adopt(folder: string, claimedPath: string): void {
    const nested = join(folder, CLAIMED)
    for (const name of namesIn(nested)) {
      const up = join(claimedPath, name)
      renameSync(join(nested, name), up)
      this.#adopt(up, claimedPath)
    }
    removeIfEmpty(nested)
    const { onError } = this.#options
    const names = readdirSync(folder).filter(isSegment).toSorted()
    for (const name of names) {
      const segment = new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved: (removed) => {
        this.#unsettled.delete(removed)
        this.#removeFolder(folder)
      } })
      this.#waiting.push({ folder, segment })
    }
    this.#waiting.sort((a, b) => (a.segment.path < b.segment.path ? -1 : 1))
    if (names.length === 0) this.#removeFolder(folder)
  }

  /** When its last segment is gone. */
  #removeFolder(folder: string): void {
    try {
      if (!readdirSync(folder).every((name) => name === OWNER || name.endsWith('.ack'))) return
      rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#options.onError(error)
    }
  }

  #openNext(): Open | undefined {
    const { clock, maxAgeMs, onError } = this.#options
    for (let claimed = this.#waiting.shift(); claimed !== undefined; claimed = this.#waiting.shift()) {
      try {
        const { path } = claimed.segment
        if (clock.wallNow() - lstatSync(path).mtimeMs > maxAgeMs) this.#drop(claimed, 'age', SEGMENT_HEADER_BYTES)
        else return { claimed, reader: new SegmentReader(path, SEGMENT_HEADER_BYTES), settlements: readJournal(journalOf(path)) }
      } catch (error) {
        // It stays where it is; the next start tries again.
        onError(error)
      }
    }
    return undefined
  }

  async #readFrom(open: Open): Promise<void> {
    const { segment } = open.claimed
    try {
      const read = await open.reader.next()
      // Dropped, or closed, meanwhile.
      if (this.#open !== open) return
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
    if (damagedBytes > 0) this.#options.onDropped(0, 'damaged', `${damagedBytes} bytes of ${open.claimed.segment.path} are no frames`)
    this.#unsettled.add(open.claimed.segment)
    open.claimed.segment.complete()
  }

  #closeOpen(open: Open): void {
    this.#open = undefined
    open.reader.close().catch(this.#options.onError)
  }

  #drop({ segment }: Claimed, reason: 'spool' | 'age', from: number): void {
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
