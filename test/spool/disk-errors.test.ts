/** Temporary disk errors: failed reads and writes are retried, and records are written completely. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Batch, DeadLetter, SegmentPosition } from '../../src/batch/sender.js'
import type { SpoolOptions } from '../../src/spool/spool.js'
import { FakeClock } from '../fake-clock.js'
import { failing } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { fullAfter } from './full-disk.js'
import { ProcessRun, Processes } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

type Placed = Batch & { readonly place: SegmentPosition }

const RENEW_MS = 5_000
const SCAN_MS = 15_000
const RECORD_BYTES = 40

let scratch: string
let root: string
let clock: FakeClock
let processes: Processes
let lives: ProcessRun[]
let mends: (() => void)[]

beforeEach(() => {
  scratch = scratchFolder()
  root = join(scratch, 'root')
  clock = new FakeClock(Date.now())
  processes = new Processes()
  lives = []
  mends = []
})

afterEach(() => {
  mend()
  for (const life of lives) life.die(processes, root)
  removeScratch(scratch)
})

function begin(spool: Partial<SpoolOptions> = {}): ProcessRun {
  const life = new ProcessRun({ root, clock, machine: processes.born(), batchSize: 10, spool })
  lives.push(life)
  return life
}

function kill(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
}

function close(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.spool.close()
  processes.die(life.machine)
}

function mend(): void {
  for (const undo of mends.splice(0).toReversed()) undo()
}

/** Batches of ten entries on disk. With 10,000 characters per entry, 42 batches fill a segment of 4 MiB. */
function written(life: ProcessRun, count: number, characters = 100): Placed[] {
  for (let n = 0; n < count * 10; n += 1) life.add(JSON.stringify({ n, padding: 'x'.repeat(characters) }))
  return life.batches.slice(-count) as Placed[]
}

async function readAll(life: ProcessRun): Promise<string[]> {
  const read: Batch[] = []
  while (await life.spool.evicted.next((batch) => read.push(batch)));
  life.held += read.reduce((sum, { count }) => sum + count, 0)
  return idsOf(read)
}

function evict(life: ProcessRun, batches: readonly Placed[]): void {
  for (const batch of batches) {
    life.held -= batch.count
    life.spool.evicted.push(batch)
  }
}

const idsOf = (batches: readonly Batch[]): string[] => batches.map(({ batchId }) => batchId)

/** Opening a file fails from now on, until `mend`. */
function failingOpen(code: string, isMeant: (path: string) => boolean): void {
  mends.push(failing('openSync', ([path]) => (isMeant(String(path)) ? code : undefined)))
}

describe.each(['EMFILE', 'ENFILE', 'EIO', 'EACCES'])('%s when batches on disk are to be read back', (code) => {
  test('entries stay pending and are read in order at the next renewal', async () => {
    const life = begin()
    const batches = written(life, 100, 10_000)
    evict(life, batches)
    failingOpen(code, (path) => path.endsWith('.seg'))
    for (let seconds = 0; seconds < 3; seconds += 1) {
      expect(await readAll(life)).toEqual([])
      await clock.advance(1_000)
    }
    expect(life.drops).toEqual([])
    expect(life.spool.evicted.entries).toBe(1_000)
    expect(life.account.snapshot()).toMatchObject({ pending: 1_000, balances: true })
    expect(life.spool.evicted.hasMore).toBe(false)
    mend()
    const found = life.foundTimes
    await clock.advance(RENEW_MS)
    expect(life.foundTimes).toBeGreaterThan(found)
    expect(await readAll(life)).toEqual(idsOf(batches))
    expect(life.account.snapshot()).toMatchObject({ pending: 1_000, balances: true })
  })
})

test('an unreadable segment is reported once and read when the error ends; other segments are read meanwhile', async () => {
  const life = begin()
  const batches = written(life, 120, 10_000)
  evict(life, batches)
  const first = batches.filter(({ place }) => place.segment === 1)
  failingOpen('EIO', (path) => path.endsWith('00000001.seg'))
  expect(await readAll(life)).toEqual(idsOf(batches.slice(first.length)))
  for (let round = 0; round < 5; round += 1) {
    await clock.advance(RENEW_MS)
    expect(await readAll(life)).toEqual([])
  }
  expect(life.problems).toEqual([expect.stringMatching(/cannot be read for now.*EIO/)])
  mend()
  await clock.advance(RENEW_MS)
  expect(await readAll(life)).toEqual(idsOf(first))
  expect(life.drops).toEqual([])
})

describe('too many open files', () => {
  test('opening an acknowledgement log fails: no settled entry is sent again', async () => {
    const life = begin()
    const [settled, open] = written(life, 2) as [Placed, Placed]
    life.settle(settled)
    kill(life)
    failingOpen('EMFILE', (path) => path.endsWith('.ack'))
    const successor = begin()
    expect(await successor.recoverAll()).toEqual([])
    mend()
    await clock.advance(SCAN_MS)
    expect(idsOf(await successor.recoverAll())).toEqual([open.batchId])
  })

  test('listing a destination fails: its folders are claimed at the next scan', async () => {
    const life = begin()
    const [batch] = written(life, 1) as [Placed]
    kill(life)
    const successor = begin()
    mends.push(failing('readdirSync', ([path]) => (String(path).startsWith(root) ? 'EMFILE' : undefined)))
    await clock.advance(SCAN_MS)
    mend()
    await clock.advance(SCAN_MS)
    expect(idsOf(await successor.recoverAll())).toEqual([batch.batchId])
  })

  test('listing a folder of another destination fails: it does not count as empty', async () => {
    const other = begin({ url: 'https://other.test/api/v1' })
    written(other, 1)
    close(other)
    const [left] = segmentsBelow(root).map(({ path }) => path) as [string]
    mends.push(failing('readdirSync', ([path]) => (path === join(left, '..') ? 'EMFILE' : undefined)))
    begin()
    await clock.advance(SCAN_MS)
    mend()
    expect(segmentsBelow(root).map(({ path }) => path)).toEqual([left])
  })
})

describe('a temporarily full disk', () => {
  const isJournal = (path: string): boolean => path.endsWith('.ack')

  test.each([0, 1, 39, 40, 41, 100])(
    'after %i bytes of acknowledgements: none is lost, and later records are read correctly',
    async (bytes) => {
      const life = begin()
      const batches = written(life, 100)
      mends.push(fullAfter(bytes, isJournal))
      for (const batch of batches.slice(0, 50)) life.settle(batch)
      mend()
      for (const batch of batches.slice(50, -1)) life.settle(batch)
      const [journal] = filesBelow(root).filter(isJournal) as [string]
      expect(readFileSync(journal).length).toBe(99 * RECORD_BYTES)
      kill(life)
      expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches.slice(-1)))
    },
  )

  test('unwritten acknowledgements are written at the next renewal', async () => {
    const life = begin()
    const batches = written(life, 100)
    failingOpen('ENOSPC', isJournal)
    for (const batch of batches.slice(1)) life.settle(batch)
    mend()
    await clock.advance(RENEW_MS)
    kill(life)
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches.slice(0, 1)))
  })

  test('unwritten acknowledgements are written at the close', async () => {
    const life = begin()
    const batches = written(life, 100)
    failingOpen('ENOSPC', isJournal)
    for (const batch of batches.slice(1)) life.settle(batch)
    mend()
    close(life)
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches.slice(0, 1)))
  })

  test.each(['renewal', 'close'])(
    'unwritten acknowledgements of claimed segments are written at the %s',
    async (when) => {
      const life = begin()
      const batches = written(life, 20)
      kill(life)
      const claimer = begin()
      const claimed = await claimer.recoverAll()
      failingOpen('ENOSPC', isJournal)
      for (const batch of claimed.slice(1)) claimer.settle(batch)
      mend()
      if (when === 'close') close(claimer)
      else {
        await clock.advance(RENEW_MS)
        kill(claimer)
      }
      expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches.slice(0, 1)))
    },
  )

  test.each([0, 1, 700, 2_000, 4_095])(
    'after %i bytes of dead letters: each is completely on disk, or reported',
    (bytes) => {
      const life = begin()
      const letter = (index: number): DeadLetter => ({
        batchId: 'b',
        index,
        status: 422,
        code: '',
        field: '',
        reason: 'why',
        entry: `{"n":${index}}`,
      })
      mends.push(fullAfter(bytes, (path) => path.endsWith('.ndjson')))
      for (let n = 0; n < 30; n += 3) life.spool.writeDeadLetters([letter(n), letter(n + 1), letter(n + 2)])
      mend()
      life.spool.writeDeadLetters([letter(30)])
      const lines = filesBelow(root)
        .filter((path) => path.endsWith('.ndjson'))
        .flatMap((path) =>
          readFileSync(path, 'utf8')
            .split('\n')
            .filter((line) => line !== ''),
        )
      const kept = lines.map((line) => (JSON.parse(line) as { entry: { n: number } }).entry.n)
      const reported = life.problems.map((problem) =>
        Number(/^(\d+) rejected entries cannot be kept on disk: ENOSPC/.exec(problem)?.[1]),
      )
      expect(kept.at(-1)).toBe(30)
      expect(kept.length + reported.reduce((sum, count) => sum + count, 0)).toBe(31)
    },
  )
})

test('a failed deletion of a segment keeps its acknowledgements: no entry is sent again', async () => {
  const life = begin()
  const batches = written(life, 3)
  mends.push(failing('unlinkSync', ([path]) => (String(path).endsWith('.seg') ? 'EACCES' : undefined)))
  for (const batch of batches) life.settle(batch)
  close(life)
  mend()
  expect(readdirSync(root)).toHaveLength(1)
  expect(await begin().recoverAll()).toEqual([])
})

test.each(['.seg', '.ack'])(
  'a segment of which the %s cannot be read is counted at a later scan, before it is deleted to make room',
  async (suffix) => {
    const ended = begin()
    const [first] = written(ended, 5) as [Placed]
    ended.settle(first)
    kill(ended)
    const life = begin()
    const left = segmentsBelow(root)[0] as { path: string }
    mends.push(
      failing('openSync', ([path]) => (String(path) === left.path.replace('.seg', suffix) ? 'EIO' : undefined)),
    )
    life.spool.recovery.removable[0]?.evict()
    await vi.waitFor(() => expect(life.problems).toHaveLength(1))
    expect(filesBelow(root)).toContain(left.path)
    mend()
    await clock.advance(SCAN_MS)
    await vi.waitFor(() => expect(segmentsBelow(root)).toEqual([]))
    expect(life.account.snapshot()).toMatchObject({ dropped: { spool: 4 * first.count }, balances: true })
  },
)

test('an error of the disk at the close does not keep the folder from the next process', () => {
  const life = begin()
  written(life, 1)
  mends.push(failing('lstatSync', ([path]) => (String(path).endsWith('.seg') ? 'EIO' : undefined)))
  life.spool.close()
  mend()
  expect(segmentsBelow(root).map(({ path }) => path)).toEqual([expect.stringContaining('.left')])
})

test('a segment of which the folder cannot be synchronised leaves no open file', async () => {
  const life = begin({ durability: 'power' })
  const open = (): number => readdirSync('/proc/self/fd').length
  mends.push(failing('openSync', ([path]) => (String(path).endsWith('.live') ? 'EMFILE' : undefined)))
  const before = open()
  for (let n = 0; n < 10; n += 1) {
    written(life, 1)
    await clock.advance(6_000)
  }
  expect(open() - before).toBeLessThan(4)
  expect(segmentsBelow(root)).toEqual([])
})
