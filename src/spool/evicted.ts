/** Own batches that wait on disk alone: a position from which on all are to be read back, in order. */
import type { Batch, Place } from '../sender.js'
import { assemble } from './assemble.js'
import { SEGMENT_HEADER_BYTES } from './format.js'
import { holdParts } from './hold.js'
import { SegmentReader } from './reader.js'
import type { Segment } from './segment.js'

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
}

export class Evicted {
  readonly #options: EvictedOptions
  /** By segment. */
  readonly #waiting = new Map<number, Waiting>()
  /** Ids by segment, of those that lie among the waiting and are in memory. */
  readonly #passed = new Map<number, Set<string>>()
  #from: Place | undefined
  #reader: { readonly segment: number, readonly reader: SegmentReader } | undefined
  #entries = 0
  #batches = 0

  constructor(options: EvictedOptions) {
    this.#options = options
  }

  get entries(): number {
    return this.#entries
  }

  get batches(): number {
    return this.#batches
  }

  /** Behind those that wait: the newest of all on disk. */
  push({ place, count }: { readonly place: Place, readonly count: number }): void {
    // Between the last that was read back and this one may lie others, which stayed in memory.
    if (this.#batches === 0) {
      this.#passed.clear()
      this.#moveTo(place)
    }
    this.#count(place.segment, 1, count)
  }

  /** One that lies among those that wait, or behind them, goes past them: it is not to be read back. */
  pass({ place: { segment }, batchId }: { readonly place: Place, readonly batchId: string }): void {
    const ids = this.#passed.get(segment)
    if (ids === undefined) this.#passed.set(segment, new Set([batchId]))
    else ids.add(batchId)
  }

  /** Before those that wait: the one directly before them on disk, but for those that went past. */
  unshift({ place, count, batchId }: { readonly place: Place, readonly count: number, readonly batchId: string }): void {
    this.#passed.get(place.segment)?.delete(batchId)
    this.#moveTo(place)
    this.#count(place.segment, 1, count)
  }

  /**
   * Reads the oldest and gives it to `take`, in the same turn in which it no longer counts here.
   * @returns whether there was one. Never rejects. One call at a time.
   */
  async next(take: (batch: Batch) => void): Promise<boolean> {
    while (this.#from !== undefined && this.#batches > 0) {
      const from = this.#from
      const segment = this.#options.segments().get(from.segment)
      if (segment === undefined || (this.#waiting.get(from.segment)?.batches ?? 0) <= 0) this.#nextSegment(from.segment)
      else if (await this.#readFrom(from, segment, take)) return true
    }
    this.#forgetAll()
    return false
  }

  /** The segment is gone. @returns entries of it that waited here */
  forget(segment: number): number {
    const entries = this.#waiting.get(segment)?.entries ?? 0
    this.#count(segment, -(this.#waiting.get(segment)?.batches ?? 0), -entries)
    this.#waiting.delete(segment)
    this.#passed.delete(segment)
    if (this.#from?.segment === segment) this.#nextSegment(segment)
    return entries
  }

  /** All that wait here are in other hands, or the process ends. @returns their entries */
  forgetAll(): number {
    const entries = this.#entries
    this.#forgetAll()
    return entries
  }

  async #readFrom(from: Place, segment: Segment, take: (batch: Batch) => void): Promise<boolean> {
    const { endOf, onDropped, onError } = this.#options
    try {
      this.#reader ??= { segment: from.segment, reader: new SegmentReader(segment.path, from.offset, () => endOf(from.segment)) }
      const { reader } = this.#reader
      const offset = reader.position
      const read = await reader.next()
      // Something moved the position meanwhile: what was read counts for nothing.
      if (this.#from !== from || this.#reader?.reader !== reader) return false
      if (read === undefined) {
        this.#loseSegment(from.segment, segment)
        return false
      }
      this.#from = { segment: from.segment, offset: reader.position }
      if (this.#passed.get(from.segment)?.has(read.batchId) === true) return false
      // Not sealed: its writing failed, and it went another way. See `Spool.seal`.
      if (read.sealedCount === undefined) return false
      const { batches: [whole], missing } = assemble(read)
      const [custody] = whole === undefined ? [] : holdParts(segment, read.batchId, [whole.positions])
      this.#count(from.segment, -1, -read.sealedCount)
      if (whole !== undefined && custody !== undefined) {
        take({
          batchId: whole.batchId, count: whole.count, highestRank: read.rank, body: whole.body, custody,
          place: { segment: from.segment, offset },
          ...(!whole.isWhole && { origin: { batchId: read.batchId, positions: whole.positions } }),
        })
      }
      if (missing > 0) {
        onDropped(missing, 'damaged', `what ${segment.path} held of them is damaged or missing`)
        segment.settled(missing)
      }
      return whole !== undefined
    } catch (error) {
      onError(error)
      if (this.#from === from) this.#loseSegment(from.segment, segment)
      return false
    }
  }

  /** What was counted and is not found any more. */
  #loseSegment(number: number, segment: Segment): void {
    const entries = this.forget(number)
    if (entries > 0) this.#options.onDropped(entries, 'damaged', `batches in ${segment.path} cannot be read back`)
  }

  #moveTo(place: Place): void {
    this.#closeReader()
    this.#from = place
  }

  #nextSegment(after: number): void {
    this.#closeReader()
    for (const number of this.#passed.keys()) if (number <= after) this.#passed.delete(number)
    const next = [...this.#waiting.keys()].filter((number) => number > after).toSorted((a, b) => a - b)[0]
    this.#from = next === undefined ? undefined : { segment: next, offset: SEGMENT_HEADER_BYTES }
  }

  #count(segment: number, batches: number, entries: number): void {
    const waiting = this.#waiting.get(segment) ?? { batches: 0, entries: 0 }
    this.#waiting.set(segment, { batches: waiting.batches + batches, entries: waiting.entries + entries })
    this.#batches += batches
    this.#entries += entries
  }

  #forgetAll(): void {
    this.#closeReader()
    this.#waiting.clear()
    this.#passed.clear()
    this.#from = undefined
    this.#entries = this.#batches = 0
  }

  #closeReader(): void {
    this.#reader?.reader.close().catch(this.#options.onError)
    this.#reader = undefined
  }
}
