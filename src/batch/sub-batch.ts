/** Parts of a batch: their ids, bodies and positions. */
import { createHash } from 'node:crypto'
import type { Batch } from './batch.js'
import { visitEntries } from './count-entries.js'

/** Ids made by this package. */
export const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/**
 * The id of a part: a UUIDv5 with the batch's UUID as the namespace and the positions, as `0-49,51`, as the name. A
 * process that cuts the same part after a crash gets the same id.
 * @param batchId of the original batch; an id that is not a UUID is used as text
 * @param positions in that batch, ascending
 * @see RFC 9562, section 5.5
 */
export function createSubBatchId(batchId: string, positions: readonly number[]): string {
  const namespace = UUID.test(batchId) ? Buffer.from(batchId.replaceAll('-', ''), 'hex') : Buffer.from(batchId)
  const bytes = createHash('sha1').update(namespace).update(positionsText(positions)).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** @param positions ascending */
function positionsText(positions: readonly number[]): string {
  const runs: string[] = []
  for (let start = 0; start < positions.length;) {
    let end = start
    while (positions[end + 1] === (positions[end] as number) + 1) end += 1
    runs.push(start === end ? `${positions[start]}` : `${positions[start]}-${positions[end]}`)
    start = end + 1
  }
  return runs.join(',')
}

/**
 * The entries of `{"batch_id":…,"logs":[…]}`, each as its original text. Parsing and serializing would lose digits of
 * large integers, and the first value of duplicate keys.
 */
export function parseBatchEntries(body: Uint8Array): string[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const entries: string[] = []
  visitEntries(body, (start, end) => entries.push(bytes.toString('utf8', start, end)))
  return entries
}

/** The request body for these entries, each given as JSON. */
export function createBatchBody(batchId: string, entries: readonly string[]): Uint8Array {
  return Buffer.from(`{"batch_id":${JSON.stringify(batchId)},"logs":[${entries.join(',')}]}`)
}

/**
 * Creates a batch from a part of another, and records it in that batch's acknowledgement, if any. The caller must send
 * it. For all entries, returns the batch itself.
 * @param positions in `batch`, ascending
 * @param entries all of `batch`, as `parseBatchEntries` returns them
 */
export function createSubBatch(batch: Batch, positions: readonly number[], entries: readonly string[]): Batch {
  if (positions.length === batch.count) return batch
  const { origin } = batch
  const rootId = origin?.batchId ?? batch.batchId
  const inRoot = origin === undefined ? [...positions] : positions.map((at) => origin.positions[at] as number)
  const batchId = createSubBatchId(rootId, inRoot)
  const acknowledgement = batch.acknowledgement?.createPart(positions)
  return {
    batchId,
    count: positions.length,
    highestSeverity: batch.highestSeverity,
    body: createBatchBody(
      batchId,
      positions.map((at) => entries[at] as string),
    ),
    origin: { batchId: rootId, positions: inRoot },
    ...(acknowledgement !== undefined && { acknowledgement }),
  }
}
