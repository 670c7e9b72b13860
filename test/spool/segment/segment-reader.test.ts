/** Reading a segment: what it costs. Its results are covered by the tests of the spool. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
