/**
 * The lane of the app's own batches that wait on disk alone, and of those that were read back from there. Each keeps the
 * order in which it came, though younger ones may have gone past it.
 */
import type { Batch, SegmentPosition } from '../../batch/sender.js'
import { Fifo } from './fifo.js'
import type { DiskBacklog } from './recovered-lane.js'

export type BatchOnDisk = Batch & { readonly place: SegmentPosition }

/** Own batches on disk, in the order of their places. */
export interface EvictedBatches extends DiskBacklog {
  readonly batches: number
  push(batch: BatchOnDisk): void
  /** Directly before those that wait, but for what has passed them. */
  unshift(batch: BatchOnDisk): void
  /** It lies between those that wait, or behind them, and is not to be read back. */
  pass(batch: BatchOnDisk): void
}

export interface SequencedBatch {
  readonly sequence: number
  readonly batch: Batch
}

/** Orders from `first` on, in one segment. */
interface Range {
  readonly segment: number
  first: number
  count: number
}

export class EvictedLane {
  readonly #disk: EvictedBatches
  readonly #returned = new Fifo<SequencedBatch>()
  #ranges: Range[] = []
  #waiting = 0
  #readingFrom: number | undefined

  constructor(disk: EvictedBatches) {
    this.#disk = disk
  }

  /** Whether none waits on disk, nor is on its way from there. */
  get isEmpty(): boolean {
    return this.#disk.batches === 0 && this.#readingFrom === undefined
  }

  /** Whether one can be read back now. */
  get isReadable(): boolean {
    return this.#disk.hasMore && this.#readingFrom === undefined
  }

  get isReading(): boolean {
    return this.#readingFrom !== undefined
  }

  /** Order of the oldest that was read back, and not sent. */
  get firstReturned(): number | undefined {
    return this.#returned.first?.sequence
  }

  /** Of those on disk; undefined where there is none. */
  get firstSequence(): number | undefined {
    this.#forgetLost()
    return this.#ranges[0]?.first
  }

  /** Of all that wait here. */
  get oldest(): number {
    return Math.min(this.firstReturned ?? Infinity, this.#readingFrom ?? Infinity, this.firstSequence ?? Infinity)
  }

  push(order: number, batch: BatchOnDisk): void {
    this.#forgetLost()
    this.#disk.push(batch)
    this.#waiting += 1
    const last = this.#ranges.at(-1)
    const { segment } = batch.place
    if (last?.segment === segment && last.first + last.count === order) last.count += 1
    else this.#ranges.push({ segment, first: order, count: 1 })
  }

  /** In memory it goes past those that wait. */
  pass(batch: BatchOnDisk): void {
    this.#disk.pass(batch)
  }

  /** The one directly before those on disk goes back there. */
  unshift({ sequence: order, batch }: SequencedBatch, place: SegmentPosition): void {
    this.#forgetLost()
    this.#disk.unshift({ ...batch, place })
    this.#waiting += 1
    this.#ranges.unshift({ segment: place.segment, first: order, count: 1 })
  }

  /** These are in memory, and wait with what was read back. */
  keep(batches: readonly SequencedBatch[]): void {
    const all = [...batches]
    for (let one = this.#returned.shift(); one !== undefined; one = this.#returned.shift()) all.push(one)
    for (const one of all.toSorted((a, b) => a.sequence - b.sequence)) this.#returned.push(one)
  }

  shift(): SequencedBatch | undefined {
    return this.#returned.shift()
  }

  /** Reads the oldest back. One call at a time. @param onTaken in the turn in which it is in memory */
  async read(onTaken: (taken: SequencedBatch) => void): Promise<void> {
    this.#readingFrom = this.firstSequence ?? Infinity
    await this.#disk.next((batch) => {
      // It no longer counts on disk. Some before it may have been lost.
      while (this.#waiting > this.#disk.batches + 1) this.#dropFirst()
      // A segment that cannot be read for now is passed over.
      const taken = { sequence: this.#dropFirst(batch.place?.segment), batch }
      // Younger ones may have been put aside meanwhile.
      if ((this.#returned.last?.sequence ?? -1) < taken.sequence) this.#returned.push(taken)
      else this.keep([taken])
      onTaken(taken)
    })
    this.#readingFrom = undefined
  }

  /** The disk tells how many there are, and not which were lost: the oldest, mostly. */
  #forgetLost(): void {
    while (this.#waiting > this.#disk.batches) this.#dropFirst()
  }

  /** @param segment in which it is; default: the oldest */
  #dropFirst(segment?: number): number {
    const at = Math.max(
      this.#ranges.findIndex((range) => range.segment === segment),
      0,
    )
    const first = this.#ranges[at]
    if (first === undefined) return Infinity
    this.#waiting -= 1
    first.count -= 1
    if (first.count === 0) this.#ranges.splice(at, 1)
    return first.first++
  }
}
