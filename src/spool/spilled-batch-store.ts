/** Batches of this instance that were spilled from memory and are stored on disk only. They are read back in order. */
import type { Batch, SegmentPosition } from '../batch/batch.js'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import type { CurrentInstance } from './instance/current-instance.js'
import { isResourceExhausted } from './format-version.js'
import { restoreBatches } from './segment/segment-acknowledgement.js'
import { SegmentReader } from './segment/segment-reader.js'
import type { Segment } from './segment/segment.js'

export interface SpilledBatchStoreOptions {
  readonly instance: Pick<CurrentInstance, 'segments'>
  readonly onDropped: (entries: number, reason: 'damaged', detail: string) => void
  readonly onError: (error: unknown) => void
}

type TakeSpilled = (batch: Batch, sequence: number) => void

/** Batches of one segment that are to be read back. */
interface WaitingBatches {
  /** Their numbers in the order of the log. */
  readonly sequences: number[]
  entries: number
  /** Offset from which to search for the first of them. */
  from: number
  /** The file could not be read. */
  isPostponed: boolean
  isReported: boolean
}

export class SpilledBatchStore {
  readonly #options: SpilledBatchStoreOptions
  /** By segment number. */
  readonly #waiting = new Map<number, WaitingBatches>()
  readonly #skipped = new SkippedRanges()
  #reader: { readonly segment: number; readonly reader: SegmentReader } | undefined
  #entries = 0
  #batches = 0
  /** Whether no segment can be read, because file descriptors or memory ran out. */
  #isPaused = false

  constructor(options: SpilledBatchStoreOptions) {
    this.#options = options
  }

  get entries(): number {
    return this.#entries
  }

  get batches(): number {
    return this.#batches
  }

  /** Whether `next` may return a batch. Postponed segments wait for `retry`. */
  get hasMore(): boolean {
    return this.#reader !== undefined || this.#oldestSegment !== undefined
  }

  /** The lowest sequence; Infinity if no batch waits. */
  get oldest(): number {
    let oldest = Infinity
    for (const { sequences } of this.#waiting.values()) oldest = Math.min(oldest, sequences[0] ?? Infinity)
    return oldest
  }

  /** Adds the newest batch on disk, after all others. @param sequence its number in the order of the log */
  push({ place, count }: { readonly place: SegmentPosition; readonly count: number }, sequence: number): void {
    // Batches between the last one read back and this one may have stayed in memory.
    if (this.#batches === 0) this.forgetAll()
    this.#skipped.mark(place, false)
    const waiting = this.#waitingIn(place)
    waiting.sequences.push(sequence)
    waiting.entries += count
    this.#batches += 1
    this.#entries += count
  }

  /** Marks a batch that is sent from memory before the waiting ones and must not be read back. */
  pass({ place }: { readonly place: SegmentPosition }): void {
    this.#skipped.mark(place, true)
  }

  /**
   * Reads the oldest batch and passes it to `take` in the same turn in which this class stops counting it. Never
   * rejects. One call at a time.
   * @returns whether there was one
   */
  async next(take: TakeSpilled): Promise<boolean> {
    for (;;) {
      const number = this.#reader?.segment ?? this.#oldestSegment
      if (number === undefined) return false
      const segment = this.#options.instance.segments.get(number)
      if (segment === undefined) this.forget(number)
      else if (await this.#readFrom(number, segment, take)) return true
    }
  }

  /** Retries segments that could not be read. @returns whether there are any */
  retry(): boolean {
    const postponed = [...this.#waiting.values()].filter(({ isPostponed }) => isPostponed)
    const hasFailed = this.#isPaused || postponed.length > 0
    for (const waiting of postponed) waiting.isPostponed = false
    this.#isPaused = false
    // A retried segment may be older than the segment being read.
    if (hasFailed) this.#closeReader()
    return hasFailed
  }

  /** Forgets a deleted segment. @returns its entries that were waiting */
  forget(segment: number): number {
    const { sequences, entries } = this.#waiting.get(segment) ?? { sequences: [], entries: 0 }
    this.#batches -= sequences.length
    this.#entries -= entries
    this.#waiting.delete(segment)
    this.#skipped.delete(segment)
    if (this.#reader?.segment === segment) this.#closeReader()
    return entries
  }

  /** Forgets all batches, because the folder was claimed or the process ends. @returns their entries */
  forgetAll(): number {
    const entries = this.#entries
    this.#closeReader()
    this.#waiting.clear()
    this.#skipped.clear()
    this.#isPaused = false
    this.#entries = this.#batches = 0
    return entries
  }

  async #readFrom(number: number, segment: Segment, take: TakeSpilled): Promise<boolean> {
    const { onDropped } = this.#options
    const waiting = this.#waiting.get(number) as WaitingBatches
    try {
      const { reader } = (this.#reader ??= {
        segment: number,
        reader: new SegmentReader(segment.path, waiting.from, () => segment.writtenBytes),
      })
      const read = await reader.next()
      // The position changed during the read: the result is discarded.
      if (this.#reader?.reader !== reader) return false
      if (read === undefined) {
        this.#loseSegment(number, segment)
        return false
      }
      waiting.from = reader.position
      const place = { segment: number, offset: read.offset }
      // After a failed write, a batch without a seal was sent from memory. See `WriteAheadLog.seal`.
      if (this.#skipped.has(place) || read.sealedCount === undefined) return false
      const {
        batches: [batch],
        missing,
      } = restoreBatches(segment, read)
      const sequence = waiting.sequences.shift() as number
      waiting.entries -= read.sealedCount
      this.#batches -= 1
      this.#entries -= read.sealedCount
      if (waiting.sequences.length === 0) this.#passSegment(number)
      if (batch !== undefined) take({ ...batch, place }, sequence)
      if (missing > 0) {
        onDropped(missing, 'damaged', DROP_MESSAGES.fileDamaged.text(segment.path))
        segment.settled(missing)
      }
      return batch !== undefined
    } catch (error) {
      // Otherwise the segment was forgotten during the read.
      if (this.#waiting.get(number) === waiting) this.#postpone(waiting, error)
      return false
    }
  }

  /** The entries wait until the next renewal of the lease, which detects deleted files and folders. */
  #postpone(waiting: WaitingBatches, error: unknown): void {
    this.#closeReader()
    // One unreadable file does not delay other segments. If no file can be opened, all segments wait and keep their
    // order.
    if (isResourceExhausted(error)) this.#isPaused = true
    else waiting.isPostponed = true
    if (!waiting.isReported) this.#options.onError(error)
    waiting.isReported = true
  }

  /** Drops the entries that were counted in the segment but are missing in its file. */
  #loseSegment(number: number, segment: Segment): void {
    const entries = this.forget(number)
    if (entries > 0) this.#options.onDropped(entries, 'damaged', DROP_MESSAGES.fileDamaged.text(segment.path))
  }

  /** Number of the oldest segment that may be read. */
  get #oldestSegment(): number | undefined {
    if (this.#isPaused) return undefined
    let oldest: number | undefined
    for (const [number, { isPostponed }] of this.#waiting)
      if (!isPostponed && number < (oldest ?? Infinity)) oldest = number
    return oldest
  }

  /** Forgets a segment, and the skipped ranges of it and all earlier segments without waiting batches. */
  #passSegment(number: number): void {
    this.forget(number)
    this.#skipped.deleteUpTo(number, (earlier) => this.#waiting.has(earlier))
  }

  #waitingIn({ segment, offset }: SegmentPosition): WaitingBatches {
    const waiting = this.#waiting.get(segment) ?? {
      sequences: [],
      entries: 0,
      from: offset,
      isPostponed: false,
      isReported: false,
    }
    this.#waiting.set(segment, waiting)
    return waiting
  }

  #closeReader(): void {
    this.#reader?.reader.close().catch(this.#options.onError)
    this.#reader = undefined
  }
}

/**
 * Batches that must not be read back because they are in memory. Live batches are sent before a backlog in long ranges.
 * This class stores the ends of these ranges instead of each batch. Positions are marked in disk order.
 */
class SkippedRanges {
  /** By segment: ascending offsets at which ranges alternately start and end. */
  readonly #edges = new Map<number, number[]>()

  has({ segment, offset }: SegmentPosition): boolean {
    return isInside(edgesUpTo(this.#edges.get(segment), offset))
  }

  /** Marks the batch at this position and all later ones, up to the next marked one. */
  mark(place: SegmentPosition, isPassed: boolean): void {
    const edges = this.#edges.get(place.segment) ?? []
    const before = edgesUpTo(edges, place.offset)
    if (isInside(before) === isPassed) return
    edges.push(place.offset)
    this.#edges.set(place.segment, edges)
  }

  delete(segment: number): void {
    this.#edges.delete(segment)
  }

  /** @param isKept whether a segment is still to be read */
  deleteUpTo(last: number, isKept: (segment: number) => boolean): void {
    for (const segment of this.#edges.keys()) if (segment <= last && !isKept(segment)) this.#edges.delete(segment)
  }

  clear(): void {
    this.#edges.clear()
  }
}

function edgesUpTo(edges: readonly number[] | undefined, offset: number): number {
  let count = 0
  while (edges !== undefined && count < edges.length && (edges[count] as number) <= offset) count += 1
  return count
}

/** Whether a position after this number of edges is within a range. */
function isInside(edges: number): boolean {
  return edges % 2 === 1
}
