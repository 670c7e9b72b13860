import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Batch } from '../../../src/batch/sender.js'
import { SpoolFullError, evict } from '../../../src/spool/retention/eviction.js'
import type { EvictionCandidate } from '../../../src/spool/retention/eviction.js'
import { destinationName } from '../../../src/spool/spool-root.js'
import { FakeClock } from '../../fake-clock.js'
import { segmentsBelow } from '../disk-image.js'
import { KEY_OF_TESTS, ProcessRun, Processes, URL_OF_TESTS } from '../process-run.js'
import { removeScratch, scratchFolder } from '../scratch.js'

const MIB = 1024 * 1024
/** The least that there may be. */
const SEGMENT_BYTES = 64 * 1024
const MAX_BYTES = MIB
/** Shares of the limit from which entries of a level are refused. */
const REFUSE_DEBUG = 0.8
const REFUSE_INFO = 0.9

let root: string
let clock: FakeClock
let processes: Processes
let lives: ProcessRun[]
let mends: (() => void)[]

beforeEach(() => {
  root = scratchFolder()
  clock = new FakeClock(Date.now())
  processes = new Processes()
  lives = []
  mends = []
})

afterEach(() => {
  for (const mend of mends) mend()
  for (const life of lives) life.die(processes, root)
  removeScratch(root)
})

function begin(): ProcessRun {
  const life: ProcessRun = new ProcessRun({
    root,
    clock,
    machine: processes.born(),
    spool: { maxBytes: MAX_BYTES },
    // As with a service that is down, and no memory.
    onBatch: (batch) => {
      if (batch.place === undefined) life.held += batch.count
      else life.spool.evicted.push({ ...batch, place: batch.place })
    },
  })
  lives.push(life)
  return life
}

function kill(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
}

/** Ten entries in a batch. @param bytes at least */
function write(life: ProcessRun, bytes: number): void {
  const entry = JSON.stringify({ padding: 'x'.repeat(3000) })
  for (let written = 0; written < bytes; written += 10 * entry.length) {
    for (let n = 0; n < 10; n += 1) life.add(entry, 2)
    life.batcher.seal()
  }
}

function others(): string {
  const folder = join(root, 'aaaaaaaaaaaaaaaa')
  mkdirSync(folder, { recursive: true })
  return join(folder, 'held')
}

async function sendAll(life: ProcessRun): Promise<void> {
  for (;;) {
    let taken: Batch | undefined
    await life.spool.evicted.next((batch) => {
      taken = batch
      life.held += batch.count
    })
    if (taken === undefined) return
    life.settle(taken)
  }
}

describe('no room', () => {
  test.each([
    ['own', false],
    ['claimed', true],
  ])('that all of the %s would not make: nothing goes', async (_, isClaimed) => {
    let life = begin()
    write(life, 3 * SEGMENT_BYTES)
    const { received } = life.account
    if (isClaimed) {
      kill(life)
      life = begin()
    }
    const before = segmentsBelow(root).map(({ bytes }) => bytes.length)
    expect(before.length).toBeGreaterThan(2)
    writeFileSync(others(), Buffer.alloc(MAX_BYTES))
    write(life, 3 * SEGMENT_BYTES)
    expect(segmentsBelow(root).length).toBeGreaterThanOrEqual(before.length)
    expect(life.drops).toEqual([])
    expect(life.problems).toEqual([expect.stringMatching(/spool\.maxBytes 1048576.*stay in memory/)])
    expect(life.account.snapshot()).toMatchObject({ balances: true })
    kill(life)
    rmSync(others())
    const successor = begin()
    const counts = (await successor.recoverAll()).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(received)
    expect(successor.account.snapshot()).toMatchObject({ balances: true })
  })

  test('that some of the own makes: the oldest goes, and no more than is needed', () => {
    const life = begin()
    write(life, 3 * SEGMENT_BYTES)
    const before = segmentsBelow(root)
    const used = before.reduce((sum, { bytes }) => sum + bytes.length, 0)
    writeFileSync(others(), Buffer.alloc(MAX_BYTES - used - 1.5 * SEGMENT_BYTES))
    write(life, SEGMENT_BYTES)
    const after = segmentsBelow(root).map(({ path }) => path)
    expect(before.map(({ path }) => after.includes(path))).toEqual([false, ...before.slice(1).map(() => true)])
    expect(life.drops.map(({ reason }) => reason)).toEqual(['spool'])
    expect(life.problems).toEqual([])
    expect(life.account.snapshot()).toMatchObject({ balances: true })
  })

  test('that dead letters make: no segment goes', () => {
    const life = begin()
    write(life, SEGMENT_BYTES)
    const dead = join(root, destinationName(URL_OF_TESTS, KEY_OF_TESTS), 'dead')
    mkdirSync(dead)
    writeFileSync(join(dead, 'a.ndjson'), Buffer.alloc(MAX_BYTES / 2))
    writeFileSync(others(), Buffer.alloc(MAX_BYTES / 2))
    write(life, SEGMENT_BYTES)
    expect(readdirSync(dead)).toEqual([])
    expect(life.drops).toEqual([])
  })

  test('since a deletion fails: the rest stays', () => {
    const left = [100, 100, 100]
    const removable = (): EvictionCandidate[] =>
      left.map((bytes) => ({
        bytes,
        evict: () => {
          left.shift()
          return 0
        },
      }))
    expect(() => evict({ root, bytes: 300, needBytes: 150, maxBytes: 300, removable })).toThrow(SpoolFullError)
    expect(left).toHaveLength(1)
  })
})

describe('new entries near the bound', () => {
  test('are taken again, once room was made, while others still wait', async () => {
    const life = begin()
    write(life, MAX_BYTES - SEGMENT_BYTES)
    expect(life.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    let taken: Batch | undefined
    while (
      segmentsBelow(root).length > 4 &&
      (await life.spool.evicted.next((batch) => {
        taken = batch
        life.held += batch.count
      }))
    )
      life.settle(taken as Batch)
    expect(life.spool.evicted.entries).toBeGreaterThan(0)
    await clock.advance(1_000)
    expect(life.spool.usedShare).toBeLessThan(REFUSE_DEBUG)
  })

  test('cost a look at the disk once a second at most', async () => {
    const life = begin()
    write(life, MAX_BYTES - SEGMENT_BYTES)
    await clock.advance(1_000)
    expect(life.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    for (const { path } of segmentsBelow(root).slice(2)) truncate(path)
    for (let n = 0; n < 100; n += 1) expect(life.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    await clock.advance(999)
    expect(life.spool.usedShare).toBeGreaterThan(REFUSE_INFO)
    await clock.advance(1)
    expect(life.spool.usedShare).toBeLessThan(REFUSE_INFO)
  })

  test('what is written to is not counted twice', async () => {
    const life = begin()
    write(life, 0.8 * MAX_BYTES - SEGMENT_BYTES)
    const used = (): number =>
      segmentsBelow(root).reduce((sum, { path }) => sum + statSync(path).size, 0) +
      statSync(join(ownFolder(), 'owner')).size
    while (used() + (life.spool.log.current?.size ?? 0) < 0.8 * MAX_BYTES) write(life, 1)
    expect(used()).toBeLessThan(0.8 * MAX_BYTES)
    await clock.advance(1_000)
    expect(life.spool.usedShare).toBeLessThan(REFUSE_DEBUG)
    await sendAll(life)
    expect(life.account.snapshot()).toMatchObject({ pending: 0, balances: true })
  })
})

function ownFolder(): string {
  const destination = join(root, destinationName(URL_OF_TESTS, KEY_OF_TESTS))
  return join(destination, readdirSync(destination).find((name) => name.endsWith('.live')) as string)
}

function truncate(path: string): void {
  expect(existsSync(path)).toBe(true)
  closeSync(openSync(path, 'w'))
}
