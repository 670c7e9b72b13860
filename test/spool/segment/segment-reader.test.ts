/** Reading a segment: what it costs. Its results are covered by the tests of the spool. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HEADER_BYTES, parseUuid, writeFrame } from '../../../src/spool/segment/frame.js'
import { SegmentReader } from '../../../src/spool/segment/segment-reader.js'
import { removeScratch, scratchFolder } from '../scratch.js'

test('empty segments take no memory, since there can be thousands of them', async () => {
  const folder = scratchFolder()
  const path = join(folder, '00000001.seg')
  writeFileSync(path, '', { mode: 0o600 })
  const before = process.memoryUsage().arrayBuffers
  const readers = Array.from({ length: 100 }, () => new SegmentReader(path, 0))
  for (const reader of readers) expect(await reader.next()).toBeUndefined()
  // With a window each, it would be 25 MiB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5 * 2 ** 20)
  await Promise.all(readers.map((reader) => reader.close()))
  removeScratch(folder)
})

/** Frames with the entry `{}`; a seal has no text. @returns the batches that are read */
async function readBatches(frames: readonly (readonly [kind: 'entries' | 'seal', severity: number, id: string])[]) {
  const folder = scratchFolder()
  const path = join(folder, '00000001.seg')
  const bytes = Buffer.alloc(frames.length * (HEADER_BYTES + 2))
  let at = 0
  for (const [kind, severity, batchId] of frames) {
    const [id, text] = [parseUuid(batchId), Buffer.from(kind === 'seal' ? '' : '{}')]
    at = writeFrame(bytes, at, { kind, id, severity, count: 1, first: 0, text })
  }
  writeFileSync(path, bytes.subarray(0, at), { mode: 0o600 })
  const reader = new SegmentReader(path, 0)
  const read = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) read.push(batch)
  await reader.close()
  removeScratch(folder)
  return read
}

const ONE = '6d2b79f5-0000-4000-8000-000000000000'
const OTHER = '6d2b79f5-0000-4000-8000-000000000001'

test('the severity of a batch is that of its most severe entry', async () => {
  const frames = [
    ['entries', 1, ONE],
    ['entries', 4, ONE],
    ['seal', 0, ONE],
  ] as const
  expect(await readBatches(frames)).toMatchObject([{ severity: 4, sealedCount: 1 }])
})

test('a batch without a seal ends where another one begins', async () => {
  const frames = [
    ['entries', 1, ONE],
    ['entries', 1, OTHER],
    ['seal', 0, OTHER],
  ] as const
  expect(await readBatches(frames)).toMatchObject([
    { batchId: ONE, runs: [{ count: 1 }], sealedCount: undefined },
    { batchId: OTHER, runs: [{ count: 1 }], sealedCount: 1 },
  ])
})
