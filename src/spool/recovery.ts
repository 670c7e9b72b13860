/** What the dead left: claimed, and read back one batch at a time. */
import type { Batch } from '../sender.js'
import { isClaimExpired } from './aging.js'
import { claimedSegments } from './claimed-segment.js'
import type { ClaimedSegment } from './claimed-segment.js'
import { Claims, removeIfSettled } from './claims.js'
import type { ClaimsOptions } from './claims.js'
import { DropQueue } from './drop-queue.js'
import { journalOf } from './format.js'
import type { Instance } from './instance.js'
import { readJournal } from './journal.js'
import type { Settlement } from './journal.js'
import { SegmentReader } from './reader.js'
import { restore } from './restore.js'
import type { Removable } from './room.js'
import type { Segment } from './segment.js'
import { Turns } from './turns.js'

export interface RecoveryOptions extends ClaimsOptions {
  readonly maxAgeMs: number
  /** Since the machine's boot. Default: not known. */
  readonly uptimeMs?: () => number
  /** Entries taken over, when they are read. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: 'spool' | 'age' | 'damaged', detail: string) => void
}

interface Open {
  readonly claimed: ClaimedSegment
  readonly reader: SegmentReader
  /** `damagedBytes` when it was opened. */
  readonly damagedBefore: number
  readonly settlements: ReadonlyMap<string, Settlement>
}

export class Recovery {
  readonly #options: RecoveryOptions
  readonly #claims: Claims
  readonly scanning: Turns
  readonly #drops: DropQueue
  /** The oldest first. */
  #waiting: ClaimedSegment[] = []
  /** Cannot be read for now: tried again at the next scan. */
  #postponed: ClaimedSegment[] = []
  readonly #told = new WeakSet<Segment>()
  #open: Open | undefined
  #ready: Batch[] = []
  /** Read whole, or vanished, with entries under way. */
  readonly #unsettled = new Set<Segment>()
  #isClosed = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#claims = new Claims(options)
    this.scanning = new Turns(options.clock)
    this.#drops = new DropQueue(options)
  }

  /** Whether `next` may find something. */
  get hasMore(): boolean {
    return !this.#isClosed && (this.#ready.length > 0 || this.#open !== undefined || this.#waiting.length > 0)
  }

  /** Claimed, and on the disk. */
  get segments(): Segment[] {
    return [...this.#unread.map(({ segment }) => segment), ...this.#drops.segments, ...this.#unsettled]
  }

  /** What can be deleted to make room, the oldest first. */
  get removable(): Removable[] {
    return this.#unread.filter(({ isFinal }) => isFinal).map((claimed): Removable => ({ bytes: claimed.bytes, remove: () => this.#drop(claimed) }))
  }

  /** Bytes that are to be deleted when their entries are counted. */
  get droppingBytes(): number {
    return this.#drops.bytes
  }

  get #unread(): ClaimedSegment[] {
    return [...(this.#open === undefined ? [] : [this.#open.claimed]), ...this.#waiting, ...this.#postponed].filter(({ isDropped }) => !isDropped)
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

  /**
   * Claims what is free, each folder by one rename into the instance's own: the oldest first, and many in turns. Never throws.
   * @param onTurn after each turn
   * @returns when all is looked at. Never rejects
   */
  async scan(instance: Instance, onTurn: () => void = () => {}): Promise<void> {
    void this.#drops.resume()
    this.#waiting.push(...this.#postponed.splice(0))
    if (this.scanning.isBusy) return
    await this.scanning.run(this.#claim(instance), () => {
      this.#waiting.sort(({ segment: a }, { segment: b }) => (a.path < b.path ? -1 : 1))
      onTurn()
    }).catch(this.#options.onError)
  }

  *#claim(instance: Instance): Generator<void> {
    for (const folders of this.#claims.claim(instance)) {
      for (const folder of folders) yield* this.#take(folder)
      yield
    }
  }

  /** Reads the next batch and gives it to `take`, in the turn in which it is counted. One call at a time. @returns whether there was one. Never rejects */
  async next(take: (batch: Batch) => void): Promise<boolean> {
    for (;;) {
      const ready = this.#ready.shift()
      if (ready !== undefined) {
        take(ready)
        return true
      }
      if (this.#isClosed) return false
      const next = this.#open ?? this.#openNext()
      if (next === undefined) return false
      await ('claimed' in next ? this.#readFrom((this.#open = next)) : next)
    }
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

  /** @returns all that was claimed and is not settled */
  #leaveAll(): Segment[] {
    const all = this.segments
    this.scanning.cancel()
    this.#drops.clear()
    if (this.#open !== undefined) this.#closeOpen(this.#open)
    for (const left of [this.#waiting, this.#postponed, this.#ready]) left.length = 0
    return all
  }

  *#take(folder: string): Generator<void> {
    const { onError } = this.#options
    const found: ClaimedSegment[] = []
    for (const claimed of claimedSegments(folder, this.#options, (removed) => {
      this.#unsettled.delete(removed)
      removeIfSettled(folder, onError)
    })) {
      found.push(claimed)
      yield
    }
    // All at once: where the folder cannot be read to its end, all of it is tried again.
    this.#waiting.push(...found)
    if (found.length === 0) removeIfSettled(folder, onError)
  }

  /** @returns a promise where it is too old: when it is counted and deleted */
  #openNext(): Open | Promise<void> | undefined {
    const { clock, machine, maxAgeMs, uptimeMs = () => Infinity } = this.#options
    for (let claimed = this.#waiting.shift(); claimed !== undefined; claimed = this.#waiting.shift()) {
      const { segment: { path }, restAt, damagedBytes, isFinal, isDropped } = claimed
      if (isDropped) continue
      try {
        if (!isClaimExpired(path, { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs })) {
          const settlements = readJournal(journalOf(path))
          return { claimed, damagedBefore: damagedBytes, settlements, reader: new SegmentReader(path, restAt) }
        }
        if (isFinal) return this.#drops.add(claimed, 'age', `older than spool.maxAgeMs ${maxAgeMs}`)
        this.#postponed.push(claimed)
      } catch (error) {
        this.#postpone(claimed, error)
      }
    }
    return undefined
  }

  /** Its entries are counted before it is deleted, whole. @returns its bytes */
  #drop(claimed: ClaimedSegment): number {
    if (this.#open?.claimed === claimed) this.#closeOpen(this.#open)
    void this.#drops.add(claimed, 'spool', 'spool.maxBytes is full, the oldest segment went')
    return claimed.bytes
  }

  #postpone(claimed: ClaimedSegment, error: unknown): void {
    const { segment } = claimed
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // Deleted by somebody: there is nothing to be tried again.
      this.#unsettled.add(segment)
      segment.complete()
    } else this.#postponed.push(claimed)
    if (!this.#told.has(segment)) this.#options.onError(error)
    this.#told.add(segment)
  }

  async #readFrom(open: Open): Promise<void> {
    const { claimed, claimed: { segment, isFinal: wasFinal } } = open
    try {
      const read = await open.reader.next()
      // Dropped, or closed, meanwhile.
      if (this.#open !== open) return
      // A batch without a seal may still grow, and so may the segment: from here on it is read again.
      if (read?.sealedCount === undefined && !wasFinal) {
        this.#closeOpen(open)
        this.#postponed.push(claimed)
        return
      }
      claimed.restAt = open.reader.position
      claimed.damagedBytes = open.damagedBefore + open.reader.damagedBytes
      if (read === undefined) return this.#finish(open)
      const { batches, entries, missing } = restore(segment, read, open.settlements.get(read.batchId))
      this.#ready = batches
      this.#options.onRecovered(entries + missing)
      if (missing > 0) this.#options.onDropped(missing, 'damaged', `what ${segment.path} held of them is damaged or missing`)
    } catch (error) {
      if (this.#open !== open) return
      this.#closeOpen(open)
      this.#postpone(claimed, error)
    }
  }

  #finish(open: Open): void {
    const { claimed: { segment, damagedBytes } } = open
    this.#closeOpen(open)
    if (damagedBytes > 0) this.#options.onDropped(0, 'damaged', `${damagedBytes} bytes of ${segment.path} are damaged, and are passed over`)
    this.#unsettled.add(segment)
    segment.complete()
  }

  #closeOpen(open: Open): void {
    this.#open = undefined
    open.reader.close().catch(this.#options.onError)
  }
}
