/** Temporary disk errors: failed reads and writes are retried, and records are written completely. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { Batch, DeadLetter, SegmentPosition } from '../../src/batch/batch.js'
import { failing, fullAfter, simulateFullVolume, replaceCalls, simulateFreeSpace, system } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { ProcessRun } from './process-run.js'
import { deadLetter, idsOf, spillBatches, useSpoolBench } from './spool-bench.js'
import { hasProc } from '../platform.js'

type Placed = Batch & { readonly place: SegmentPosition }

const RENEW_MS = 5_000
const SCAN_MS = 15_000
const RECORD_BYTES = 40

const bench = useSpoolBench({ batchSize: 10 })
const { root, destination, processes, begin, kill, close, inject, restore, setAge } = bench

/** Batches of ten entries on disk. With 10,000 characters per entry, 42 batches fill a segment of 4 MiB. */
function written(run: ProcessRun, count: number, characters = 100): Placed[] {
  for (let n = 0; n < count * 10; n += 1) run.add(JSON.stringify({ n, padding: 'x'.repeat(characters) }))
  return run.batches.slice(-count) as Placed[]
}

async function readAll(run: ProcessRun): Promise<string[]> {
  const read: Batch[] = []
  while (await run.spool.spilled.next((batch) => read.push(batch)));
  run.held += read.reduce((sum, { count }) => sum + count, 0)
  return idsOf(read)
}

/** Opening a file fails from now on, until `restore`. */
function failingOpen(code: string, isMeant: (path: string) => boolean): void {
  inject(failing('openSync', ([path]) => (isMeant(String(path)) ? code : undefined)))
}

describe.each(['EMFILE', 'ENFILE', 'EIO', 'EACCES'])('%s when batches on disk are to be read back', (code) => {
  test('entries stay pending and are read in order at the next renewal', async () => {
    const run = begin()
    const batches = written(run, 100, 10_000)
    spillBatches(run, batches)
    failingOpen(code, (path) => path.endsWith('.seg'))
    for (let seconds = 0; seconds < 3; seconds += 1) {
      expect(await readAll(run)).toEqual([])
      await bench.clock.advance(1_000)
    }
    expect(run.drops).toEqual([])
    expect(run.spool.spilled.entries).toBe(1_000)
    expect(run.account.snapshot()).toMatchObject({ pending: 1_000, balances: true })
    expect(run.spool.spilled.hasMore).toBe(false)
    restore()
    const found = run.foundTimes
    await bench.clock.advance(RENEW_MS)
    expect(run.foundTimes).toBeGreaterThan(found)
    expect(await readAll(run)).toEqual(idsOf(batches))
    expect(run.account.snapshot()).toMatchObject({ pending: 1_000, balances: true })
  })
})

test('an unreadable segment is reported once and read when the error ends; other segments are read meanwhile', async () => {
  const run = begin()
  const batches = written(run, 120, 10_000)
  spillBatches(run, batches)
  const first = batches.filter(({ place }) => place.segment === 1)
  failingOpen('EIO', (path) => path.endsWith('00000001.seg'))
  expect(await readAll(run)).toEqual(idsOf(batches.slice(first.length)))
  for (let round = 0; round < 5; round += 1) {
    await bench.clock.advance(RENEW_MS)
    expect(await readAll(run)).toEqual([])
  }
  expect(run.problems).toEqual([expect.stringMatching(/every 5 s.*EIO/)])
  restore()
  await bench.clock.advance(RENEW_MS)
  expect(await readAll(run)).toEqual(idsOf(first))
  expect(run.drops).toEqual([])
})

describe('too many open files', () => {
  test('opening an acknowledgement log fails: no settled entry is sent again', async () => {
    const run = begin()
    const [settled, open] = written(run, 2) as [Placed, Placed]
    run.settle(settled)
    kill(run)
    failingOpen('EMFILE', (path) => path.endsWith('.ack'))
    const successor = begin()
    expect(await successor.recoverAll()).toEqual([])
    restore()
    await bench.clock.advance(SCAN_MS)
    expect(idsOf(await successor.recoverAll())).toEqual([open.batchId])
  })

  test('listing a destination fails: its folders are claimed at the next scan', async () => {
    const run = begin()
    const [batch] = written(run, 1) as [Placed]
    kill(run)
    const successor = begin()
    inject(failing('readdirSync', ([path]) => (String(path).startsWith(root) ? 'EMFILE' : undefined)))
    await bench.clock.advance(SCAN_MS)
    restore()
    await bench.clock.advance(SCAN_MS)
    expect(idsOf(await successor.recoverAll())).toEqual([batch.batchId])
  })

  test('listing a folder of another destination fails: it does not count as empty', async () => {
    const other = begin({ url: 'https://other.test/api/v1' })
    written(other, 1)
    close(other)
    const [left] = segmentsBelow(root).map(({ path }) => path) as [string]
    inject(failing('readdirSync', ([path]) => (path === join(left, '..') ? 'EMFILE' : undefined)))
    begin()
    await bench.clock.advance(SCAN_MS)
    restore()
    expect(segmentsBelow(root).map(({ path }) => path)).toEqual([left])
  })
})

describe('a temporarily full disk', () => {
  const isJournal = (path: string): boolean => path.endsWith('.ack')

  test.each([0, 1, 39, 40, 41, 100])(
    'after %i bytes of acknowledgements: none is lost, and later records are read correctly',
    async (bytes) => {
      const run = begin()
      const batches = written(run, 100)
      inject(fullAfter(bytes, isJournal))
      for (const batch of batches.slice(0, 50)) run.settle(batch)
      restore()
      for (const batch of batches.slice(50, -1)) run.settle(batch)
      const [journal] = filesBelow(root).filter(isJournal) as [string]
      expect(readFileSync(journal).length).toBe(99 * RECORD_BYTES)
      kill(run)
      expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches.slice(-1)))
    },
  )

  test.each([
    ['own', 'renewal'],
    ['own', 'close'],
    ['claimed', 'renewal'],
    ['claimed', 'close'],
  ])('unwritten acknowledgements of %s segments are written at the %s', async (whose, when) => {
    let run = begin()
    let batches: readonly Batch[] = written(run, 100)
    const [unsettled] = idsOf(batches)
    if (whose === 'claimed') {
      kill(run)
      run = begin()
      batches = await run.recoverAll()
    }
    failingOpen('ENOSPC', isJournal)
    for (const batch of batches.slice(1)) run.settle(batch)
    restore()
    if (when === 'renewal') await bench.clock.advance(RENEW_MS)
    ;(when === 'renewal' ? kill : close)(run)
    expect(idsOf(await begin().recoverAll())).toEqual([unsettled])
  })

  test.each([0, 1, 700, 2_000, 4_095])(
    'after %i bytes of dead letters: each is completely on disk, or reported',
    (bytes) => {
      const run = begin()
      const letter = (n: number): DeadLetter => deadLetter(n, { n })
      inject(fullAfter(bytes, (path) => path.endsWith('.ndjson')))
      for (let n = 0; n < 30; n += 3) run.spool.writeDeadLetters([letter(n), letter(n + 1), letter(n + 2)])
      restore()
      run.spool.writeDeadLetters([letter(30)])
      const lines = filesBelow(root)
        .filter((path) => path.endsWith('.ndjson'))
        .flatMap((path) =>
          readFileSync(path, 'utf8')
            .split('\n')
            .filter((line) => line !== ''),
        )
      const kept = lines.map((line) => (JSON.parse(line) as { entry: { n: number } }).entry.n)
      const reported = run.problems.map((problem) => Number(/(\d+) rejected entries .*ENOSPC/.exec(problem)?.[1]))
      expect(kept.at(-1)).toBe(30)
      expect(kept.length + reported.reduce((sum, count) => sum + count, 0)).toBe(31)
    },
  )
})

describe.each([
  ['without free blocks', { blocks: true }],
  ['without free inodes', { blocks: false }],
  ['with an exhausted quota', { blocks: true, code: 'EDQUOT' }],
])('a volume %s', (_, full) => {
  function fill(): void {
    inject(simulateFullVolume(root, full))
  }

  async function settleAll(run: ProcessRun): Promise<string[]> {
    const batches = await run.recoverAll()
    for (const batch of batches) run.settle(batch)
    return idsOf(batches)
  }

  test.each(['closed', 'killed'])(
    'the entries of %s processes are sent and deleted, and the space is used again',
    async (end) => {
      const ended = [begin(), begin(), begin()]
      const ids = ended.flatMap((run) => idsOf(written(run, 3)))
      for (const run of ended) (end === 'closed' ? close : kill)(run)
      fill()
      const run = begin()
      expect((await settleAll(run)).toSorted()).toEqual(ids.toSorted())
      expect(segmentsBelow(root)).toEqual([])
      expect(run.account.snapshot()).toMatchObject({ recovered: 90, accepted: 90, pending: 0, balances: true })
      restore()
      await bench.clock.advance(RENEW_MS)
      const later = idsOf(written(run, 2))
      kill(run)
      const next = begin()
      expect(await settleAll(next)).toEqual(later)
      close(next)
      expect(filesBelow(root)).toEqual([`${destination}/destination`])
    },
  )

  test('entries of a process in another PID namespace are sent when its lease has expired', async () => {
    const machine = processes.born()
    const elsewhere = begin({}, { machine: { ...machine, self: { ...machine.self, namespace: 'another' } } })
    const ids = idsOf(written(elsewhere, 2))
    elsewhere.freeze()
    fill()
    const run = begin()
    expect(await settleAll(run)).toEqual([])
    await bench.clock.advance(3 * SCAN_MS)
    expect(await settleAll(run)).toEqual(ids)
    await bench.clock.advance(2 * SCAN_MS)
    expect(await settleAll(run)).toEqual([])
    expect(segmentsBelow(root)).toEqual([])
  })

  test('after a kill during recovery, the next process sends the unsettled batches, and none twice', async () => {
    const ended = [begin(), begin()]
    const ids = ended.flatMap((run) => idsOf(written(run, 3)))
    for (const run of ended) close(run)
    fill()
    const first = begin()
    const [batch] = (await first.recoverAll()) as [Batch]
    restore()
    first.settle(batch)
    fill()
    kill(first)
    expect((await settleAll(begin())).toSorted()).toEqual(ids.filter((id) => id !== batch.batchId).toSorted())
    expect(segmentsBelow(root)).toEqual([])
  })

  test.each(['.left', '.live'])(
    'a folder (%s) that another process claims at the same moment is left to it',
    async (suffix) => {
      const ended = begin()
      const [batch] = written(ended, 1) as [Placed]
      ;(suffix === '.left' ? close : kill)(ended)
      fill()
      const { renameSync } = system
      const taken = join(destination, 'mk2wzz81-77b0e2000000.left')
      inject(
        replaceCalls({
          renameSync: (from: string, to: string) => {
            renameSync(from, to)
            renameSync(to, taken)
          },
        }),
      )
      const run = begin()
      expect(await run.recoverAll()).toEqual([])
      expect(filesBelow(taken).some((path) => path.endsWith('.seg'))).toBe(true)
      restore()
      await bench.clock.advance(SCAN_MS)
      expect(await settleAll(run)).toEqual([batch.batchId])
      expect(segmentsBelow(root)).toEqual([])
    },
  )

  test('a running process keeps its folder', async () => {
    const running = begin()
    written(running, 2)
    fill()
    expect(await begin().recoverAll()).toEqual([])
    await bench.clock.advance(3 * SCAN_MS)
    expect(readdirSync(destination)).toHaveLength(2)
  })

  test('expired entries and dead letters are deleted', async () => {
    const maxAgeMs = 3_600_000
    const ended = begin({ maxAgeMs })
    written(ended, 2)
    close(ended)
    setAge(2 * maxAgeMs)
    fill()
    const run = begin({ maxAgeMs })
    expect(await run.recoverAll()).toEqual([])
    await vi.waitFor(() => expect(segmentsBelow(root)).toEqual([]))
    expect(run.account.dropped.age).toBe(20)
  })

  test('expired dead letters and entries of others are deleted by a process that has nothing to claim', () => {
    const other = begin({ url: 'https://other.test/api/v1' })
    written(other, 1)
    close(other)
    const letter = join(destination, 'dead', 'old.ndjson')
    mkdirSync(join(letter, '..'), { recursive: true })
    writeFileSync(letter, '{}')
    setAge(8 * 24 * 3_600_000)
    fill()
    begin()
    expect(existsSync(letter)).toBe(false)
    expect(segmentsBelow(root)).toEqual([])
  })
})

describe('the last 256 KiB of a volume', () => {
  const RESERVED = 256 * 1024

  test.each([
    [5_000, 0],
    [60_000, 0],
    [600_000, 0],
    [500, 10],
  ])(
    'are not used for entries of %i bytes while other programs write %i times as much; they go to disk again when there is more',
    async (bytes, others) => {
      const ownBytes = (): number => filesBelow(root).reduce((sum, path) => sum + statSync(path).size, 0)
      const used = (): number => ownBytes() * (1 + others)
      let size = RESERVED + 450_000
      inject(simulateFreeSpace(() => size - used()))
      const run = begin()
      for (let n = 0; n < 100; n += 1) run.add(JSON.stringify({ n, padding: 'x'.repeat(bytes) }))
      expect(used()).toBeLessThanOrEqual(450_000 + 10 * bytes * others) // those written during the last write
      expect(450_000 - used()).toBeLessThan(10 * bytes * (1 + others))
      expect(run.problems).toEqual([expect.stringMatching(/ENOSPC: \d+ .* 262144/)])
      expect(run.batches.at(-1)).not.toHaveProperty('place')
      size += 10_000_000
      await bench.clock.advance(RENEW_MS)
      expect(written(run, 1)[0]).toHaveProperty('place')
      expect(run.account.snapshot()).toMatchObject({ received: 110, pending: 110, balances: true })
    },
  )

  test.each([
    ['has no limit', () => ({ blocks: 0, bavail: 0, bsize: 4_096 })],
    [
      'does not say what is free',
      () => {
        throw new Error('ENOSYS: function not implemented, statfs')
      },
    ],
  ])('a volume that %s is used', (_, statfsSync) => {
    inject(replaceCalls({ statfsSync }))
    expect(written(begin(), 1)[0]).toHaveProperty('place')
  })
})

test('a failed deletion of a segment keeps its acknowledgements: no entry is sent again', async () => {
  const run = begin()
  const batches = written(run, 3)
  inject(failing('unlinkSync', ([path]) => (String(path).endsWith('.seg') ? 'EACCES' : undefined)))
  for (const batch of batches) run.settle(batch)
  close(run)
  restore()
  expect(readdirSync(root)).toHaveLength(1)
  expect(await begin().recoverAll()).toEqual([])
})

test.each(['.seg', '.ack'])(
  'a segment whose %s cannot be read is counted at a later scan, before it is evicted',
  async (suffix) => {
    const ended = begin()
    const [first] = written(ended, 5) as [Placed]
    ended.settle(first)
    kill(ended)
    const run = begin()
    const left = segmentsBelow(root)[0] as { path: string }
    inject(failing('openSync', ([path]) => (String(path) === left.path.replace('.seg', suffix) ? 'EIO' : undefined)))
    run.spool.recovery.evictable[0]?.evict()
    await vi.waitFor(() => expect(run.problems).toHaveLength(1))
    expect(filesBelow(root)).toContain(left.path)
    restore()
    await bench.clock.advance(SCAN_MS)
    await vi.waitFor(() => expect(segmentsBelow(root)).toEqual([]))
    expect(run.account.snapshot()).toMatchObject({ dropped: { spool: 4 * first.count }, balances: true })
  },
)

test('an error of the disk at the close does not keep the folder from the next process', () => {
  const run = begin()
  written(run, 1)
  inject(failing('lstatSync', ([path]) => (String(path).endsWith('.seg') ? 'EIO' : undefined)))
  run.spool.close()
  restore()
  expect(segmentsBelow(root).map(({ path }) => path)).toEqual([expect.stringContaining('.left')])
})

test.skipIf(!hasProc)('a segment whose folder cannot be synchronized leaves no open file', async () => {
  const run = begin({ durability: 'power' })
  const open = (): number => readdirSync('/proc/self/fd').length
  inject(failing('openSync', ([path]) => (String(path).endsWith('.live') ? 'EMFILE' : undefined)))
  const before = open()
  for (let n = 0; n < 10; n += 1) {
    written(run, 1)
    await bench.clock.advance(6_000)
  }
  expect(open() - before).toBeLessThan(4)
  expect(segmentsBelow(root)).toEqual([])
})
