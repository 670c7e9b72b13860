/** Limits the number of file system calls in one turn of the application's thread, on real files. */
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nameDestination } from '../../src/spool/spool-root.js'
import { FakeClock } from '../fake-clock.js'
import { failing } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from './process-run.js'
import { SEGMENT_BYTES, spillBatches, useSpoolBench, writeBytes } from './spool-bench.js'

const MIB = 1024 * 1024
const SCAN_MS = 15_000

/** Each call of `now` advances it by 1 ms, so that a turn has few steps on any machine. */
class SlowClock extends FakeClock {
  #addedMs = 0
  /** Called before and after each timer. */
  onTurn = (): void => {}

  override now(): number {
    return super.now() + (this.#addedMs += 1)
  }

  override timer(delayMs: number, fire: () => void): () => void {
    return super.timer(delayMs, () => {
      this.onTurn()
      fire()
      this.onTurn()
    })
  }
}

const bench = useSpoolBench({ createClock: () => new SlowClock(Date.now()) })
const { scratch, root, processes, begin, kill, inject, restore } = bench

const destinationOf = (at: string, key = KEY_OF_TESTS): string => join(at, nameDestination(URL_OF_TESTS, key))

/** Creates folders of ended processes, each with one batch that contains one entry, its number. */
async function leave(count: number, apiKey = KEY_OF_TESTS): Promise<void> {
  const from = join(scratch, 'elsewhere')
  const to = destinationOf(root, apiKey)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (let n = 0; n < count; n += 1) {
    const run = new ProcessRun({ root: from, clock: bench.clock, machine: processes.born(), spool: { apiKey } })
    run.add(String(n))
    run.batcher.seal()
    run.spool.close()
    const [name = ''] = readdirSync(destinationOf(from, apiKey)).filter((one) => one.endsWith('.left'))
    renameSync(join(destinationOf(from, apiKey), name), join(to, name))
    await bench.clock.advance(1)
  }
}

/** Counts the maximum of calls in one turn, from now on; `mark` ends a turn. */
function counted(
  call: Parameters<typeof failing>[0],
  isCounted: (path: string) => boolean = () => true,
): { mark(): void; readonly most: number; readonly all: number } {
  let calls = 0
  let all = 0
  let most = 0
  const mark = (): void => {
    most = Math.max(most, calls)
    calls = 0
  }
  inject(
    failing(call, ([path]) => {
      if (isCounted(String(path))) {
        calls += 1
        all += 1
      }
      return undefined
    }),
  )
  bench.clock.onTurn = mark
  return {
    mark,
    get most() {
      return Math.max(most, calls)
    },
    get all() {
      return all
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('maxBytes was lowered below the size of claimed segments', () => {
  const MAX_BYTES = MIB
  const quick = (): FakeClock => new FakeClock(bench.clock.wallNow())

  function leaveMuch(): number {
    const run = begin({ maxBytes: 64 * MIB })
    for (let n = 0; n < 3; n += 1) writeBytes(run, 4 * MIB)
    kill(run)
    return run.account.received
  }

  test('a log call reads and deletes none of them; they are counted in turns, then deleted a few at a time', async () => {
    const received = leaveMuch()
    const run = begin({ maxBytes: MAX_BYTES }, { clock: quick() })
    const reads = counted('readSync')
    const unlinks = counted('unlinkSync')
    writeBytes(run, SEGMENT_BYTES)
    expect([reads.all, unlinks.all]).toEqual([0, 0])
    while (run.spool.recovery.droppingBytes > 0) {
      const deleted = unlinks.all
      await turn()
      // Eight segments and their acknowledgements: they are reported together.
      expect(unlinks.all - deleted).toBeLessThanOrEqual(16)
      expect(run.account.snapshot().balances).toBe(true)
    }
    expect(reads.all).toBe(0)
    const left = (await run.recoverAll()).reduce((sum, { count }) => sum + count, 0)
    expect(run.account.dropped.spool).toBe(received - left)
    expect(segmentsBelow(root).reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(MAX_BYTES)
  })

  test('segments are evicted after a claim that takes several time slices', async () => {
    leaveMuch()
    const run = begin({ maxBytes: MAX_BYTES })
    expect(run.spool.recovery.scanning.isBusy).toBe(true)
    writeBytes(run, 1)
    await bench.clock.advance(2_000)
    spillBatches(run, run.batches)
    expect(run.spool.usedShare).toBeGreaterThan(0)
    await bench.clock.advance(2_000)
    expect(run.spool.recovery.droppingBytes).toBeGreaterThan(0)
    expect(run.problems).toEqual([])
  })

  test('the size of a file is read once, for any number of deletions', () => {
    for (let n = 0; n < 40; n += 1) {
      const run = begin({ maxBytes: 64 * MIB })
      writeBytes(run, SEGMENT_BYTES)
      kill(run)
    }
    const run = begin({ maxBytes: MAX_BYTES }, { clock: quick() })
    const files = filesBelow(root).length
    const counts = counted('lstatSync', (path) => path.endsWith('.seg'))
    writeBytes(run, 1)
    expect(counts.all).toBeLessThan(files)
  })

  test('without file descriptors no segment is deleted before it is counted; counting continues at the next scan', async () => {
    const received = leaveMuch()
    const own = quick()
    const run = begin({ maxBytes: MAX_BYTES }, { clock: own })
    inject(failing('openSync', ([path]) => (/\.live\/[^/]+\/[^/]+\.seg$/.test(String(path)) ? 'EMFILE' : undefined)))
    writeBytes(run, SEGMENT_BYTES)
    while (run.problems.length === 0) await turn()
    expect(run.problems).toEqual([expect.stringContaining('EMFILE')])
    expect(run.drops).toEqual([])
    restore()
    await own.advance(SCAN_MS)
    while (run.spool.recovery.droppingBytes > 0) await turn()
    const left = (await run.recoverAll()).reduce((sum, { count }) => sum + count, 0)
    expect(run.account.dropped.spool).toBe(received - left)
  })
})

test('many folders are claimed a few per turn, oldest first', async () => {
  const FOLDERS = 60
  await leave(FOLDERS)
  const claims = counted('renameSync', (path) => path.endsWith('.left'))
  const run = begin()
  expect(claims.all).toBeGreaterThan(0)
  expect(run.foundTimes).toBe(1)
  claims.mark()
  await bench.clock.advance(1)
  expect(claims.all).toBe(FOLDERS)
  expect(claims.most).toBeLessThan(10)
  const recovered = await run.recoverAll()
  expect(recovered.map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { logs: number[] }).logs[0])).toEqual(
    [...Array(FOLDERS).keys()],
  )
})

test('closing the spool cancels a claim that takes many turns', async () => {
  await leave(60)
  const claims = counted('renameSync', (path) => path.endsWith('.left'))
  begin().spool.close()
  const before = claims.all
  await bench.clock.advance(SCAN_MS)
  expect(claims.all).toBe(before)
})

test('room is made while claims take many turns and the application never returns to the event loop', async () => {
  await leave(60)
  const run = begin({ maxBytes: MIB })
  expect(run.spool.recovery.scanning.isBusy).toBe(true)
  writeBytes(run, 4 * MIB)
  const bytes = segmentsBelow(root).reduce((sum, { path }) => sum + statSync(path).size, 0)
  expect(bytes).toBeLessThan(2.5 * MIB)
})

describe('many files of other processes', () => {
  const MAX_BYTES = MIB

  function others(bytes: number, count = 1_000): void {
    const folder = join(root, 'aaaaaaaaaaaaaaaa')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (let n = 0; n < count; n += 1) writeFileSync(join(folder, String(n)), Buffer.alloc(bytes / count))
  }

  test('are summed a few per turn', async () => {
    others(1_000)
    const run = begin({ maxBytes: MAX_BYTES })
    const counts = counted('lstatSync', (path) => path.includes('aaaaaaaaaaaaaaaa'))
    writeBytes(run, 1)
    counts.mark()
    await bench.clock.advance(1)
    expect(counts.all).toBe(1_000)
    expect(counts.most).toBeLessThan(300)
  })

  test('that leave no room: one segment is begun before the sum is known, and none after', async () => {
    others(MAX_BYTES)
    const run = begin({ maxBytes: MAX_BYTES })
    writeBytes(run, 1)
    expect(run.batches[0]).toHaveProperty('place')
    await bench.clock.advance(1)
    writeBytes(run, 2 * SEGMENT_BYTES)
    expect(run.problems).toEqual([expect.stringMatching(/spool\.maxBytes 1048576/)])
    expect(run.drops).toEqual([])
  })

  test('that leave too little room: the oldest own segment is deleted after the sum, not the one being written', async () => {
    const run = begin({ maxBytes: MAX_BYTES })
    writeBytes(run, 4 * SEGMENT_BYTES)
    await bench.clock.advance(1)
    others(MAX_BYTES - 3 * SEGMENT_BYTES)
    const before = segmentsBelow(root).map(({ path }) => path)
    writeBytes(run, SEGMENT_BYTES)
    await bench.clock.advance(1)
    const after = segmentsBelow(root).map(({ path }) => path)
    expect(after.length).toBeGreaterThan(1)
    expect(after).not.toContain(before[0])
    expect(after).toContain(run.spool.log.current?.segment.path)
    for (const batch of run.batches.splice(0)) run.settle(batch)
    expect(run.account.snapshot()).toMatchObject({ pending: 0, balances: true })
  })

  test('other files in the root, which may be any folder, are ignored', () => {
    const foreign = join(root, 'home', 'of', 'others')
    mkdirSync(foreign, { recursive: true })
    writeFileSync(join(foreign, 'large'), Buffer.alloc(2 * MAX_BYTES))
    const counts = [
      counted('lstatSync', (path) => path.includes('/home')),
      counted('readdirSync', (path) => path.includes('/home')),
    ]
    const run = begin({ maxBytes: MAX_BYTES }, { clock: new FakeClock(bench.clock.wallNow()) })
    writeBytes(run, SEGMENT_BYTES)
    expect(counts.map(({ all }) => all)).toEqual([0, 0])
    expect(run.problems).toEqual([])
  })
})

test('folders for another key are aged a few per turn, and reported together', async () => {
  const FOLDERS = 60
  await leave(FOLDERS, 'another key')
  await bench.clock.advance(900_000)
  const counts = counted('lstatSync', (path) => path.endsWith('.seg'))
  const run = begin()
  counts.mark()
  await bench.clock.advance(1)
  expect(counts.all).toBeGreaterThanOrEqual(FOLDERS)
  expect(counts.most).toBeLessThan(20)
  expect(run.notes.map(({ kind }) => kind)).toEqual(['stranded'])
})
