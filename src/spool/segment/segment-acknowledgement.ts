/** Custody of a batch whose entries lie in a segment. */
import type { BatchAcknowledgement } from '../../batch/sender.js'
import { PositionSet } from './position-set.js'
import type { Segment } from './segment.js'

/** What is left of one batch. Shared by the custody of all its parts. */
class Remainder {
  readonly segment: Segment
  readonly batchId: string
  #left: PositionSet

  constructor(segment: Segment, batchId: string, left: PositionSet) {
    this.segment = segment
    this.batchId = batchId
    this.#left = left
  }

  get isKept(): boolean {
    return !this.segment.isGone
  }

  part(positions: PositionSet): void {
    if (!this.segment.isGone) this.segment.acknowledgements.recordPart(this.batchId, positions)
  }

  settle(positions: PositionSet): void {
    const settled = this.#left.intersection(positions)
    const count = settled.size
    if (count === 0) return
    this.#left = this.#left.difference(settled)
    // Dropped or claimed.
    if (this.segment.isGone) return
    this.segment.acknowledgements.recordSettled(this.batchId, settled)
    this.segment.settled(count)
  }
}

class Hold implements BatchAcknowledgement {
  readonly #remainder: Remainder
  /** In the batch that was cut, by position here. */
  readonly #positions: readonly number[]

  constructor(remainder: Remainder, positions: readonly number[]) {
    this.#remainder = remainder
    this.#positions = positions
  }

  get isDurable(): boolean {
    return this.#remainder.isKept
  }

  createPart(positions: readonly number[]): BatchAcknowledgement {
    const inBatch = this.#inBatch(positions)
    this.#remainder.part(PositionSet.from(inBatch))
    return new Hold(this.#remainder, inBatch)
  }

  acknowledge(positions?: readonly number[]): void {
    this.#remainder.settle(PositionSet.from(positions === undefined ? this.#positions : this.#inBatch(positions)))
  }

  #inBatch(positions: readonly number[]): number[] {
    return positions.map((at) => this.#positions[at]).filter((at) => at !== undefined)
  }
}

/** @param groups positions of the batch that was cut, one list for each batch that it goes on as @returns the custody of each */
export function createPartAcknowledgements(
  segment: Segment,
  batchId: string,
  groups: readonly (readonly number[])[],
): BatchAcknowledgement[] {
  const remainder = new Remainder(segment, batchId, PositionSet.from(groups.flat()))
  return groups.map((positions) => new Hold(remainder, positions))
}

/** By count: batches share them. */
const ALL_POSITIONS = Array.from({ length: 101 }, (_, count) => [...Array(count).keys()])

export function createAcknowledgement(segment: Segment, batchId: string, count: number): BatchAcknowledgement {
  return new Hold(new Remainder(segment, batchId, PositionSet.first(count)), ALL_POSITIONS[count] as readonly number[])
}
