/** Acknowledgement of a batch whose entries are in a segment. */
import type { BatchAcknowledgement } from '../../batch/batch.js'
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
  /** The same as a set. */
  readonly #all: PositionSet

  constructor(batch: StoredBatch, positions: readonly number[], all = PositionSet.from(positions)) {
    this.#batch = batch
    this.#positions = positions
    this.#all = all
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
    const positions = indices === undefined ? this.#all : PositionSet.from(this.#positionsAt(indices))
    // Usually the whole batch is settled at once.
    const settled = positions === unsettled ? unsettled : unsettled.intersection(positions)
    if (settled.size === 0) return
    this.#batch.unsettled = positions === unsettled ? NONE : unsettled.difference(settled)
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

const NONE = PositionSet.empty()
/** Lists and sets shared by all batches of the same number of entries. */
const WHOLE_BATCHES: { readonly positions: readonly number[]; readonly all: PositionSet }[] = []

export function createAcknowledgement(segment: Segment, batchId: string, count: number): BatchAcknowledgement {
  const { positions, all } = (WHOLE_BATCHES[count] ??= {
    positions: [...Array(count).keys()],
    all: PositionSet.first(count),
  })
  return new SegmentAcknowledgement({ segment, batchId, unsettled: all }, positions, all)
}
