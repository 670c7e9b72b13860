/** The unsettled entries of a batch that was read from a segment, and the batches that send them again. */
import { createBatchBody, createSubBatchId, parseBatchEntries } from '../../batch/sub-batch.js'
import { SEGMENT_HEADER_BYTES, toAcknowledgementLogPath } from '../disk-format.js'
import { readAcknowledgements } from './acknowledgement-log.js'
import type { Settlement } from './acknowledgement-log.js'
import { PositionSet } from './position-set.js'
import { SegmentReader } from './segment-reader.js'
import type { ReadBatch } from './segment-reader.js'

export interface UnsettledBatch {
  readonly read: ReadBatch
  readonly settlement: Settlement | undefined
  /** Entries that were read but are not settled. */
  readonly unsettled: PositionSet
  /** Number of unsettled entries that are missing in the segment, according to the batch's seal or its last entry. */
  readonly missing: number
  /** Whether no entry of the batch is missing in the segment. */
  readonly isComplete: boolean
}

export function toUnsettledBatch(read: ReadBatch, settlement: Settlement | undefined): UnsettledBatch {
  const settled = settlement?.settled ?? PositionSet.empty()
  const present = PositionSet.from(
    read.runs.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at)),
  )
  const count = read.sealedCount ?? read.runs.reduce((end, run) => Math.max(end, run.first + run.count), 0)
  const lost = PositionSet.first(count).difference(present)
  return {
    read,
    settlement,
    unsettled: present.difference(settled),
    missing: lost.difference(settled).size,
    isComplete: lost.size === 0,
  }
}

/**
 * Reads the batches of a segment that are not settled, one at a time.
 * @param onBatch returns false to end the reading
 * @returns number of bytes that belong to no frame. Rejects with the system's errors and UnsafeError
 */
export async function readUnsettledBatches(
  path: string,
  onBatch: (batch: UnsettledBatch) => boolean | void,
  from = SEGMENT_HEADER_BYTES,
): Promise<number> {
  // Read before the segment: an entry settled in the meantime is then read again, but no unsettled entry is omitted.
  const settlements = readAcknowledgements(toAcknowledgementLogPath(path))
  const reader = new SegmentReader(path, from)
  try {
    for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
      const batch = toUnsettledBatch(read, settlements.get(read.batchId))
      if (batch.unsettled.size + batch.missing > 0 && onBatch(batch) === false) break
    }
    return reader.damagedBytes
  } finally {
    await reader.close()
  }
}

/** A batch that can be sent: the stored batch, or a part of it. */
export interface AssembledBatch {
  readonly batchId: string
  readonly count: number
  /** Positions of its entries in the stored batch. */
  readonly positions: readonly number[]
  readonly isWhole: boolean
  readonly body: Uint8Array
}

/** Assembles the unsettled entries. Entries recorded as a part are sent as that part, the others together. */
export function assembleBatches({ read, settlement, unsettled, isComplete }: UnsettledBatch): AssembledBatch[] {
  const { batchId } = read
  if (isComplete && settlement === undefined) {
    const positions = unsettled.toArray()
    return positions.length === 0
      ? []
      : [{ batchId, count: positions.length, positions, isWhole: true, body: joinRuns(read) }]
  }
  const texts = parseEntries(read)
  const total = texts.size
  return splitByParts(unsettled, settlement?.parts ?? []).map((group): AssembledBatch => {
    const positions = group.toArray()
    const isWhole = isComplete && positions.length === total
    const id = isWhole ? batchId : createSubBatchId(batchId, positions)
    const entries = positions.map((position) => texts.get(position) as string)
    return { batchId: id, count: positions.length, positions, isWhole, body: createBatchBody(id, entries) }
  })
}

/** Each part divides the groups that it overlaps. */
function splitByParts(unsettled: PositionSet, parts: readonly PositionSet[]): PositionSet[] {
  let groups = [unsettled]
  for (const part of parts) groups = groups.flatMap((group) => [group.intersection(part), group.difference(part)])
  return groups.filter((group) => group.size > 0)
}

function joinRuns({ batchId, runs }: Pick<ReadBatch, 'batchId' | 'runs'>): Buffer {
  const comma = Buffer.from(',')
  const texts = runs.flatMap(({ text }, at) => (at === 0 ? [text] : [comma, text]))
  return Buffer.concat([Buffer.from(`{"batch_id":"${batchId}","logs":[`), ...texts, Buffer.from(']}')])
}

/** @returns the JSON of each entry, by position */
function parseEntries({ batchId, runs }: ReadBatch): Map<number, string> {
  return new Map(
    runs.flatMap((run) =>
      parseBatchEntries(joinRuns({ batchId, runs: [run] })).map((entry, at) => [run.first + at, entry] as const),
    ),
  )
}
