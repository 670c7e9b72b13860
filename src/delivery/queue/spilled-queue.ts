/**
 * Batches of this process that wait on disk only, and batches read back. Each keeps its sequence number, although
 * younger batches may have been sent before it.
 */
import type { Batch, SegmentPosition } from '../../batch/batch.js'
import { Fifo } from './fifo.js'
import type { DiskBacklog } from './recovered-queue.js'

export type BatchOnDisk = Batch & { readonly place: SegmentPosition }

/** Batches of this process on disk, by position. */
export interface SpilledBatches extends DiskBacklog {
  readonly batches: number
  push(batch: BatchOnDisk): void
  /** Adds a batch before the waiting ones. */
  unshift(batch: BatchOnDisk): void
  /** Marks a batch, stored between or after the waiting ones, that must not be read back. */
  pass(batch: BatchOnDisk): void
}

export interface SequencedBatch {
  readonly sequence: number
  readonly batch: Batch
}

/** Consecutive sequence numbers of one segment. */
interface Range {
  readonly segment: number
  first: number
  count: number
}

export class SpilledQueue {
  readonly #disk: SpilledBatches
  readonly #returned = new Fifo<SequencedBatch>()
  #ranges: Range[] = []
  #waiting = 0
  #readingFrom: number | undefined

  constructor(disk: SpilledBatches) {
    this.#disk = disk
  }

  /** Whether no batch waits on disk or is being read. */
  get isEmpty(): boolean {
    return this.#disk.batches === 0 && this.#readingFrom === undefined
  }

  /** Whether a batch can be read back now. */
  get isReadable(): boolean {
    return this.#disk.hasMore && this.#readingFrom === undefined
  }

  get isReading(): boolean {
    return this.#readingFrom !== undefined
  }

  /** Sequence number of the oldest batch that was read back but not sent. */
  get firstReturned(): number | undefined {
    return this.#returned.first?.sequence
  }

  /** Sequence number of the oldest batch on disk. */
  get firstSequence(): number | undefined {
    this.#forgetLost()
    return this.#ranges[0]?.first
  }

  /** Lowest sequence number in this queue. */
  get oldest(): number {
    return Math.min(this.firstReturned ?? Infinity, this.#readingFrom ?? Infinity, this.firstSequence ?? Infinity)
  }

  push(sequence: number, batch: BatchOnDisk): void {
    this.#forgetLost()
    this.#disk.push(batch)
    this.#waiting += 1
    const last = this.#ranges.at(-1)
    const { segment } = batch.place
    if (last?.segment === segment && last.first + last.count === sequence) last.count += 1
    else this.#ranges.push({ segment, first: sequence, count: 1 })
  }

  /** Records that the batch is sent from memory before the waiting ones. */
  pass(batch: BatchOnDisk): void {
    this.#disk.pass(batch)
  }

  /** Spills the batch directly before those on disk. */
  unshift({ sequence, batch }: SequencedBatch, place: SegmentPosition): void {
    this.#forgetLost()
    this.#disk.unshift({ ...batch, place })
    this.#waiting += 1
    this.#ranges.unshift({ segment: place.segment, first: sequence, count: 1 })
  }

  /** Adds batches in memory to those read back. */
  keep(batches: readonly SequencedBatch[]): void {
    const all = [...batches]
    for (let one = this.#returned.shift(); one !== undefined; one = this.#returned.shift()) all.push(one)
    for (const one of all.toSorted((a, b) => a.sequence - b.sequence)) this.#returned.push(one)
  }

  shift(): SequencedBatch | undefined {
    return this.#returned.shift()
  }

  /** Reads the oldest batch back. One call at a time. @param onTaken called in the turn in which it is in memory */
  async read(onTaken: (taken: SequencedBatch) => void): Promise<void> {
    this.#readingFrom = this.firstSequence ?? Infinity
    await this.#disk.next((batch) => {
      // The disk no longer counts this batch. Batches before it may have been lost.
      while (this.#waiting > this.#disk.batches + 1) this.#dropFirst()
      // The disk skips segments that cannot be read at present, so this may not be the oldest batch.
      const taken = { sequence: this.#dropFirst(batch.place?.segment), batch }
      // Younger batches may have been added in the meantime.
      if ((this.#returned.last?.sequence ?? -1) < taken.sequence) this.#returned.push(taken)
      else this.keep([taken])
      onTaken(taken)
    })
    this.#readingFrom = undefined
  }

  /** The disk reports only the number of batches. The dropped ones are usually the oldest. */
  #forgetLost(): void {
    while (this.#waiting > this.#disk.batches) this.#dropFirst()
  }

  /** @param segment of the batch; default: the oldest */
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
