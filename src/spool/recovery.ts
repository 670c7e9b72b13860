/** Claims segments of exited processes and reads them back, one batch at a time. */
import type { Batch } from '../batch/batch.js'
import { DROP_MESSAGES, SPOOL_MESSAGES } from '../diagnostics/messages.js'
import { toAcknowledgementLogPath } from './disk-format.js'
import type { EvictionCandidate } from './retention/eviction.js'
import { DeletionQueue } from './retention/deletion-queue.js'
import { isClaimExpired } from './retention/expiry.js'
import { readAcknowledgements } from './segment/acknowledgement-log.js'
import type { Settlement } from './segment/acknowledgement-log.js'
import { restoreBatches } from './segment/segment-acknowledgement.js'
import { SegmentReader } from './segment/segment-reader.js'
import type { Segment } from './segment/segment.js'
import { TimeSlicedTask } from './time-sliced-task.js'
import { openClaimedSegments } from './instance/claimed-segment.js'
import type { ClaimedSegment } from './instance/claimed-segment.js'
import { Claims } from './instance/claims.js'
import type { ClaimsOptions } from './instance/claims.js'
import { removeSettledFolder } from './instance/instance-folder.js'
import type { ClaimedInPlace, InstanceFolder } from './instance/instance-folder.js'

export interface RecoveryOptions extends ClaimsOptions {
  readonly maxAgeMs: number
  /** Called with the number of claimed entries after reading them. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: 'spool' | 'age' | 'damaged', detail: string) => void
}

/** The segment being read. */
interface OpenSegment {
  readonly claimed: ClaimedSegment
  readonly reader: SegmentReader
  /** `damagedBytes` of the segment when it was opened. */
  readonly damagedBefore: number
  readonly settlements: ReadonlyMap<string, Settlement>
}

export class Recovery {
  readonly #options: RecoveryOptions
  readonly claims: Claims
  readonly scanning: TimeSlicedTask
  readonly #deletions: DeletionQueue
  /** Oldest first. */
  #waiting: ClaimedSegment[] = []
  /** Segments that cannot be read at present; retried at the next scan. */
  #postponed: ClaimedSegment[] = []
  readonly #reported = new WeakSet<Segment>()
  #open: OpenSegment | undefined
  #ready: Batch[] = []
  /** Segments with unsettled entries that were read completely or deleted by another process. */
  readonly #unsettled = new Set<Segment>()
  #isScanning = false
  #isClosed = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.claims = new Claims(options)
    this.scanning = new TimeSlicedTask(options.clock)
    this.#deletions = new DeletionQueue(options)
  }

  /** Whether `next` may return a batch. */
  get hasMore(): boolean {
    return !this.#isClosed && (this.#ready.length > 0 || this.#open !== undefined || this.#waiting.length > 0)
  }

  get isScanning(): boolean {
    return this.#isScanning && !this.#isClosed
  }

  /** All claimed segments on disk. */
  get segments(): Segment[] {
    return [...this.#unread.map(({ segment }) => segment), ...this.#deletions.segments, ...this.#unsettled]
  }

  /** Segments that can be deleted to make space, oldest first. */
  get evictable(): EvictionCandidate[] {
    const final = this.#unread.filter(({ isFinal }) => isFinal)
    return final.map((claimed) => ({ bytes: claimed.bytes, evict: () => this.#evict(claimed) }))
  }

  /** Bytes that will be deleted after their entries are counted. */
  get droppingBytes(): number {
    return this.#deletions.bytes
  }

  get #unread(): ClaimedSegment[] {
    const open = this.#open === undefined ? [] : [this.#open.claimed]
    return [...open, ...this.#waiting, ...this.#postponed].filter(({ isDropped }) => !isDropped)
  }

  /** Entries that were read but not returned by `next` yet. */
  get readyEntries(): number {
    return countEntries(this.#ready)
  }

  /** Ready entries that are no longer on disk because their segment was dropped. */
  get memoryOnlyEntries(): number {
    return countEntries(this.#ready.filter(({ acknowledgement }) => acknowledgement?.isDurable !== true))
  }

  /** Forgets the ready entries; the caller counts them. */
  forgetReady(): void {
    this.#ready = []
  }

  /**
   * Claims all free folders, oldest first, each by one rename into the instance's folder. Works in time slices.
   * @param onSlice called after each time slice
   * @returns a promise that resolves when the scan ends. Never rejects
   */
  async scan(instance: InstanceFolder, onSlice: () => void = () => {}): Promise<void> {
    this.#deletions.retry()
    this.#waiting.push(...this.#postponed.splice(0))
    if (this.scanning.isBusy) return
    const onClaimed = (): void => {
      this.#waiting.sort(({ segment: a }, { segment: b }) => (a.path < b.path ? -1 : 1))
      onSlice()
    }
    this.#isScanning = true
    await this.scanning.run(this.#claim(instance), onClaimed).catch(this.#options.onError)
    this.#isScanning = false
  }

  /**
   * Reads the next batch and passes it to `take` in the same turn in which it leaves `readyEntries`. Never rejects. One
   * call at a time.
   * @returns whether there was one
   */
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
    for (const segment of this.#forgetSegments()) segment.close()
  }

  /** Called when another process has claimed all claimed segments. */
  abandon(): void {
    for (const segment of this.#forgetSegments()) segment.abandon()
    this.#unsettled.clear()
  }

  /** @returns all claimed segments that are not settled */
  #forgetSegments(): Segment[] {
    const all = this.segments
    this.scanning.cancel()
    this.#deletions.clear()
    if (this.#open !== undefined) this.#close(this.#open)
    for (const list of [this.#waiting, this.#postponed, this.#ready]) list.length = 0
    return all
  }

  *#claim(instance: InstanceFolder): Generator<void> {
    for (const folders of this.claims.claim(instance)) {
      for (const folder of folders)
        yield* this.#addSegments(folder, folder === instance.path ? instance.claimedInPlace : undefined)
      yield
    }
  }

  *#addSegments(folder: string, claimedInPlace?: ClaimedInPlace): Generator<void> {
    const found: ClaimedSegment[] = []
    let left = 0
    const onRemoved = (segment: Segment): void => {
      this.#unsettled.delete(segment)
      left -= 1
      // Only for the last one, because this lists the whole folder.
      if (left === 0 && claimedInPlace === undefined) this.#removeIfSettled(folder)
    }
    for (const claimed of openClaimedSegments(folder, this.#options, onRemoved, claimedInPlace)) {
      found.push(claimed)
      yield
    }
    left = found.length
    // Added together, because after a failure the next scan retries the whole folder.
    this.#waiting.push(...found)
    if (left === 0 && claimedInPlace === undefined) this.#removeIfSettled(folder)
  }

  #removeIfSettled(folder: string): void {
    try {
      removeSettledFolder(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#options.onError(error)
    }
  }

  /** @returns a promise if the segment is too old; it resolves once the segment is counted and deleted */
  #openNext(): OpenSegment | Promise<void> | undefined {
    const { clock, machine, maxAgeMs } = this.#options
    for (let claimed = this.#waiting.shift(); claimed !== undefined; claimed = this.#waiting.shift()) {
      if (claimed.isDropped) continue
      try {
        if (!isClaimExpired(claimed.segment.path, { machine, wallNowMs: clock.wallNow(), maxAgeMs }))
          return openSegment(claimed)
        if (claimed.isFinal) return this.#deletions.add(claimed, 'age', DROP_MESSAGES.tooOld.text(maxAgeMs))
        this.#postponed.push(claimed)
      } catch (error) {
        this.#postpone(claimed, error)
      }
    }
    return undefined
  }

  /** Queues the segment for deletion, after its entries are counted. @returns its bytes */
  #evict(claimed: ClaimedSegment): number {
    if (this.#open?.claimed === claimed) this.#close(this.#open)
    void this.#deletions.add(claimed, 'spool', DROP_MESSAGES.spoolFull.text())
    return claimed.bytes
  }

  #postpone(claimed: ClaimedSegment, error: unknown): void {
    const { segment } = claimed
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // Not retried, because another process deleted the file.
      this.#unsettled.add(segment)
      segment.complete()
    } else this.#postponed.push(claimed)
    if (!this.#reported.has(segment)) this.#options.onError(error)
    this.#reported.add(segment)
  }

  async #readFrom(current: OpenSegment): Promise<void> {
    const { claimed, reader, damagedBefore, settlements } = current
    const { segment, isFinal: wasFinal } = claimed
    const { onRecovered, onDropped } = this.#options
    try {
      const read = await reader.next()
      // Dropped or closed in the meantime.
      if (this.#open !== current) return
      // The owner may still append to an unsealed batch and to the segment, so this part is read again later.
      if (read?.sealedCount === undefined && !wasFinal) {
        this.#close(current)
        this.#postponed.push(claimed)
        return
      }
      claimed.nextOffset = reader.position
      claimed.damagedBytes = damagedBefore + reader.damagedBytes
      if (read === undefined) return this.#finish(current)
      const { batches, missing } = restoreBatches(segment, read, settlements.get(read.batchId))
      const entries = countEntries(batches)
      segment.add(entries)
      this.#ready = batches
      onRecovered(entries + missing)
      if (missing > 0) onDropped(missing, 'damaged', DROP_MESSAGES.fileDamaged.text(segment.path))
    } catch (error) {
      if (this.#open !== current) return
      this.#close(current)
      this.#postpone(claimed, error)
    }
  }

  #finish(current: OpenSegment): void {
    const { segment, damagedBytes } = current.claimed
    this.#close(current)
    if (damagedBytes > 0)
      this.#options.onDropped(0, 'damaged', SPOOL_MESSAGES.bytesDamaged.text(damagedBytes, segment.path))
    this.#unsettled.add(segment)
    segment.complete()
  }

  #close({ reader }: OpenSegment): void {
    this.#open = undefined
    reader.close().catch(this.#options.onError)
  }
}

/** @throws the system's errors, UnsafeError */
function openSegment(claimed: ClaimedSegment): OpenSegment {
  const { segment, nextOffset, damagedBytes } = claimed
  const settlements = readAcknowledgements(toAcknowledgementLogPath(segment.path))
  const reader = new SegmentReader(segment.path, nextOffset, undefined, () => !claimed.isFinal)
  return { claimed, damagedBefore: damagedBytes, settlements, reader }
}

function countEntries(batches: readonly Batch[]): number {
  return batches.reduce((sum, { count }) => sum + count, 0)
}
