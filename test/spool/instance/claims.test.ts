import { mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import type { Clock } from '../../../src/shared/clock.js'
import type { Batch } from '../../../src/batch/batch.js'
import { LeaseWatch, writeOwner } from '../../../src/spool/instance/ownership.js'
import type { Machine } from '../../../src/spool/instance/ownership.js'
import { FakeClock } from '../../fake-clock.js'
import { filesBelow, segmentsBelow } from '../disk-image.js'
import { failing, fullAfter, renamesAsOnWindows, replaceCalls, system } from '../disk-faults.js'
import { ProcessRun } from '../process-run.js'
import { namesIn, useSpoolBench } from '../spool-bench.js'

const LEASE_MS = 30_000
const bench = useSpoolBench()
const { root, destination, processes, kill } = bench

/** In a separate PID namespace. */
function elsewhere(): Machine {
  const machine = processes.born()
  return { ...machine, self: { ...machine.self, namespace: `of ${machine.self.pid}` } }
}

/** Sets the modification times of `owner` as if it had not been renewed for `ageMs`. */
function setLeaseAges(ageMs: number): void {
  const seconds = (Date.now() - ageMs) / 1000
  for (const path of filesBelow(destination).filter((one) => one.endsWith('owner'))) utimesSync(path, seconds, seconds)
}

const begin = (machine?: Machine, clock: Clock = bench.clock): ProcessRun =>
  bench.begin({}, { ...(machine && { machine }), clock })

function write(run: ProcessRun, ...names: string[]): void {
  for (const name of names) run.add(JSON.stringify({ name }))
  run.batcher.commit()
}

function settleAll(run: ProcessRun, batches: readonly Batch[]): string[] {
  for (const batch of batches) run.settle(batch)
  return namesIn(batches)
}

describe('an owner in another PID namespace that is unaware of a claim', () => {
  test('its later writes are sent, and nothing is deleted before', async () => {
    // Its clock does not advance: the owner assumes that its lease is valid.
    const owner = begin(elsewhere(), new FakeClock(Date.now()))
    write(owner, 'a')
    owner.batcher.seal()
    setLeaseAges(LEASE_MS + 1_000)
    const claimer = begin()
    expect(settleAll(claimer, await claimer.recoverAll())).toEqual(['a'])
    write(owner, 'b')
    owner.batcher.seal()
    write(owner, 'c')
    await bench.clock.advance(15_000)
    expect(settleAll(claimer, await claimer.recoverAll())).toEqual(['b'])
    write(owner, 'd')
    owner.freeze()
    await bench.clock.advance(15_000)
    expect(settleAll(claimer, await claimer.recoverAll())).toEqual(['c', 'd'])
    expect(segmentsBelow(root)).toEqual([])
    expect(claimer.account.snapshot()).toMatchObject({ recovered: 4, accepted: 4, pending: 0, balances: true })
  })

  test('its open batch is sent once, when the owner can no longer write to it', async () => {
    const owner = begin(elsewhere(), new FakeClock(Date.now()))
    write(owner, 'a')
    setLeaseAges(LEASE_MS + 1_000)
    const claimer = begin()
    expect(await claimer.recoverAll()).toEqual([])
    write(owner, 'b')
    owner.batcher.seal()
    const [sealed] = owner.batches
    await bench.clock.advance(15_000)
    const [recovered, ...more] = await claimer.recoverAll()
    expect(more).toEqual([])
    expect(recovered?.batchId).toBe(sealed?.batchId)
    expect(Buffer.from(recovered?.body ?? [])).toEqual(Buffer.from(sealed?.body ?? []))
  })

  test('a frame that it is writing is read when it is complete', async () => {
    const owner = begin(elsewhere(), new FakeClock(Date.now()))
    write(owner, 'a')
    owner.batcher.seal()
    const segment = segmentsBelow(destination)[0] as { path: string }
    const { length } = readFileSync(segment.path)
    write(owner, 'b', 'c')
    const whole = readFileSync(segment.path)
    setLeaseAges(LEASE_MS + 1_000)
    truncateSync(segment.path, length + 50)
    const claimer = begin()
    expect(settleAll(claimer, await claimer.recoverAll())).toEqual(['a'])
    const claimed = segmentsBelow(destination)[0] as { path: string }
    writeFileSync(claimed.path, whole)
    await bench.clock.advance(30_000)
    expect(settleAll(claimer, await claimer.recoverAll())).toEqual(['b', 'c'])
    expect(segmentsBelow(destination)).toEqual([])
  })

  test('segments that it may still write to are not dropped to make room', async () => {
    const owner = begin(elsewhere(), new FakeClock(Date.now()))
    write(owner, 'a')
    setLeaseAges(LEASE_MS + 1_000)
    const claimer = begin()
    expect(claimer.spool.recovery.evictable).toEqual([])
    write(owner, 'b')
    await bench.clock.advance(20_000)
    expect(claimer.spool.recovery.evictable[0]?.evict()).toBeGreaterThan(0)
    await vi.waitFor(() => expect(segmentsBelow(destination)).toEqual([]))
    expect(claimer.drops.map(({ count }) => count)).toEqual([2])
  })
})

test('a suspended owner whose folder was claimed restarts the open batch under a new id', async () => {
  let stoppedMs = 0
  const still = { now: () => stoppedMs, wallNow: () => Date.now() + stoppedMs, timer: () => () => {} }
  const owner = begin(elsewhere(), still)
  write(owner, 'a', 'b')
  setLeaseAges(LEASE_MS + 1_000)
  const claimer = begin()
  await bench.clock.advance(LEASE_MS)
  const [frozen, ...others] = await claimer.recoverAll()
  expect(others).toEqual([])
  expect(namesIn([frozen as Batch])).toEqual(['a', 'b'])
  stoppedMs = LEASE_MS
  write(owner, 'c')
  owner.batcher.seal()
  const [thawed, ...more] = owner.batches
  expect(more).toEqual([])
  expect(namesIn([thawed as Batch])).toEqual(['a', 'b', 'c'])
  expect(thawed?.batchId).not.toBe(frozen?.batchId)
  expect(thawed?.acknowledgement?.isDurable).toBe(true)
  expect(owner.notes.map(({ kind }) => kind)).toEqual(['claimed'])
  expect(owner.account.snapshot()).toMatchObject({ pending: 3, balances: true })
  // The batch on disk equals the sent batch.
  owner.freeze()
  setLeaseAges(LEASE_MS + 1_000)
  const [again] = await begin().recoverAll()
  expect(again?.batchId).toBe(thawed?.batchId)
  expect(Buffer.from(again?.body ?? [])).toEqual(Buffer.from(thawed?.body ?? []))
})

test('a suspended owner without a segment, whose folder was claimed, writes to a new folder at once', async () => {
  let stoppedMs = 0
  const still = { now: () => stoppedMs, wallNow: () => Date.now() + stoppedMs, timer: () => () => {} }
  const owner = begin(elsewhere(), still)
  const mend = fullAfter(0, (path) => path.endsWith('.seg'))
  write(owner, 'a')
  mend()
  expect(owner.problems).toEqual([expect.stringContaining('ENOSPC')])
  setLeaseAges(LEASE_MS + 1_000)
  const claimer = begin()
  await claimer.recoverAll()
  stoppedMs = 2 * LEASE_MS
  write(owner, 'b')
  owner.batcher.seal()
  write(owner, 'c')
  owner.batcher.seal()
  expect(owner.batches.map((batch) => [namesIn([batch]), batch.acknowledgement?.isDurable])).toEqual([
    [['a', 'b'], true],
    [['c'], true],
  ])
  owner.freeze()
  setLeaseAges(LEASE_MS + 1_000)
  expect(namesIn(await begin().recoverAll()).toSorted()).toEqual(['a', 'b', 'c'])
})

test('a rename that succeeded but was reported as ENOENT leaves no folder unread', async () => {
  const first = begin()
  write(first, 'a')
  kill(first)
  let reports = 0
  const { renameSync } = system
  const restore = replaceCalls({
    renameSync: (from: string, to: string): void => {
      renameSync(from, to)
      if (!to.includes('.live/')) return
      reports += 1
      throw Object.assign(new Error('ENOENT: the server received the request twice'), { code: 'ENOENT' })
    },
  })
  bench.inject(restore)
  const second = begin()
  await bench.clock.advance(LEASE_MS)
  expect(settleAll(second, await second.recoverAll())).toEqual(['a'])
  expect(reports).toBe(1)
  expect(second.problems).toEqual([])
  await bench.clock.advance(LEASE_MS)
  expect(await second.recoverAll()).toEqual([])
})

test('a lease has expired if two scans more than 30 s apart find the same file', async () => {
  const watch = new LeaseWatch(bench.clock)
  mkdirSync(root)
  writeOwner(root, elsewhere().self)
  const isExpired = (): boolean => {
    watch.beginScan(() => 0)
    return watch.isExpired(root)
  }
  expect(isExpired()).toBe(false)
  await bench.clock.advance(16_000)
  expect(isExpired()).toBe(false)
  await bench.clock.advance(16_000)
  expect(isExpired()).toBe(true)
})

test('a late scan starts the comparison again: the whole machine may have slept', async () => {
  const watch = new LeaseWatch(bench.clock)
  mkdirSync(root)
  writeOwner(root, elsewhere().self)
  const isOver = (): boolean => {
    watch.beginScan(() => 0)
    return watch.isExpired(root)
  }
  expect(isOver()).toBe(false)
  await bench.clock.advance(3_600_000)
  expect(isOver()).toBe(false)
  await bench.clock.advance(16_000)
  expect(isOver()).toBe(false)
  await bench.clock.advance(16_000)
  expect(isOver()).toBe(true)
})

describe('on Windows', () => {
  const onWindows = (): Machine => ({ ...elsewhere(), platform: 'win32' })

  test('a closed folder has no open file, so it can be renamed and claimed', async () => {
    bench.inject(renamesAsOnWindows())
    const first = begin(onWindows())
    write(first, 'a', 'b')
    first.batcher.seal()
    first.spool.close()
    expect(filesBelow(destination).some((path) => path.includes('.left'))).toBe(true)
    const second = begin(onWindows())
    expect(settleAll(second, await second.recoverAll())).toEqual(['a', 'b'])
  })

  test.each([
    ['win32', 0],
    ['linux', 1],
  ] as const)(
    'a folder that cannot be renamed: on %s it is reported %i times, and claimed later',
    async (platform, count) => {
      const owner = begin(elsewhere())
      write(owner, 'a')
      owner.batcher.seal()
      owner.freeze()
      setLeaseAges(LEASE_MS + 1_000)
      const restore = failing('renameSync', ([from]) => (String(from).endsWith('.live') ? 'EPERM' : undefined))
      bench.inject(restore)
      const claimer = begin({ ...elsewhere(), platform })
      expect(settleAll(claimer, await claimer.recoverAll())).toEqual([])
      expect(claimer.problems.length > 0 ? 1 : 0).toBe(count)
      restore()
      const claimed: string[] = []
      for (let scan = 0; scan < 4; scan += 1) {
        await bench.clock.advance(15_000)
        claimed.push(...settleAll(claimer, await claimer.recoverAll()))
      }
      expect(claimed).toEqual(['a'])
    },
  )
})
