import { existsSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { SegmentReader } from '../../src/spool/segment/segment-reader.js'
import { failing } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { countsOf, entriesOf, idsOf, useSpoolBench } from './spool-bench.js'
const SCAN_MS = 30_000
const VERSION_AT = 7

const bench = useSpoolBench()
const { root, destination, begin, kill, inject, restore } = bench

/** @returns the path of its segment */
function leave(...counts: number[]): string {
  const known = new Set(existsSync(root) ? filesBelow(root) : [])
  const run = begin()
  for (const count of counts) {
    for (let n = 0; n < count; n += 1) run.add(JSON.stringify({ n }))
    run.batcher.seal()
  }
  kill(run)
  return filesBelow(root).find((path) => path.endsWith('.seg') && !known.has(path)) as string
}

test('of a batch that is settled in part, the other entries are sent, as the same part at each start', async () => {
  const run = begin()
  for (let n = 0; n < 5; n += 1) run.add(JSON.stringify({ n }))
  run.batcher.seal()
  const [batch] = run.batches as [Batch]
  batch.acknowledgement?.acknowledge([1, 3])
  kill(run)
  const successor = begin()
  const rest = await successor.recoverAll()
  expect(rest).toMatchObject([{ count: 3, origin: { batchId: batch.batchId, positions: [0, 2, 4] } }])
  expect(entriesOf(rest)).toEqual([{ n: 0 }, { n: 2 }, { n: 4 }])
  kill(successor)
  expect(idsOf(await begin().recoverAll())).toEqual(idsOf(rest))
})

describe('a claimed segment that cannot be read for now', () => {
  test.each(['EMFILE', 'ENFILE', 'EIO', 'EACCES'])(
    '%s when it is opened: reported once, retried at every scan',
    async (code) => {
      leave(10)
      leave(7)
      const left = readdirSync(destination)
      const isClaimed = (path: string): boolean =>
        /\.live\/[^/]+\/[^/]+\.seg$/.test(path) && !left.some((name) => path.includes(`/${name}/`))
      inject(failing('openSync', ([path]) => (isClaimed(String(path)) ? code : undefined)))
      const run = begin()
      expect(await run.recoverAll()).toEqual([])
      expect(run.problems).toEqual([expect.stringContaining(code), expect.stringContaining(code)])
      expect(run.spool.recovery.hasMore).toBe(false)
      await bench.clock.advance(SCAN_MS)
      expect(await run.recoverAll()).toEqual([])
      expect(run.problems).toHaveLength(2)
      restore()
      const { foundTimes } = run
      await bench.clock.advance(SCAN_MS)
      expect(run.foundTimes).toBeGreaterThan(foundTimes)
      const batches = await run.recoverAll()
      expect(countsOf(batches).toSorted((a, b) => a - b)).toEqual([7, 10])
      for (const batch of batches) run.settle(batch)
      expect(run.account.snapshot()).toMatchObject({ recovered: 17, accepted: 17, balances: true })
      expect(segmentsBelow(root)).toEqual([])
    },
  )

  test('in its middle: continues after the entries that were already passed on', async () => {
    leave(1, 2, 3)
    const real = SegmentReader.prototype.next
    let reads = 0
    vi.spyOn(SegmentReader.prototype, 'next').mockImplementation(async function next(this: SegmentReader) {
      reads += 1
      if (reads === 2) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      return real.call(this)
    })
    const run = begin()
    const first = await run.recoverAll()
    expect(countsOf(first)).toEqual([1])
    expect(segmentsBelow(root)).toHaveLength(1)
    await bench.clock.advance(SCAN_MS)
    const rest = await run.recoverAll()
    expect(countsOf(rest)).toEqual([2, 3])
    for (const batch of [...first, ...rest]) run.settle(batch)
    expect(run.account.snapshot()).toMatchObject({ recovered: 6, accepted: 6, balances: true })
    expect(segmentsBelow(root)).toEqual([])
  })

  test('is available for the next start and for eviction', async () => {
    leave(10)
    const isOne = ([path]: readonly unknown[]): string | undefined =>
      String(path).endsWith('.seg') ? 'EIO' : undefined
    inject(failing('openSync', isOne))
    const run = begin()
    expect(await run.recoverAll()).toEqual([])
    run.spool.close()
    restore()
    kill(run)
    const successor = begin()
    expect(countsOf(await successor.recoverAll())).toEqual([10])
    kill(successor)
    inject(failing('openSync', isOne))
    const third = begin()
    expect(await third.recoverAll()).toEqual([])
    restore()
    expect(third.spool.recovery.evictable[0]?.evict()).toBeGreaterThan(0)
    expect(third.spool.recovery.evictable).toEqual([])
    await vi.waitFor(() => expect(third.spool.recovery.droppingBytes).toBe(0))
    expect(third.account.snapshot()).toMatchObject({ recovered: 10, dropped: { spool: 10 }, balances: true })
  })

  test('because it was deleted: reported, and not retried', async () => {
    leave(10)
    const run = begin()
    for (const { path } of segmentsBelow(root)) unlinkSync(path)
    expect(await run.recoverAll()).toEqual([])
    expect(run.problems).toEqual([expect.stringContaining('ENOENT')])
    await bench.clock.advance(2 * SCAN_MS)
    expect(await run.recoverAll()).toEqual([])
    expect(run.problems).toHaveLength(1)
    run.spool.close()
    expect(filesBelow(destination)).toEqual([`${destination}/destination`])
  })
})

describe('a segment of another version', () => {
  function makeForeign(path: string): Buffer {
    const bytes = readFileSync(path)
    bytes[VERSION_AT] = 2
    writeFileSync(path, bytes)
    return bytes
  }

  /** A dead folder within another, as a killed claimer leaves it. @returns the path of the inner folder's segment */
  function nest(inner: string, outer: string): string {
    const [from, into] = [join(inner, '..'), join(outer, '..')]
    const to = join(into, basename(from).replace(/\.live$/, ''))
    renameSync(from, to)
    return join(to, basename(inner))
  }

  test.each([1, 2])('at depth %i of claimed folders: its folder is not changed, and reported once', async (depth) => {
    let path = leave(10)
    const bytes = makeForeign(path)
    for (let n = 0; n < depth; n += 1) {
      const outer = leave(3)
      const top = n === 0 ? path : join(path, '..', '..', basename(path))
      const moved = nest(top, outer)
      path = n === 0 ? moved : join(moved, '..', basename(join(path, '..')), basename(path))
    }
    const before = filesBelow(destination)
    const run = begin()
    expect(await run.recoverAll()).toEqual([])
    await bench.clock.advance(2 * SCAN_MS)
    expect(await run.recoverAll()).toEqual([])
    expect(run.problems).toEqual([expect.stringMatching(/another version of pino-ingest/)])
    run.spool.close()
    expect(filesBelow(destination)).toEqual(before)
    expect(readFileSync(path)).toEqual(bytes)
  })

  test('that cannot be checked because no file can be opened is not claimed', async () => {
    const path = leave(10)
    makeForeign(path)
    let failures = 3
    inject(
      failing('openSync', ([opened]) => (String(opened).endsWith('.seg') && failures-- > 0 ? 'EMFILE' : undefined)),
    )
    const run = begin()
    expect(await run.recoverAll()).toEqual([])
    await bench.clock.advance(2 * SCAN_MS)
    expect(await run.recoverAll()).toEqual([])
    expect(run.problems).toEqual([
      ...Array(3).fill(expect.stringContaining('EMFILE')),
      expect.stringMatching(/another version/),
    ])
    expect(run.account.dropped.damaged).toBe(0)
    expect(segmentsBelow(root)).toHaveLength(1)
    expect(existsSync(path)).toBe(true)
  })
})
