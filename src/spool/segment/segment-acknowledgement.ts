/** Batches whose entries are in a segment, and their acknowledgements. */
import type { Batch, BatchAcknowledgement } from '../../batch/batch.js'
import type { Settlement } from './acknowledgement-log.js'
import { parseUuid } from './frame.js'
import { PositionSet } from './position-set.js'
import type { ReadBatch } from './segment-reader.js'
import type { Segment } from './segment.js'
import { assembleBatches, toUnsettledBatch } from './unsettled-batch.js'

/** A batch in a segment. All acknowledgements of its sub-batches share it. */
interface StoredBatch {
  readonly segment: Segment
  /** 16 bytes. */
  readonly id: Uint8Array
  unsettled: PositionSet
}

class SegmentAcknowledgement implements BatchAcknowledgement {
  readonly #batch: StoredBatch
  /** Position in the stored batch of each entry of this sub-batch. */
  readonly #positions: readonly number[]
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
    const { segment, id } = this.#batch
    const positions = this.#positionsAt(indices)
    if (!segment.isGone) segment.acknowledgements.recordPart(id, PositionSet.from(positions))
    return new SegmentAcknowledgement(this.#batch, positions)
  }

  acknowledge(indices?: readonly number[]): void {
    const { segment, id, unsettled } = this.#batch
    const positions = indices === undefined ? this.#all : PositionSet.from(this.#positionsAt(indices))
    // Usually the whole batch is settled at once.
    const settled = positions === unsettled ? unsettled : unsettled.intersection(positions)
    if (settled.size === 0) return
    this.#batch.unsettled = positions === unsettled ? NONE : unsettled.difference(settled)
    // The segment was dropped, or claimed by another process.
    if (segment.isGone) return
    segment.acknowledgements.recordSettled(id, settled)
    segment.settled(settled.size)
  }

  #positionsAt(indices: readonly number[]): number[] {
    return indices.map((index) => this.#positions[index]).filter((position) => position !== undefined)
  }
}

/**
 * Converts a batch read from a segment to batches to send, each with its acknowledgement.
 * @returns also the number of entries that are missing in the segment
 */
export function restoreBatches(
  segment: Segment,
  read: ReadBatch,
  settlement?: Settlement,
): { batches: Batch[]; missing: number } {
  const unsettled = toUnsettledBatch(read, settlement)
  const assembled = assembleBatches(unsettled)
  const all = PositionSet.from(assembled.flatMap(({ positions }) => positions))
  const stored: StoredBatch = { segment, id: parseUuid(read.batchId), unsettled: all }
  const batches = assembled.map(({ batchId, count, positions, isWhole, body }): Batch => ({
    batchId,
    count,
    highestSeverity: read.severity,
    body,
    acknowledgement: new SegmentAcknowledgement(stored, positions),
    ...(!isWhole && { origin: { batchId: read.batchId, positions } }),
  }))
  return { batches, missing: unsettled.missing }
}

const NONE = PositionSet.empty()
/** Lists and sets shared by all batches of the same number of entries. */
const WHOLE_BATCHES: { readonly positions: readonly number[]; readonly all: PositionSet }[] = []

/** @param id 16 bytes */
export function createAcknowledgement(segment: Segment, id: Uint8Array, count: number): BatchAcknowledgement {
  const { positions, all } = (WHOLE_BATCHES[count] ??= {
    positions: [...Array(count).keys()],
    all: PositionSet.first(count),
  })
  return new SegmentAcknowledgement({ segment, id, unsettled: all }, positions, all)
}
