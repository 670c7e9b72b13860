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

test('the severity of a batch is that of its most severe entry', async () => {
  const folder = scratchFolder()
  const path = join(folder, '00000001.seg')
  const id = parseUuid('6d2b79f5-0000-4000-8000-000000000000')
  const bytes = Buffer.alloc(3 * HEADER_BYTES + 4)
  let at = 0
  for (const [kind, severity, text] of [
    ['entries', 1, '{}'],
    ['entries', 4, '{}'],
    ['seal', 0, ''],
  ] as const)
    at = writeFrame(bytes, at, { kind, id, severity, count: 1, first: 0, text: Buffer.from(text) })
  writeFileSync(path, bytes, { mode: 0o600 })
  const reader = new SegmentReader(path, 0)
  expect(await reader.next()).toMatchObject({ severity: 4, sealedCount: 1 })
  await reader.close()
  removeScratch(folder)
})
