/** A dead letter as a batch of its own. Pure. */
import { createBatchBody, createSubBatchId } from '../../batch/sub-batch.js'
import type { StoredDeadLetter } from '../../nats/dead-letter-stream.js'

export interface ReplayedBatch {
  readonly batchId: string
  readonly body: Uint8Array
}

/**
 * One entry a batch: a replay that was killed between the acknowledgement and the deletion publishes the same entry under the same id,
 * whatever was deleted or added meanwhile. With several entries a batch, the next replay would cut other batches.
 * @returns undefined for a message that is no entry
 */
export function createReplayedBatch(
  letter: Pick<StoredDeadLetter, 'batchId' | 'index' | 'entry'>,
): ReplayedBatch | undefined {
  if (!isJsonObject(letter.entry)) return undefined
  // Another name than that of a part of the batch: forwarders know the ids of what they have delivered.
  const batchId = createSubBatchId(`dead letter of ${letter.batchId}`, [letter.index])
  return { batchId, body: createBatchBody(batchId, [letter.entry]) }
}

export function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
