/** What was read of a batch, as the batches it goes on as. Pure. */
import { createBatchBody, parseBatchEntries, createSubBatchId } from '../../batch/sub-batch.js'
import type { Settlement } from './acknowledgement-log.js'
import { PositionSet } from './position-set.js'
import type { ReadBatch } from './segment-reader.js'

/** A batch, or what is left of one: without its custody. */
export interface Assembled {
  readonly batchId: string
  readonly count: number
  /** In the batch that was cut. */
  readonly positions: readonly number[]
  readonly isWhole: boolean
  readonly body: Uint8Array
}

export interface Assembly {
  readonly batches: readonly Assembled[]
  /** Entries that should be there, by the seal, and are not. */
  readonly missing: number
}

/** Without what is settled; what was recorded as a part stays one. */
export function assemble(read: ReadBatch, settlement?: Settlement): Assembly {
  const present = positionsOf(read)
  const lastEnd = read.runs.reduce((end, { first, count }) => Math.max(end, first + count), 0)
  const wholeCount = read.sealedCount ?? lastEnd
  const isWhole = present.length === wholeCount
  if (isWhole && settlement === undefined) {
    if (present.length === 0) return { batches: [], missing: 0 }
    const body = bodyFromPieces(read)
    return {
      batches: [{ batchId: read.batchId, count: present.length, positions: present, isWhole: true, body }],
      missing: 0,
    }
  }
  const settled = settlement?.settled ?? PositionSet.empty()
  const left = PositionSet.from(present).difference(settled)
  const missing = PositionSet.first(wholeCount).difference(PositionSet.from(present)).difference(settled).size
  const texts = textsOf(read)
  const batches = groups(left, settlement?.parts ?? []).map((group): Assembled => {
    const positions = group.toArray()
    const isAll = isWhole && positions.length === wholeCount
    const batchId = isAll ? read.batchId : createSubBatchId(read.batchId, positions)
    return {
      batchId,
      count: positions.length,
      positions,
      isWhole: isAll,
      body: createBatchBody(
        batchId,
        positions.map((at) => texts.get(at) as string),
      ),
    }
  })
  return { batches, missing }
}

function positionsOf({ runs: pieces }: ReadBatch): number[] {
  return pieces.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at))
}

/** Each part splits what holds it; what no part holds stays together. */
function groups(left: PositionSet, parts: readonly PositionSet[]): PositionSet[] {
  let found = [left]
  for (const part of parts) found = found.flatMap((group) => [group.intersection(part), group.difference(part)])
  return found.filter((group) => group.size > 0)
}

function bodyFromPieces({ batchId, runs: pieces }: Pick<ReadBatch, 'batchId' | 'runs'>): Buffer {
  const head = Buffer.from(`{"batch_id":"${batchId}","logs":[`)
  const comma = Buffer.from(',')
  const texts = pieces.flatMap(({ text }, at) => (at === 0 ? [text] : [comma, text]))
  return Buffer.concat([head, ...texts, Buffer.from(']}')])
}

function textsOf({ batchId, runs: pieces }: ReadBatch): Map<number, string> {
  const texts = new Map<number, string>()
  for (const { first, text } of pieces) {
    parseBatchEntries(bodyFromPieces({ batchId, runs: [{ first, count: 0, text }] })).forEach((entry, at) =>
      texts.set(first + at, entry),
    )
  }
  return texts
}
