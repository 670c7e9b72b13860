import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { nameDestination } from '../../src/spool/spool-root.js'
import { failing } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from './process-run.js'
import { SEGMENT_BYTES, useSpoolBench, writeBytes } from './spool-bench.js'

const MIB = 1024 * 1024
const MAX_BYTES = MIB
/** Shares of the limit above which entries of a level are dropped. */
const REFUSE_DEBUG = 0.8
const REFUSE_INFO = 0.9

const bench = useSpoolBench()
const { root, kill } = bench

/** The service is down and no memory is free: batches wait on disk. */
function begin(): ProcessRun {
  const run: ProcessRun = bench.begin(
    { maxBytes: MAX_BYTES },
    {
      onBatch: (batch) => {
        if (batch.place === undefined) run.held += batch.count
        else run.spill(batch)
      },
    },
  )
  return run
}

function others(): string {
  const folder = join(root, 'aaaaaaaaaaaaaaaa')
  mkdirSync(folder, { recursive: true })
  return join(folder, 'held')
}

async function sendAll(run: ProcessRun): Promise<void> {
  for (;;) {
    let taken: Batch | undefined
    await run.spool.spilled.next((batch) => {
      taken = batch
      run.held += batch.count
    })
    if (taken === undefined) return
    run.settle(taken)
  }
}

describe('no room', () => {
  test.each([
    ['own', false],
    ['claimed', true],
  ])('that evicting all %s segments would not free: nothing is deleted', async (_, isClaimed) => {
    let run = begin()
    writeBytes(run, 3 * SEGMENT_BYTES)
    const { received } = run.account
    if (isClaimed) {
      kill(run)
      run = begin()
    }
    const before = segmentsBelow(root).map(({ bytes }) => bytes.length)
    expect(before.length).toBeGreaterThan(2)
    writeFileSync(others(), Buffer.alloc(MAX_BYTES))
    writeBytes(run, 3 * SEGMENT_BYTES)
    expect(segmentsBelow(root).length).toBeGreaterThanOrEqual(before.length)
    expect(run.drops).toEqual([])
    expect(run.problems).toEqual([expect.stringMatching(/spool\.maxBytes 1048576.*stay in memory/)])
    expect(run.account.snapshot()).toMatchObject({ balances: true })
    kill(run)
    rmSync(others())
    const successor = begin()
    const counts = (await successor.recoverAll()).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(received)
    expect(successor.account.snapshot()).toMatchObject({ balances: true })
  })

  test('that evicting some own segments frees: deletes the oldest, and no more than needed', () => {
    const run = begin()
    writeBytes(run, 3 * SEGMENT_BYTES)
    const before = segmentsBelow(root)
    const used = before.reduce((sum, { bytes }) => sum + bytes.length, 0)
    writeFileSync(others(), Buffer.alloc(MAX_BYTES - used - 1.5 * SEGMENT_BYTES))
    writeBytes(run, SEGMENT_BYTES)
    const after = segmentsBelow(root).map(({ path }) => path)
    expect(before.map(({ path }) => after.includes(path))).toEqual([false, ...before.slice(1).map(() => true)])
    expect(run.drops.map(({ reason }) => reason)).toEqual(['spool'])
    expect(run.problems).toEqual([])
    expect(run.account.snapshot()).toMatchObject({ balances: true })
  })

  test('that deleting the oldest dead letters frees: no segment is deleted', () => {
    const run = begin()
    writeBytes(run, SEGMENT_BYTES)
    const dead = join(root, nameDestination(URL_OF_TESTS, KEY_OF_TESTS), 'dead')
    mkdirSync(dead)
    for (const [name, ageMs] of Object.entries({ 'a.ndjson': 0, 'b.ndjson': 3_600_000 })) {
      writeFileSync(join(dead, name), Buffer.alloc(MAX_BYTES / 4))
      const seconds = (bench.clock.wallNow() - ageMs) / 1_000
      utimesSync(join(dead, name), seconds, seconds)
    }
    writeFileSync(others(), Buffer.alloc(MAX_BYTES / 2))
    writeBytes(run, SEGMENT_BYTES)
    expect(readdirSync(dead)).toEqual(['a.ndjson'])
    expect(run.drops).toEqual([])
  })

  test('because deletions fail: the other segments are kept', () => {
    const run = begin()
    writeBytes(run, 6 * SEGMENT_BYTES)
    const before = segmentsBelow(root)
    const used = before.reduce((sum, { bytes }) => sum + bytes.length, 0)
    writeFileSync(others(), Buffer.alloc(MAX_BYTES - used + 1.5 * SEGMENT_BYTES))
    let failures = 0
    bench.inject(
      failing('unlinkSync', ([path]) => (String(path).endsWith('.seg') && ++failures > 0 ? 'EACCES' : undefined)),
    )
    writeBytes(run, SEGMENT_BYTES)
    expect(failures).toBeGreaterThan(0)
    expect(run.drops.length).toBeLessThan(before.length - 1)
    expect(run.problems).toContainEqual(expect.stringContaining('spool.maxBytes 1048576'))
    expect(run.account.snapshot()).toMatchObject({ balances: true })
  })
})

describe('new entries near the limit', () => {
  test('are accepted again after eviction, while others still wait', async () => {
    const run = begin()
    writeBytes(run, MAX_BYTES - SEGMENT_BYTES)
    expect(run.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    let taken: Batch | undefined
    while (
      segmentsBelow(root).length > 4 &&
      (await run.spool.spilled.next((batch) => {
        taken = batch
        run.held += batch.count
      }))
    )
      run.settle(taken as Batch)
    expect(run.spool.spilled.entries).toBeGreaterThan(0)
    await bench.clock.advance(1_000)
    expect(run.spool.usedShare).toBeLessThan(REFUSE_DEBUG)
  })

  test('check the disk at most once per second', async () => {
    const run = begin()
    writeBytes(run, MAX_BYTES - SEGMENT_BYTES)
    await bench.clock.advance(1_000)
    expect(run.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    for (const { path } of segmentsBelow(root).slice(2)) truncate(path)
    for (let n = 0; n < 100; n += 1) expect(run.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    await bench.clock.advance(999)
    expect(run.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    await bench.clock.advance(1)
    expect(run.spool.usedShare).toBeLessThan(REFUSE_INFO)
  })

  test('the open segment is not counted twice', async () => {
    const run = begin()
    writeBytes(run, 0.8 * MAX_BYTES - SEGMENT_BYTES)
    const used = (): number =>
      segmentsBelow(root).reduce((sum, { path }) => sum + statSync(path).size, 0) +
      statSync(join(ownFolder(), 'owner')).size
    while (used() + (run.spool.log.current?.segment.writtenBytes ?? 0) < 0.8 * MAX_BYTES) writeBytes(run, 1)
    expect(used()).toBeLessThan(0.8 * MAX_BYTES)
    await bench.clock.advance(1_000)
    expect(run.spool.usedShare).toBeLessThan(REFUSE_DEBUG)
    await sendAll(run)
    expect(run.account.snapshot()).toMatchObject({ pending: 0, balances: true })
  })
})

function ownFolder(): string {
  const destination = join(root, nameDestination(URL_OF_TESTS, KEY_OF_TESTS))
  return join(destination, readdirSync(destination).find((name) => name.endsWith('.live')) as string)
}

function truncate(path: string): void {
  expect(existsSync(path)).toBe(true)
  closeSync(openSync(path, 'w'))
}
