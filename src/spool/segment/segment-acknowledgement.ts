/** Acknowledgement of a batch whose entries are in a segment. */
import type { BatchAcknowledgement } from '../../batch/sender.js'
import { PositionSet } from './position-set.js'
import type { Segment } from './segment.js'

/** A batch in a segment. All acknowledgements of its sub-batches share it. */
interface StoredBatch {
  readonly segment: Segment
  readonly batchId: string
  unsettled: PositionSet
}

class SegmentAcknowledgement implements BatchAcknowledgement {
  readonly #batch: StoredBatch
  /** Position in the stored batch of each entry of this sub-batch. */
  readonly #positions: readonly number[]

  constructor(batch: StoredBatch, positions: readonly number[]) {
    this.#batch = batch
    this.#positions = positions
  }

  get isDurable(): boolean {
    return !this.#batch.segment.isGone
  }

  createPart(indices: readonly number[]): BatchAcknowledgement {
    const { segment, batchId } = this.#batch
    const positions = this.#positionsAt(indices)
    if (!segment.isGone) segment.acknowledgements.recordPart(batchId, PositionSet.from(positions))
    return new SegmentAcknowledgement(this.#batch, positions)
  }

  acknowledge(indices?: readonly number[]): void {
    const { segment, batchId, unsettled } = this.#batch
    const positions = indices === undefined ? this.#positions : this.#positionsAt(indices)
    const settled = unsettled.intersection(PositionSet.from(positions))
    if (settled.size === 0) return
    this.#batch.unsettled = unsettled.difference(settled)
    // The segment was dropped, or claimed by another process.
    if (segment.isGone) return
    segment.acknowledgements.recordSettled(batchId, settled)
    segment.settled(settled.size)
  }

  #positionsAt(indices: readonly number[]): number[] {
    return indices.map((index) => this.#positions[index]).filter((position) => position !== undefined)
  }
}

/** @param groups positions in the stored batch, one list per sub-batch @returns one acknowledgement per sub-batch */
export function createPartAcknowledgements(
  segment: Segment,
  batchId: string,
  groups: readonly (readonly number[])[],
): BatchAcknowledgement[] {
  const batch = { segment, batchId, unsettled: PositionSet.from(groups.flat()) }
  return groups.map((positions) => new SegmentAcknowledgement(batch, positions))
}

/** By count: batches share these lists. */
const ALL_POSITIONS = Array.from({ length: 101 }, (_, count) => [...Array(count).keys()])

export function createAcknowledgement(segment: Segment, batchId: string, count: number): BatchAcknowledgement {
  return new SegmentAcknowledgement(
    { segment, batchId, unsettled: PositionSet.first(count) },
    ALL_POSITIONS[count] as readonly number[],
  )
}
