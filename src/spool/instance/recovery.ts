/** Claims segments of ended processes and reads them back, one batch at a time. */
import type { Batch } from '../../batch/sender.js'
import { DROP_MESSAGES, SPOOL_MESSAGES } from '../../diagnostics/messages.js'
import { isClaimExpired } from '../retention/expiry.js'
import { openClaimedSegments } from './claimed-segment.js'
import type { ClaimedSegment } from './claimed-segment.js'
import { Claims, removeSettledFolder } from './claims.js'
import type { ClaimsOptions } from './claims.js'
import { EvictionQueue } from '../retention/eviction-queue.js'
import { toAcknowledgementLogPath } from '../disk-format.js'
import type { InstanceFolder } from './instance-folder.js'
import { readAcknowledgements } from '../segment/acknowledgement-log.js'
import type { Settlement } from '../segment/acknowledgement-log.js'
import { SegmentReader } from '../segment/segment-reader.js'
import { restore } from './restore.js'
import type { EvictionCandidate } from '../retention/eviction.js'
import type { Segment } from '../segment/segment.js'
import { TimeSlicedTask } from '../time-sliced-task.js'

export interface RecoveryOptions extends ClaimsOptions {
  readonly maxAgeMs: number
  /** Since the machine's boot. Default: not known. */
  readonly uptimeMs?: () => number
  /** Called with the number of claimed entries when they are read. */
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
  readonly scanning: TimeSlicedTask
  readonly #drops: EvictionQueue
  /** Oldest first. */
  #waiting: ClaimedSegment[] = []
  /** Cannot be read at present; retried at the next scan. */
  #postponed: ClaimedSegment[] = []
  readonly #reported = new WeakSet<Segment>()
  #open: Open | undefined
  #ready: Batch[] = []
  /** Completely read, or deleted by another process, with entries that are not yet settled. */
  readonly #unsettled = new Set<Segment>()
  #isClosed = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#claims = new Claims(options)
    this.scanning = new TimeSlicedTask(options.clock)
    this.#drops = new EvictionQueue(options)
  }

  /** Whether `next` may return a batch. */
  get hasMore(): boolean {
    return !this.#isClosed && (this.#ready.length > 0 || this.#open !== undefined || this.#waiting.length > 0)
  }

  /** All claimed segments on disk. */
  get segments(): Segment[] {
    return [...this.#unread.map(({ segment }) => segment), ...this.#drops.segments, ...this.#unsettled]
  }

  /** Segments that can be deleted to make room, oldest first. */
  get removable(): EvictionCandidate[] {
    return this.#unread
      .filter(({ isFinal }) => isFinal)
      .map((claimed): EvictionCandidate => ({ bytes: claimed.bytes, evict: () => this.#drop(claimed) }))
  }

  /** Bytes that will be deleted after their entries are counted. */
  get droppingBytes(): number {
    return this.#drops.bytes
  }

  get #unread(): ClaimedSegment[] {
    return [...(this.#open === undefined ? [] : [this.#open.claimed]), ...this.#waiting, ...this.#postponed].filter(
      ({ isDropped }) => !isDropped,
    )
  }

  /** Entries that were read and are not yet returned by `next`. */
  get readyEntries(): number {
    return this.#ready.reduce((sum, { count }) => sum + count, 0)
  }

  /** Ready entries that are no longer on disk because their segment was dropped. */
  get memoryOnlyEntries(): number {
    return this.#ready
      .filter(({ acknowledgement: custody }) => custody?.isDurable !== true)
      .reduce((sum, { count }) => sum + count, 0)
  }

  /** Forgets the ready entries; the caller counts them. */
  forgetReady(): void {
    this.#ready = []
  }

  /**
   * Claims all free folders, oldest first, each by one rename into the instance's folder. Works in turns. Never throws.
   * @param onTurn called after each turn
   * @returns a promise that resolves when the scan ends. Never rejects
   */
  async scan(instance: InstanceFolder, onTurn: () => void = () => {}): Promise<void> {
    this.#drops.retry()
    this.#waiting.push(...this.#postponed.splice(0))
    if (this.scanning.isBusy) return
    await this.scanning
      .run(this.#claim(instance), () => {
        this.#waiting.sort(({ segment: a }, { segment: b }) => (a.path < b.path ? -1 : 1))
        onTurn()
      })
      .catch(this.#options.onError)
  }

  *#claim(instance: InstanceFolder): Generator<void> {
    for (const folders of this.#claims.claim(instance)) {
      for (const folder of folders) yield* this.#take(folder)
      yield
    }
  }

  /** Reads the next batch and passes it to `take`, in the same turn in which it leaves `readyEntries`. One call at a time. @returns whether there was one. Never rejects */
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

  /** Stops reading. Unsettled batches stay on disk. */
  close(): void {
    this.#isClosed = true
    for (const segment of this.#leaveAll()) segment.close()
  }

  /** Another instance has taken over all claimed segments. */
  abandon(): void {
    for (const segment of this.#leaveAll()) segment.abandon()
    this.#unsettled.clear()
  }

  /** @returns all claimed segments that are not settled */
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
    for (const claimed of openClaimedSegments(folder, this.#options, (removed) => {
      this.#unsettled.delete(removed)
      removeSettledFolder(folder, onError)
    })) {
      found.push(claimed)
      yield
    }
    // Added all at once: if reading the folder fails, the next scan retries the whole folder.
    this.#waiting.push(...found)
    if (found.length === 0) removeSettledFolder(folder, onError)
  }

  /** @returns a promise if the segment is too old; it resolves when the segment is counted and deleted */
  #openNext(): Open | Promise<void> | undefined {
    const { clock, machine, maxAgeMs, uptimeMs = () => Infinity } = this.#options
    for (let claimed = this.#waiting.shift(); claimed !== undefined; claimed = this.#waiting.shift()) {
      const {
        segment: { path },
        nextOffset,
        damagedBytes,
        isFinal,
        isDropped,
      } = claimed
      if (isDropped) continue
      try {
        if (!isClaimExpired(path, { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs })) {
          const settlements = readAcknowledgements(toAcknowledgementLogPath(path))
          return {
            claimed,
            damagedBefore: damagedBytes,
            settlements,
            reader: new SegmentReader(path, nextOffset, undefined, () => !claimed.isFinal),
          }
        }
        if (isFinal) return this.#drops.add(claimed, 'age', DROP_MESSAGES.tooOld.text(maxAgeMs))
        this.#postponed.push(claimed)
      } catch (error) {
        this.#postpone(claimed, error)
      }
    }
    return undefined
  }

  /** Queues the segment for deletion, after its entries are counted. @returns its bytes */
  #drop(claimed: ClaimedSegment): number {
    if (this.#open?.claimed === claimed) this.#closeOpen(this.#open)
    void this.#drops.add(claimed, 'spool', DROP_MESSAGES.spoolFull.text())
    return claimed.bytes
  }

  #postpone(claimed: ClaimedSegment, error: unknown): void {
    const { segment } = claimed
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // Another process deleted the file: nothing to retry.
      this.#unsettled.add(segment)
      segment.complete()
    } else this.#postponed.push(claimed)
    if (!this.#reported.has(segment)) this.#options.onError(error)
    this.#reported.add(segment)
  }

  async #readFrom(open: Open): Promise<void> {
    const {
      claimed,
      claimed: { segment, isFinal: wasFinal },
    } = open
    try {
      const read = await open.reader.next()
      // Dropped or closed in the meantime.
      if (this.#open !== open) return
      // The owner may still append to an unsealed batch and to the segment: this part is read again later.
      if (read?.sealedCount === undefined && !wasFinal) {
        this.#closeOpen(open)
        this.#postponed.push(claimed)
        return
      }
      claimed.nextOffset = open.reader.position
      claimed.damagedBytes = open.damagedBefore + open.reader.damagedBytes
      if (read === undefined) return this.#finish(open)
      const { batches, entries, missing } = restore(segment, read, open.settlements.get(read.batchId))
      this.#ready = batches
      this.#options.onRecovered(entries + missing)
      if (missing > 0) this.#options.onDropped(missing, 'damaged', DROP_MESSAGES.segmentDamaged.text(segment.path))
    } catch (error) {
      if (this.#open !== open) return
      this.#closeOpen(open)
      this.#postpone(claimed, error)
    }
  }

  #finish(open: Open): void {
    const {
      claimed: { segment, damagedBytes },
    } = open
    this.#closeOpen(open)
    if (damagedBytes > 0)
      this.#options.onDropped(0, 'damaged', SPOOL_MESSAGES.bytesDamaged.text(damagedBytes, segment.path))
    this.#unsettled.add(segment)
    segment.complete()
  }

  #closeOpen(open: Open): void {
    this.#open = undefined
    open.reader.close().catch(this.#options.onError)
  }
}
