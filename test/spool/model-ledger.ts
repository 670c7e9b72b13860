/** The expected state of every batch: the model with which the disk is compared. */
import { batchesIn, expectRecovery, intact } from './expected-recovery.js'
import type { ExpectedBatch } from './expected-recovery.js'
import { readFrames, readRecords } from './disk-image.js'
import type { SegmentOnDisk } from './disk-image.js'

export interface KnownBatch {
  readonly id: string
  readonly texts: string[]
  /** Positions that were written, and not damaged since. */
  onDisk: Set<number>
  isSealed: boolean
  /** Positions that the acknowledgement log must contain. */
  settled: Set<number>
  parts: string[]
  /** Only in memory: its segment was dropped at the limit. */
  isGone: boolean
  /** Time at which all of `onDisk` had been written. */
  writtenAt: number
}

export class Ledger {
  readonly batches = new Map<string, KnownBatch>()

  begin(id: string): KnownBatch {
    const known = this.batches.get(id)
    if (known !== undefined) return known
    const batch: KnownBatch = {
      id,
      texts: [],
      onDisk: new Set(),
      isSealed: false,
      settled: new Set(),
      parts: [],
      isGone: false,
      writtenAt: 0,
    }
    this.batches.set(id, batch)
    return batch
  }

  get(id: string): KnownBatch {
    const batch = this.batches.get(id)
    if (batch === undefined) throw new Error(`the batch ${id} was never written`)
    return batch
  }

  /** Compares all undamaged data on disk, as last read, with the expected state. */
  audit(segments: readonly SegmentOnDisk[]): void {
    const found = new Map(segments.flatMap((segment) => [...batchesIn(segment.frames)]))
    for (const segment of segments) this.#auditSegment(segment)
    for (const batch of this.batches.values()) {
      const left = [...batch.onDisk].filter((at) => !batch.settled.has(at))
      const there = found.get(batch.id)
      if (there === undefined && left.length === 0) this.batches.delete(batch.id)
      if (batch.isGone || left.length === 0) continue
      for (const at of batch.onDisk)
        if (!there?.positions.has(at)) throw new Error(`entry ${at} of ${batch.id} is not settled, and not on disk`)
      if (batch.isSealed && there?.sealedCount === undefined) throw new Error(`the seal of ${batch.id} is not on disk`)
      if (batch.isSealed && there?.sealedCount !== batch.texts.length)
        throw new Error(`the seal of ${batch.id} is wrong`)
    }
  }

  #auditSegment({ path, bytes, frames, records }: SegmentOnDisk): void {
    for (const { batchId, isSeal, first, count, at, end } of frames) {
      const { texts } = this.get(batchId)
      const wanted = isSeal ? '' : texts.slice(first, first + count).join(',')
      if (bytes.toString('utf8', at + 36, end) !== wanted)
        throw new Error(`${path}: a frame of ${batchId} holds other bytes than were written`)
    }
    for (const id of batchesIn(frames).keys()) {
      const own = records.filter(({ batchId }) => batchId === id)
      const settled = new Set(own.filter(({ kind }) => kind === 'settled').flatMap(({ positions }) => positions))
      const batch = this.get(id)
      if (!isSame(settled, batch.settled))
        throw new Error(`${path}: of ${id} [${[...settled]}] are settled, not [${[...batch.settled]}]`)
      const parts = own.filter(({ kind }) => kind === 'part').map(({ positions }) => positions.join())
      if (parts.join(';') !== batch.parts.join(';'))
        throw new Error(`${path}: the parts of ${id} are ${parts.join(';')}, not ${batch.parts.join(';')}`)
    }
  }

  /**
   * The process is dead, and its files may be damaged.
   * @param before the files as the process left them
   * @param after the files now
   * @returns the entries that the next start must find
   */
  afterDeath(
    before: readonly SegmentOnDisk[],
    after: readonly SegmentOnDisk[],
  ): { batches: ExpectedBatch[]; missing: number } {
    const now = new Map(after.map((segment) => [segment.key, segment]))
    const expected: ExpectedBatch[] = []
    let missing = 0
    const left = new Map<string, KnownBatch>()
    for (const was of before) {
      const is = now.get(was.key)
      if (is === undefined) continue
      const frames = intact(was, is.bytes)
      if (readFrames(is.bytes).length !== frames.length)
        throw new Error(`${is.path}: damage made frames, the test is wrong`)
      const records = readRecords(is.journalBytes)
      const expectation = expectRecovery({ ...is, frames, records })
      expected.push(...expectation.batches)
      missing += expectation.missing
      for (const [id, { positions, sealedCount }] of batchesIn(frames)) {
        const own = records.filter(({ batchId }) => batchId === id)
        left.set(id, {
          ...this.get(id),
          onDisk: new Set(positions),
          isSealed: sealedCount !== undefined,
          isGone: false,
          settled: new Set(own.filter(({ kind }) => kind === 'settled').flatMap((record) => record.positions)),
          parts: own.filter(({ kind }) => kind === 'part').map((record) => record.positions.join()),
        })
      }
    }
    this.batches.clear()
    for (const [id, batch] of left) this.batches.set(id, batch)
    return { batches: expected, missing }
  }
}

function isSame(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  return one.size === other.size && [...one].every((value) => other.has(value))
}
