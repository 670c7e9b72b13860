/**
 * The entries that a recovery must find in the intact frames of a segment, derived from the invariants, not from the
 * code.
 */
import { createSubBatchId } from '../../src/batch/sub-batch.js'
import type { FrameOnDisk, SegmentOnDisk } from './disk-image.js'

export interface ExpectedBatch {
  readonly batchId: string
  readonly rootId: string
  readonly positions: readonly number[]
  readonly key: string
}

export interface Expectation {
  readonly batches: readonly ExpectedBatch[]
  /** Entries whose loss a seal or later frames reveal. */
  readonly missing: number
}

/** The entries of one batch in a segment. */
export interface BatchOnDisk {
  readonly positions: ReadonlySet<number>
  readonly sealedCount: number | undefined
}

export function batchesIn(frames: readonly FrameOnDisk[]): Map<string, BatchOnDisk> {
  const batches = new Map<string, { positions: Set<number>; sealedCount: number | undefined }>()
  for (const { batchId, isSeal, first, count } of frames) {
    const batch = batches.get(batchId) ?? { positions: new Set(), sealedCount: undefined }
    batches.set(batchId, batch)
    if (isSeal) batch.sealedCount = count
    else for (let at = first; at < first + count; at += 1) batch.positions.add(at)
  }
  return batches
}

export function expectRecovery({ key, frames, records }: SegmentOnDisk): Expectation {
  const batches: ExpectedBatch[] = []
  let missing = 0
  for (const [rootId, { positions, sealedCount }] of batchesIn(frames)) {
    const count = sealedCount ?? Math.max(...positions) + 1
    const own = records.filter(({ batchId }) => batchId === rootId)
    const settled = new Set(own.filter(({ kind }) => kind === 'settled').flatMap((record) => record.positions))
    const parts = own.filter(({ kind }) => kind === 'part').map((record) => new Set(record.positions))
    for (let at = 0; at < count; at += 1) if (!positions.has(at) && !settled.has(at)) missing += 1
    // Two entries belong together if every recorded sub-batch contains both or neither.
    const groups = new Map<string, number[]>()
    for (const at of [...positions].filter((position) => !settled.has(position)).toSorted((a, b) => a - b)) {
      const group = parts.map((part) => (part.has(at) ? '1' : '0')).join('')
      groups.set(group, [...(groups.get(group) ?? []), at])
    }
    for (const group of groups.values()) {
      batches.push({
        rootId,
        positions: group,
        batchId: group.length === count ? rootId : createSubBatchId(rootId, group),
        key,
      })
    }
  }
  return { batches, missing }
}

/** Frames whose bytes are all unchanged. */
export function intact(before: SegmentOnDisk, after: Buffer): FrameOnDisk[] {
  return before.frames.filter(
    ({ at, end }) => end <= after.length && after.compare(before.bytes, at, end, at, end) === 0,
  )
}
