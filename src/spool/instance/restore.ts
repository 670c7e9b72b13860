/** Turns a claimed batch that was read from disk into batches to be sent, with their custody. */
import type { Batch } from '../../batch/sender.js'
import { assemble } from '../segment/assemble.js'
import { createPartAcknowledgements } from '../segment/segment-acknowledgement.js'
import type { Settlement } from '../segment/acknowledgement-log.js'
import type { ReadBatch } from '../segment/segment-reader.js'
import type { Segment } from '../segment/segment.js'

export interface Restored {
  readonly batches: Batch[]
  /** Entries in the batches. They were added to the segment's count. */
  readonly entries: number
  /** Entries that the seal counts and the segment does not contain. */
  readonly missing: number
}

export function restore(segment: Segment, read: ReadBatch, settlement: Settlement | undefined): Restored {
  const { batches, missing } = assemble(read, settlement)
  const entries = batches.reduce((sum, { count }) => sum + count, 0)
  segment.add(entries)
  const custody = createPartAcknowledgements(
    segment,
    read.batchId,
    batches.map(({ positions }) => positions),
  )
  return {
    entries,
    missing,
    batches: batches.map(
      ({ batchId, count, positions, isWhole, body }, at): Batch =>
        ({
          batchId,
          count,
          highestSeverity: read.rank,
          body,
          acknowledgement: custody[at],
          ...(!isWhole && { origin: { batchId: read.batchId, positions } }),
        }) as Batch,
    ),
  }
}
