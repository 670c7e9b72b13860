/** Sparse files of 4 GiB: data that no writer can have written uses no memory and affects no other entries. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LARGEST_BATCH_BYTES } from '../../src/options/size-limits.js'
import { MAX_SEGMENT_BYTES } from '../../src/spool/segment/segment.js'
import { readFrames, segmentsBelow } from './disk-image.js'
import { numbersIn, useSpoolBench } from './spool-bench.js'

const GIB = 1024 * 1024 * 1024
const HUGE = 4 * GIB
const HOLE = 3 * 1024 * 1024
const DIST = new URL('../../build/modules/spool/', import.meta.url).href

const bench = useSpoolBench({ batchSize: 4 })
const { root, begin, kill } = bench

/** Two batches of 4 entries from a killed process. @returns path of their segment */
function leave(first: number): string {
  const run = begin()
  for (let n = first; n < first + 8; n += 1) run.add(JSON.stringify({ n }))
  kill(run)
  return segmentsBelow(root).at(-1)?.path as string
}

/** The header of a frame with the given length. */
function forged(length: number): Buffer {
  const header = Buffer.alloc(36)
  header.set([0xff, 0x70, 0x69, 0x01])
  header.writeUInt32LE(length, 8)
  header[12] = 1
  return header
}

/** Puts forged frames and a hole between the two batches, and another hole after them. */
function harm(path: string): void {
  const bytes = readFileSync(path)
  const cut = readFrames(bytes).find(({ isSeal }) => isSeal)?.end as number
  const fd = openSync(path, 'w')
  const head = Buffer.concat([
    bytes.subarray(0, cut),
    forged(0xffff_ffff),
    forged(LARGEST_BATCH_BYTES + 1),
    forged(LARGEST_BATCH_BYTES - 100),
  ])
  writeSync(fd, head, 0, head.length, 0)
  writeSync(fd, bytes, cut, bytes.length - cut, head.length + HOLE)
  const end = head.length + HOLE + bytes.length - cut
  writeSync(fd, forged(0xffff_ffff), 0, 36, end)
  // An intact batch at a position where no writer can have written.
  writeSync(fd, bytes, cut, bytes.length - cut, MAX_SEGMENT_BYTES + HOLE)
  closeSync(fd)
  truncateSync(path, HUGE)
}

test('a segment: intact frames are sent, the rest is reported as damaged, and no other segment is evicted for it', async () => {
  leave(0)
  leave(8)
  // The second process has claimed the files of the first.
  harm(segmentsBelow(root).find(({ bytes }) => bytes.includes('{"n":0}'))?.path as string)
  const run = begin()
  const recovered = await run.recoverAll()
  expect(numbersIn(recovered).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n))
  expect(run.drops).toEqual([])
  expect(run.problems).toHaveLength(1)
  const [, damaged] = /(\d+) bytes of \S+ are damaged/.exec(run.problems[0] as string) ?? []
  expect(Number(damaged)).toBeGreaterThan(HUGE - GIB)
  // A new segment of its own: 4 GiB in the root would far exceed `maxBytes`.
  run.add('{"n":99}')
  run.batcher.seal()
  expect(run.batches[0]).toHaveProperty('place')
  for (const batch of recovered) run.settle(batch)
  expect(segmentsBelow(root)).toHaveLength(1)
  expect(run.account.snapshot()).toMatchObject({ recovered: 16, dropped: { damaged: 0, spool: 0 }, balances: true })
})

test('readers of segments, acknowledgement logs and owner files use no more memory than a batch', () => {
  const path = leave(0)
  harm(path)
  const journal = path.replace(/seg$/, 'ack')
  for (const file of [journal, join(path, '../owner')]) {
    closeSync(openSync(file, 'a'))
    truncateSync(file, HUGE)
  }
  const script = `
    const [{ readUnsettledBatches }, { readAcknowledgements }, { readOwner }] = await Promise.all(['segment/unsettled-batch', 'segment/acknowledgement-log', 'instance/ownership'].map((name) => import(${JSON.stringify(DIST)} + name + '.js')))
    const before = process.resourceUsage().maxRSS
    let entries = 0
    await readUnsettledBatches(${JSON.stringify(path)}, ({ unsettled }) => { entries += unsettled.size })
    const batches = readAcknowledgements(${JSON.stringify(journal)}).size
    const owner = readOwner(${JSON.stringify(join(path, '..'))}) ?? null
    console.log(JSON.stringify({ entries, batches, owner, grownKiB: process.resourceUsage().maxRSS - before }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const { grownKiB, ...found } = JSON.parse(stdout) as { grownKiB: number }
  expect(found).toEqual({ entries: 8, batches: 0, owner: null })
  expect(grownKiB).toBeLessThan((2 * LARGEST_BATCH_BYTES) / 1024)
})
