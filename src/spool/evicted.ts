/** Own batches that wait on disk alone: a position from which on all are to be read back, in order. */
import type { Batch, Place } from '../sender.js'
import { assemble } from './assemble.js'
import { holdParts } from './hold.js'
import { Passed } from './passed.js'
import { SegmentReader } from './reader.js'
import type { Segment } from './segment.js'
import { isOutOfFiles } from './survey.js'

export interface EvictedOptions {
  /** Own segments by number. */
  readonly segments: () => ReadonlyMap<number, Segment>
  /** Up to where a segment may be read. */
  readonly endOf: (segment: number) => number
  readonly onDropped: (entries: number, reason: 'damaged', detail: string) => void
  readonly onError: (error: unknown) => void
}

interface Waiting {
  batches: number
  entries: number
  /** Offset of the first that may be one of them. */
  from: number
  /** The file could not be read. */
  isPostponed: boolean
  isReported: boolean
}

export class Evicted {
  readonly #options: EvictedOptions
  /** By segment. */
  readonly #waiting = new Map<number, Waiting>()
  readonly #passed = new Passed()
  #reader: { readonly segment: number, readonly reader: SegmentReader } | undefined
  #entries = 0
  #batches = 0
  /** No file could be read. */
  #isPaused = false

  constructor(options: EvictedOptions) {
    this.#options = options
  }

  get entries(): number {
    return this.#entries
  }

  get batches(): number {
    return this.#batches
  }

  /** Whether `next` may find something: what is postponed waits for `retry`. */
  get hasMore(): boolean {
    return this.#reader !== undefined || this.#oldest !== undefined
  }

  /** Behind those that wait: the newest of all on disk. */
  push({ place, count }: { readonly place: Place, readonly count: number }): void {
    // Between the last that was read back and this one may lie others, which stayed in memory.
    if (this.#batches === 0) this.#forgetAll()
    this.#passed.mark(place, false)
    this.#count(place, 1, count)
  }

  /** One that lies among those that wait, or behind them, goes past them: it is not to be read back. */
  pass({ place }: { readonly place: Place }): void {
    this.#passed.mark(place, true)
  }

  /** Before those that wait: the one directly before them on disk, but for those that went past. */
  unshift({ place, count }: { readonly place: Place, readonly count: number }): void {
    this.#passed.markOne(place, false)
    this.#closeReader()
    this.#count(place, 1, count).from = place.offset
  }

  /**
   * Reads the oldest and gives it to `take`, in the same turn in which it no longer counts here.
   * @returns whether there was one. Never rejects. One call at a time.
   */
  async next(take: (batch: Batch) => void): Promise<boolean> {
    for (;;) {
      const number = this.#reader?.segment ?? this.#oldest
      const segment = number === undefined ? undefined : this.#options.segments().get(number)
      if (number === undefined) return false
      if (segment === undefined) this.forget(number)
      else if (await this.#readFrom(number, segment, take)) return true
    }
  }

  /** What could not be read is tried again. @returns whether there is any */
  retry(): boolean {
    const postponed = [...this.#waiting.values()].filter(({ isPostponed }) => isPostponed)
    const hasFailed = this.#isPaused || postponed.length > 0
    for (const waiting of postponed) waiting.isPostponed = false
    this.#isPaused = false
    // It may be older than what is read now.
    if (hasFailed) this.#closeReader()
    return hasFailed
  }

  /** The segment is gone. @returns entries of it that waited here */
  forget(segment: number): number {
    const { batches, entries } = this.#waiting.get(segment) ?? { batches: 0, entries: 0 }
    this.#batches -= batches
    this.#entries -= entries
    this.#waiting.delete(segment)
    this.#passed.delete(segment)
    if (this.#reader?.segment === segment) this.#closeReader()
    return entries
  }

  /** All that wait here are in other hands, or the process ends. @returns their entries */
  forgetAll(): number {
    const entries = this.#entries
    this.#forgetAll()
    return entries
  }

  async #readFrom(number: number, segment: Segment, take: (batch: Batch) => void): Promise<boolean> {
    const { endOf, onDropped } = this.#options
    const waiting = this.#waiting.get(number) as Waiting
    try {
      const { reader } = this.#reader ??= { segment: number, reader: new SegmentReader(segment.path, waiting.from, () => endOf(number)) }
      const read = await reader.next()
      // Something moved the position meanwhile: what was read counts for nothing.
      if (this.#reader?.reader !== reader) return false
      if (read === undefined) {
        this.#loseSegment(number, segment)
        return false
      }
      waiting.from = reader.position
      const place = { segment: number, offset: read.offset }
      if (this.#passed.has(place)) return false
      // Not sealed: its writing failed, and it went another way. See `Spool.seal`.
      if (read.sealedCount === undefined) return false
      const { batches: [whole], missing } = assemble(read)
      const [custody] = whole === undefined ? [] : holdParts(segment, read.batchId, [whole.positions])
      this.#count(place, -1, -read.sealedCount)
      if (waiting.batches === 0) this.#passSegment(number)
      if (whole !== undefined && custody !== undefined) {
        take({
          batchId: whole.batchId, count: whole.count, highestRank: read.rank, body: whole.body, custody, place,
          ...(!whole.isWhole && { origin: { batchId: read.batchId, positions: whole.positions } }),
        })
      }
      if (missing > 0) {
        onDropped(missing, 'damaged', `what ${segment.path} held of them is damaged or missing`)
        segment.settled(missing)
      }
      return whole !== undefined
    } catch (error) {
      // Otherwise it was moved meanwhile.
      if (this.#waiting.get(number) === waiting) this.#postpone(waiting, error)
      return false
    }
  }

  /** Whether the file is gone, or the whole folder, is found at the next renewal: until then the entries wait. */
  #postpone(waiting: Waiting, error: unknown): void {
    this.#closeReader()
    // Others need not wait for a damaged file; where it is not the file that fails, all keep their order.
    if (isOutOfFiles(error)) this.#isPaused = true
    else waiting.isPostponed = true
    if (!waiting.isReported) this.#options.onError(error)
    waiting.isReported = true
  }

  /** What was counted and is not found any more. */
  #loseSegment(number: number, segment: Segment): void {
    const entries = this.forget(number)
    if (entries > 0) this.#options.onDropped(entries, 'damaged', `batches in ${segment.path} cannot be read back`)
  }

  /** Number of the oldest segment that may be read. */
  get #oldest(): number | undefined {
    if (this.#isPaused) return undefined
    let oldest: number | undefined
    for (const [number, { isPostponed }] of this.#waiting) if (!isPostponed && number < (oldest ?? Infinity)) oldest = number
    return oldest
  }

  /** None waits there any more, nor in front of it but for what is postponed. */
  #passSegment(number: number): void {
    this.forget(number)
    this.#passed.deleteUpTo(number, (passed) => this.#waiting.has(passed))
  }

  #count({ segment, offset }: Place, batches: number, entries: number): Waiting {
    const waiting = this.#waiting.get(segment) ?? { batches: 0, entries: 0, from: offset, isPostponed: false, isReported: false }
    this.#waiting.set(segment, waiting)
    waiting.batches += batches
    waiting.entries += entries
    this.#batches += batches
    this.#entries += entries
    return waiting
  }

  #forgetAll(): void {
    this.#closeReader()
    this.#waiting.clear()
    this.#passed.clear()
    this.#isPaused = false
    this.#entries = this.#batches = 0
  }

  #closeReader(): void {
    this.#reader?.reader.close().catch(this.#options.onError)
    this.#reader = undefined
  }
}
