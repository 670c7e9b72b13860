/** Converts a dead letter to a batch of its own. Pure. */
import { createBatchBody, createSubBatchId } from '../../batch/sub-batch.js'
import type { StoredDeadLetter } from '../../nats/dead-letter-stream.js'

export interface RepublishedBatch {
  readonly batchId: string
  readonly body: Uint8Array
}

/**
 * Creates a batch with one entry. If a replay is killed between the acknowledgement and the deletion of a letter, the next replay publishes
 * the entry under the same batch id. With several entries per batch, the next replay would create different batches.
 * @returns undefined if the letter contains no entry
 */
export function createRepublishedBatch(
  letter: Pick<StoredDeadLetter, 'batchId' | 'index' | 'entry'>,
): RepublishedBatch | undefined {
  if (!isJsonObject(letter.entry)) return undefined
  // Must differ from the id of a sub-batch: forwarders skip the ids of delivered batches.
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
