/** Converts a batch read from a segment to batches to send, each with its acknowledgement. */
import type { Batch } from '../../batch/batch.js'
import type { Settlement } from './acknowledgement-log.js'
import { createPartAcknowledgements } from './segment-acknowledgement.js'
import type { ReadBatch } from './segment-reader.js'
import type { Segment } from './segment.js'
import { assembleBatches, toUnsettledBatch } from './unsettled-batch.js'

export interface RestoredBatches {
  readonly batches: Batch[]
  /** Number of entries missing in the segment. */
  readonly missing: number
}

export function restoreBatches(segment: Segment, read: ReadBatch, settlement?: Settlement): RestoredBatches {
  const unsettled = toUnsettledBatch(read, settlement)
  const assembled = assembleBatches(unsettled)
  const groups = assembled.map(({ positions }) => positions)
  const acknowledgements = createPartAcknowledgements(segment, read.batchId, groups)
  const batches = assembled.map(({ batchId, count, positions, isWhole, body }, at): Batch => ({
    batchId,
    count,
    highestSeverity: read.severity,
    body,
    acknowledgement: acknowledgements[at] as NonNullable<Batch['acknowledgement']>,
    ...(!isWhole && { origin: { batchId: read.batchId, positions } }),
  }))
  return { batches, missing: unsettled.missing }
}
