import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { SegmentReader } from '../../../src/spool/segment/segment-reader.js'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { FakeClock } from '../../fake-clock.js'
import { filesBelow, segmentsBelow } from '../disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from '../process-run.js'
import { countsOf, deadLetter, useSpoolBench } from '../spool-bench.js'
import { SPOOL_MESSAGES } from '../../../src/diagnostics/messages.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The wall clock can be set; the monotonic clock continues unchanged. */
class SettableClock extends FakeClock {
  offsetMs = 0

  override wallNow(): number {
    return super.wallNow() + this.offsetMs
  }
}

const bench = useSpoolBench({ createClock: () => new SettableClock(Date.now()) })
const { root, processes, begin, kill, setAge } = bench

function write(run: ProcessRun, count: number): void {
  for (let n = 0; n < count; n += 1) run.add(JSON.stringify({ n }))
  run.batcher.seal()
}

describe('own segments', () => {
  const maxAgeMs = HOUR_MS

  /** Two segments; the first is complete. */
  async function beginTwo(): Promise<ProcessRun> {
    const run: ProcessRun = begin(
      { maxAgeMs },
      {
        onBatch: (batch) => {
          if (batch.place !== undefined) run.spill(batch)
        },
      },
    )
    write(run, 3)
    await bench.clock.advance(maxAgeMs / 16)
    write(run, 2)
    expect(segmentsBelow(root)).toHaveLength(2)
    return run
  }

  test('are kept if the wall clock is set forward', async () => {
    const run = await beginTwo()
    bench.clock.offsetMs = 30 * DAY_MS
    await bench.clock.advance(maxAgeMs / 2)
    expect(segmentsBelow(root)).toHaveLength(2)
    expect(run.drops).toEqual([])
  })

  test('are deleted by their true age if the wall clock is set back', async () => {
    const run = await beginTwo()
    bench.clock.offsetMs = -30 * DAY_MS
    await bench.clock.advance(maxAgeMs - maxAgeMs / 16)
    expect(run.drops).toEqual([])
    await bench.clock.advance(maxAgeMs / 16 + 30_000)
    expect(run.drops).toEqual([{ count: 3, reason: 'age', detail: 'older than spool.maxAgeMs 3600000' }])
    expect(run.account.snapshot()).toMatchObject({ pending: 2, dropped: { age: 3 }, balances: true })
  })
})

describe('entries of dead processes', () => {
  const UPTIME_MS = 2 * DAY_MS

  async function recover(uptimeMs: () => number): Promise<{ counts: number[]; drops: string[] }> {
    const run = begin({}, { machine: { ...processes.born(), uptimeMs } })
    const batches = await run.recoverAll()
    // An owner whose thread cannot be checked may still write for a while.
    await bench.clock.advance(40_000)
    batches.push(...(await run.recoverAll()))
    return { counts: countsOf(batches), drops: run.drops.map(({ count, reason }) => `${count} ${reason}`) }
  }

  beforeEach(() => {
    const run = begin()
    write(run, 10)
    kill(run)
    setAge(30 * DAY_MS)
  })

  test('are deleted if their file time is too old', async () => {
    expect(await recover(() => Infinity)).toEqual({ counts: [], drops: ['10 age'] })
    expect(segmentsBelow(root)).toEqual([])
  })

  test('are no older than the boot in which they were written, for any file time', async () => {
    expect(await recover(() => UPTIME_MS)).toEqual({ counts: [10], drops: [] })
  })

  test('are as old as their file time if they were written in another boot', async () => {
    const owner = filesBelow(root).find((path) => path.endsWith('owner')) as string
    writeFileSync(owner, readFileSync(owner, 'utf8').replace('"a boot"', '"another boot"'))
    setAge(30 * DAY_MS)
    expect(await recover(() => UPTIME_MS)).toEqual({ counts: [], drops: ['10 age'] })
  })

  test("are sent if the writer's clock was not set", async () => {
    setAge(bench.clock.wallNow() - HOUR_MS)
    expect(await recover(() => Infinity)).toEqual({ counts: [10], drops: [] })
  })
})

test('counts an expired backlog in several turns, never all at once', async () => {
  for (let n = 0; n < 20; n += 1) {
    const run = begin()
    write(run, 100)
    kill(run)
  }
  setAge(30 * DAY_MS)
  const run = begin()
  let turns = 0
  let isDone = false
  const counted = new Set<number>()
  const reading = run.spool.recovery
    .next(() => {})
    .finally(() => {
      isDone = true
    })
  for (; !isDone; turns += 1) {
    counted.add(run.account.recovered)
    expect(run.account.snapshot().balances).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await reading).toBe(false)
  expect(counted.size).toBeGreaterThan(5)
  expect(run.account.snapshot()).toMatchObject({ recovered: 2000, dropped: { age: 2000 }, pending: 0, balances: true })
  expect(segmentsBelow(root)).toEqual([])
})

test('a segment being counted is not evicted a second time', async () => {
  const first = begin()
  write(first, 60)
  write(first, 40)
  kill(first)
  setAge(30 * DAY_MS)
  const run = begin()
  const { next } = SegmentReader.prototype
  let reads = 0
  vi.spyOn(SegmentReader.prototype, 'next').mockImplementation(async function counted(this: SegmentReader) {
    reads += 1
    if (reads === 2) expect(run.spool.recovery.evictable).toEqual([])
    return next.call(this)
  })
  expect(await run.spool.recovery.next(() => {})).toBe(false)
  expect(reads).toBe(3)
  expect(run.account.snapshot()).toMatchObject({ recovered: 100, dropped: { age: 100, spool: 0 }, balances: true })
})

describe('other destinations', () => {
  const OTHER = 'the key of another'

  beforeEach(() => {
    const other = begin({ apiKey: OTHER })
    write(other, 10)
    other.spool.writeDeadLetters([deadLetter()])
    kill(other)
  })

  /** Without those of the destination itself: its description, and the mark that the entries were reported. */
  function files(): number {
    return filesBelow(join(root, nameDestination(URL_OF_TESTS, OTHER))).filter(
      (path) => !/\/(?:destination|reported)$/.test(path),
    ).length
  }

  const reports = (...some: readonly ProcessRun[]): string[] =>
    some
      .flatMap(({ notes }) => notes)
      .filter(({ kind }) => kind === 'stranded')
      .map(({ message }) => message)

  test('are reported once for any number of processes, and again after they were sent and new ones remain', async () => {
    setAge(HOUR_MS)
    const first = begin()
    expect(reports(first)).toEqual([expect.stringContaining(nameDestination(URL_OF_TESTS, OTHER))])
    const second = begin({ apiKey: 'a third key' })
    await bench.clock.advance(120_000)
    expect(reports(first, second)).toHaveLength(1)
    kill(first)
    expect(reports(begin())).toEqual([])

    const owner = begin({ apiKey: OTHER })
    for (const batch of await owner.recoverAll()) owner.settle(batch)
    write(owner, 5)
    kill(owner)
    setAge(HOUR_MS)
    await bench.clock.advance(30_000)
    expect(reports(second, begin())).toHaveLength(1)
  })

  test('are reported at once to a process with another key if the service rejected theirs', async () => {
    expect(reports(begin())).toEqual([]) // the owner may be restarting
    const owner = begin({ apiKey: OTHER })
    owner.spool.markKeyRejected()
    owner.spool.markKeyRejected()
    const running = begin()
    expect(reports(running)).toEqual([]) // the owner runs, and the service may accept its key again
    kill(owner)
    expect(reports(begin({ url: 'https://other.example.com/api/v1' }))).toEqual([])
    expect(reports(begin())).toEqual([expect.stringContaining(nameDestination(URL_OF_TESTS, OTHER))])

    const accepted = begin({ apiKey: OTHER })
    accepted.spool.markKeyRejected()
    accepted.spool.unmarkKeyRejected()
    kill(accepted)
    expect(reports(begin())).toEqual([])
  })

  test('are all in one report', () => {
    const more = begin({ apiKey: 'one more key' })
    write(more, 1)
    kill(more)
    setAge(HOUR_MS)
    const [report, ...others] = reports(begin())
    for (const key of [OTHER, 'one more key']) expect(report).toContain(nameDestination(URL_OF_TESTS, key))
    expect(others).toEqual([])
  })

  test('are kept for at least 7 days, even if maxAgeMs of this process is shorter', async () => {
    setAge(6 * DAY_MS)
    const before = files()
    const run = begin({ maxAgeMs: HOUR_MS })
    expect(files()).toBe(before)
    expect(run.notes.map(({ kind }) => kind)).toEqual(['stranded'])
  })

  test('are kept longer with a longer own maxAgeMs', () => {
    setAge(8 * DAY_MS)
    const before = files()
    begin({ maxAgeMs: 9 * DAY_MS })
    expect(files()).toBe(before)
  })

  test('are deleted when older, with a report of path and size', async () => {
    setAge(8 * DAY_MS)
    const folder = join(root, nameDestination(URL_OF_TESTS, OTHER))
    const bytes = filesBelow(folder)
      .filter((path) => !/\/(?:owner|destination)$/.test(path))
      .reduce((sum, path) => sum + readFileSync(path).length, 0)
    const run = begin({ maxAgeMs: HOUR_MS })
    expect(files()).toBe(0)
    expect(run.notes).toEqual([
      {
        kind: 'aged',
        message: SPOOL_MESSAGES.otherDestinationExpired.text(bytes, folder),
      },
    ])
    await bench.clock.advance(60_000)
    expect(run.notes).toHaveLength(1)
  })

  test('are kept if written in this boot, even if the clock was set since', () => {
    setAge(8 * DAY_MS)
    const before = files()
    begin({ maxAgeMs: HOUR_MS }, { machine: { ...processes.born(), uptimeMs: () => DAY_MS } })
    // The dead letter was deleted by its file time: it was never to be sent.
    expect(files()).toBe(before - 1)
    expect(segmentsBelow(root)).toHaveLength(1)
  })
})

test.each([HOUR_MS / 10, HOUR_MS / 2])(
  'each dead letter is deleted soon after a maxAgeMs of %i, while new ones arrive',
  async (maxAgeMs) => {
    const run = begin({ maxAgeMs })
    const sizes = new Map<string, number>()
    for (let step = 0; step < 40; step += 1) {
      run.spool.writeDeadLetters([deadLetter(step)])
      // The modification time by this clock, of the file that was written.
      setAge(0, (path) => path.endsWith('.ndjson') && sizes.get(path) !== statSync(path).size)
      for (const path of lettersBelow(root)) sizes.set(path, statSync(path).size)
      await bench.clock.advance(maxAgeMs / 20)
      const ages = lettersBelow(root).flatMap((path) =>
        readFileSync(path, 'utf8')
          .trim()
          .split('\n')
          .map((line) => bench.clock.wallNow() - Date.parse((JSON.parse(line) as { at: string }).at)),
      )
      expect(ages.length).toBeGreaterThanOrEqual(Math.min(step, 19))
      expect(Math.max(...ages)).toBeLessThan(maxAgeMs * 1.125 + 30_000)
    }
  },
)

function lettersBelow(folder: string): string[] {
  return filesBelow(folder).filter((path) => path.endsWith('.ndjson'))
}

test('own dead letters are deleted after maxAgeMs', () => {
  const dead = join(root, nameDestination(URL_OF_TESTS, KEY_OF_TESTS), 'dead')
  mkdirSync(dead, { recursive: true })
  writeFileSync(join(dead, 'old.ndjson'), '{}')
  setAge(2 * HOUR_MS)
  writeFileSync(join(dead, 'young.ndjson'), '{}')
  begin({ maxAgeMs: HOUR_MS })
  expect(['old.ndjson', 'young.ndjson'].map((name) => existsSync(join(dead, name)))).toEqual([false, true])
})
