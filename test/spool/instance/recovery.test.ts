import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SegmentReader } from '../../../src/spool/segment/segment-reader.js'
import { destinationName } from '../../../src/spool/spool-root.js'
import { FakeClock } from '../../fake-clock.js'
import { failing } from '../disk-faults.js'
import { filesBelow, segmentsBelow } from '../disk-image.js'
import { KEY_OF_TESTS, ProcessRun, Processes, URL_OF_TESTS } from '../process-run.js'
import { removeScratch, scratchFolder } from '../scratch.js'

const SCAN_MS = 30_000
const VERSION_AT = 7

let root: string
let destination: string
let clock: FakeClock
let processes: Processes
let lives: ProcessRun[]
let mends: (() => void)[]

beforeEach(() => {
  root = scratchFolder()
  destination = join(root, destinationName(URL_OF_TESTS, KEY_OF_TESTS))
  clock = new FakeClock(Date.now())
  processes = new Processes()
  lives = []
  mends = []
})

afterEach(() => {
  vi.restoreAllMocks()
  for (const mend of mends.toReversed()) mend()
  for (const life of lives) life.die(processes, root)
  removeScratch(root)
})

function begin(): ProcessRun {
  const life = new ProcessRun({ root, clock, machine: processes.born() })
  lives.push(life)
  return life
}

function kill(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
}

/** @returns the path of its segment */
function leave(...counts: number[]): string {
  const known = new Set(existsSync(root) ? filesBelow(root) : [])
  const life = begin()
  for (const count of counts) {
    for (let n = 0; n < count; n += 1) life.add(JSON.stringify({ n }))
    life.batcher.seal()
  }
  kill(life)
  return filesBelow(root).find((path) => path.endsWith('.seg') && !known.has(path)) as string
}

function countsOf(batches: readonly { readonly count: number }[]): number[] {
  return batches.map(({ count }) => count)
}

describe('a claimed segment that cannot be read for now', () => {
  test.each(['EMFILE', 'ENFILE', 'EIO', 'EACCES'])(
    '%s at its opening: told once, tried at every scan',
    async (code) => {
      leave(10)
      leave(7)
      const left = readdirSync(destination)
      const isClaimed = (path: string): boolean =>
        path.endsWith('.seg') && path.includes('claimed') && !left.some((name) => path.includes(`/${name}/`))
      mends.push(failing('openSync', ([path]) => (isClaimed(String(path)) ? code : undefined)))
      const life = begin()
      expect(await life.recoverAll()).toEqual([])
      expect(life.problems).toEqual([expect.stringContaining(code), expect.stringContaining(code)])
      expect(life.spool.recovery.hasMore).toBe(false)
      await clock.advance(SCAN_MS)
      expect(await life.recoverAll()).toEqual([])
      expect(life.problems).toHaveLength(2)
      mends.pop()?.()
      const { foundTimes } = life
      await clock.advance(SCAN_MS)
      expect(life.foundTimes).toBeGreaterThan(foundTimes)
      const batches = await life.recoverAll()
      expect(countsOf(batches).toSorted((a, b) => a - b)).toEqual([7, 10])
      for (const batch of batches) life.settle(batch)
      expect(life.account.snapshot()).toMatchObject({ recovered: 17, accepted: 17, balances: true })
      expect(segmentsBelow(root)).toEqual([])
    },
  )

  test('in its middle: goes on behind what was given out', async () => {
    leave(1, 2, 3)
    const real = SegmentReader.prototype.next
    let reads = 0
    vi.spyOn(SegmentReader.prototype, 'next').mockImplementation(async function next(this: SegmentReader) {
      reads += 1
      if (reads === 2) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      return real.call(this)
    })
    const life = begin()
    const first = await life.recoverAll()
    expect(countsOf(first)).toEqual([1])
    expect(segmentsBelow(root)).toHaveLength(1)
    await clock.advance(SCAN_MS)
    const rest = await life.recoverAll()
    expect(countsOf(rest)).toEqual([2, 3])
    for (const batch of [...first, ...rest]) life.settle(batch)
    expect(life.account.snapshot()).toMatchObject({ recovered: 6, accepted: 6, balances: true })
    expect(segmentsBelow(root)).toEqual([])
  })

  test('is there for the next start, and for making room', async () => {
    leave(10)
    const isOne = ([path]: readonly unknown[]): string | undefined =>
      String(path).endsWith('.seg') ? 'EIO' : undefined
    mends.push(failing('openSync', isOne))
    const life = begin()
    expect(await life.recoverAll()).toEqual([])
    life.spool.close()
    mends.pop()?.()
    kill(life)
    const successor = begin()
    expect(countsOf(await successor.recoverAll())).toEqual([10])
    kill(successor)
    mends.push(failing('openSync', isOne))
    const third = begin()
    expect(await third.recoverAll()).toEqual([])
    mends.pop()?.()
    expect(third.spool.recovery.removable[0]?.evict()).toBeGreaterThan(0)
    expect(third.spool.recovery.removable).toEqual([])
    await vi.waitFor(() => expect(third.spool.recovery.droppingBytes).toBe(0))
    expect(third.account.snapshot()).toMatchObject({ recovered: 10, dropped: { spool: 10 }, balances: true })
  })

  test('since somebody deleted it: told, and not tried again', async () => {
    leave(10)
    const life = begin()
    for (const { path } of segmentsBelow(root)) unlinkSync(path)
    expect(await life.recoverAll()).toEqual([])
    expect(life.problems).toEqual([expect.stringContaining('ENOENT')])
    await clock.advance(2 * SCAN_MS)
    expect(await life.recoverAll()).toEqual([])
    expect(life.problems).toHaveLength(1)
    life.spool.close()
    expect(filesBelow(root)).toEqual([])
  })
})

describe('a segment of another version', () => {
  function makeForeign(path: string): Buffer {
    const bytes = readFileSync(path)
    bytes[VERSION_AT] = 2
    writeFileSync(path, bytes)
    return bytes
  }

  /** One dead folder in another, as a claimer leaves it that died. @returns the path of the inner one's segment */
  function nest(inner: string, outer: string): string {
    const [from, into] = [join(inner, '..'), join(outer, '..', 'claimed')]
    mkdirSync(into)
    const to = join(into, basename(from).replace(/\.live$/, ''))
    renameSync(from, to)
    return join(to, basename(inner))
  }

  test.each([1, 2])('at depth %i of what the dead had claimed: its folder is left alone, told once', async (depth) => {
    let path = leave(10)
    const bytes = makeForeign(path)
    for (let n = 0; n < depth; n += 1) {
      const outer = leave(3)
      const isDeep = path.includes('claimed')
      const top = isDeep ? join(path, '..', '..', '..', basename(path)) : path
      const moved = nest(top, outer)
      path = isDeep ? join(moved, '..', 'claimed', basename(join(path, '..')), basename(path)) : moved
    }
    const before = filesBelow(destination)
    const life = begin()
    expect(await life.recoverAll()).toEqual([])
    await clock.advance(2 * SCAN_MS)
    expect(await life.recoverAll()).toEqual([])
    expect(life.problems).toEqual([expect.stringMatching(/was written by another version of pino-ingest/)])
    life.spool.close()
    expect(filesBelow(destination)).toEqual(before)
    expect(readFileSync(path)).toEqual(bytes)
  })

  test('that cannot be checked because no file can be opened is not claimed', async () => {
    const path = leave(10)
    makeForeign(path)
    let failures = 3
    mends.push(
      failing('openSync', ([opened]) => (String(opened).endsWith('.seg') && failures-- > 0 ? 'EMFILE' : undefined)),
    )
    const life = begin()
    expect(await life.recoverAll()).toEqual([])
    await clock.advance(2 * SCAN_MS)
    expect(await life.recoverAll()).toEqual([])
    expect(life.problems).toEqual([
      ...Array(3).fill(expect.stringContaining('EMFILE')),
      expect.stringMatching(/another version/),
    ])
    expect(life.account.dropped.damaged).toBe(0)
    expect(segmentsBelow(root)).toHaveLength(1)
    expect(existsSync(path)).toBe(true)
  })
})
