/** Limits the number of file system calls in one turn of the application's thread, on real files. */
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { destinationName } from '../../src/spool/spool-root.js'
import type { SpoolOptions } from '../../src/spool/spool.js'
import { FakeClock } from '../fake-clock.js'
import { failing } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, Processes, URL_OF_TESTS } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

const MIB = 1024 * 1024
const SEGMENT_BYTES = 64 * 1024
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

let scratch: string
let root: string
let clock: SlowClock
let processes: Processes
let lives: ProcessRun[]
let mends: (() => void)[]

beforeEach(() => {
  scratch = scratchFolder()
  root = join(scratch, 'root')
  clock = new SlowClock(Date.now())
  processes = new Processes()
  lives = []
  mends = []
})

afterEach(() => {
  for (const mend of mends) mend()
  for (const life of lives) life.die(processes, root)
  removeScratch(scratch)
})

function begin(spool: Partial<SpoolOptions> = {}, at = root, on: FakeClock = clock): ProcessRun {
  const life = new ProcessRun({ root: at, clock: on, machine: processes.born(), spool })
  lives.push(life)
  return life
}

function kill(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
}

function write(life: ProcessRun, bytes: number): void {
  const entry = JSON.stringify({ padding: 'x'.repeat(3000) })
  for (let written = 0; written < bytes; written += 10 * entry.length) {
    for (let n = 0; n < 10; n += 1) life.add(entry)
    life.batcher.seal()
  }
}

const destinationOf = (at: string, key = KEY_OF_TESTS): string => join(at, destinationName(URL_OF_TESTS, key))

/** Creates folders of ended processes, each with one batch that contains one entry, its number. */
async function leave(count: number, apiKey = KEY_OF_TESTS): Promise<void> {
  const from = join(scratch, 'elsewhere')
  const to = destinationOf(root, apiKey)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (let n = 0; n < count; n += 1) {
    const life = new ProcessRun({ root: from, clock, machine: processes.born(), spool: { apiKey } })
    life.add(String(n))
    life.batcher.seal()
    life.spool.close()
    const [name = ''] = readdirSync(destinationOf(from, apiKey)).filter((one) => one.endsWith('.left'))
    renameSync(join(destinationOf(from, apiKey), name), join(to, name))
    await clock.advance(1)
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
  mends.push(
    failing(call, ([path]) => {
      if (isCounted(String(path))) {
        calls += 1
        all += 1
      }
      return undefined
    }),
  )
  clock.onTurn = mark
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
  const quick = (): FakeClock => new FakeClock(clock.wallNow())

  function leaveMuch(): number {
    const life = begin({ maxBytes: 64 * MIB })
    for (let n = 0; n < 3; n += 1) write(life, 4 * MIB)
    kill(life)
    return life.account.received
  }

  test('a log call reads and deletes none of them; they are counted in turns, then deleted a few at a time', async () => {
    const received = leaveMuch()
    const life = begin({ maxBytes: MAX_BYTES }, root, quick())
    const reads = counted('readSync')
    const unlinks = counted('unlinkSync')
    write(life, SEGMENT_BYTES)
    expect([reads.all, unlinks.all]).toEqual([0, 0])
    while (life.spool.recovery.droppingBytes > 0) {
      const deleted = unlinks.all
      await turn()
      // Eight segments and their acknowledgements: they are reported together.
      expect(unlinks.all - deleted).toBeLessThanOrEqual(16)
      expect(life.account.snapshot().balances).toBe(true)
    }
    expect(reads.all).toBe(0)
    const left = (await life.recoverAll()).reduce((sum, { count }) => sum + count, 0)
    expect(life.account.dropped.spool).toBe(received - left)
    expect(segmentsBelow(root).reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(MAX_BYTES)
  })

  test('if claiming takes many turns, room is made afterwards', async () => {
    leaveMuch()
    const life = begin({ maxBytes: MAX_BYTES })
    expect(life.spool.recovery.scanning.isBusy).toBe(true)
    write(life, 1)
    await clock.advance(2_000)
    const batch = life.batches[0]
    life.spool.evicted.push({ ...batch, place: batch?.place } as Parameters<typeof life.spool.evicted.push>[0])
    expect(life.spool.usedShare).toBeGreaterThan(0)
    await clock.advance(2_000)
    expect(life.spool.recovery.droppingBytes).toBeGreaterThan(0)
    expect(life.problems).toEqual([])
  })

  test('the size of a file is read once, for any number of deletions', () => {
    for (let n = 0; n < 40; n += 1) {
      const life = begin({ maxBytes: 64 * MIB })
      write(life, SEGMENT_BYTES)
      kill(life)
    }
    const life = begin({ maxBytes: MAX_BYTES }, root, quick())
    const files = filesBelow(root).length
    const counts = counted('lstatSync', (path) => path.endsWith('.seg'))
    write(life, 1)
    expect(counts.all).toBeLessThan(files)
  })

  test('without file descriptors no segment is deleted before it is counted; counting continues at the next scan', async () => {
    const received = leaveMuch()
    const own = quick()
    const life = begin({ maxBytes: MAX_BYTES }, root, own)
    mends.push(failing('openSync', ([path]) => (/claimed\/.*\.seg$/.test(String(path)) ? 'EMFILE' : undefined)))
    write(life, SEGMENT_BYTES)
    while (life.problems.length === 0) await turn()
    expect(life.problems).toEqual([expect.stringContaining('EMFILE')])
    expect(life.drops).toEqual([])
    mends.pop()?.()
    await own.advance(SCAN_MS)
    while (life.spool.recovery.droppingBytes > 0) await turn()
    const left = (await life.recoverAll()).reduce((sum, { count }) => sum + count, 0)
    expect(life.account.dropped.spool).toBe(received - left)
  })
})

test('many folders are claimed a few per turn, oldest first', async () => {
  const FOLDERS = 60
  await leave(FOLDERS)
  const claims = counted('renameSync', (path) => path.endsWith('.left'))
  const life = begin()
  expect(claims.all).toBeGreaterThan(0)
  expect(life.foundTimes).toBe(1)
  claims.mark()
  await clock.advance(1)
  expect(claims.all).toBe(FOLDERS)
  expect(claims.most).toBeLessThan(10)
  const recovered = await life.recoverAll()
  expect(recovered.map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { logs: number[] }).logs[0])).toEqual(
    [...Array(FOLDERS).keys()],
  )
})

test('closing the spool cancels a claim that takes many turns', async () => {
  await leave(60)
  const claims = counted('renameSync', (path) => path.endsWith('.left'))
  begin().spool.close()
  const before = claims.all
  await clock.advance(SCAN_MS)
  expect(claims.all).toBe(before)
})

test('room is made while claims take many turns and the application never returns to the event loop', async () => {
  await leave(60)
  const life = begin({ maxBytes: MIB })
  expect(life.spool.recovery.scanning.isBusy).toBe(true)
  write(life, 4 * MIB)
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
    const life = begin({ maxBytes: MAX_BYTES })
    const counts = counted('lstatSync', (path) => path.includes('aaaaaaaaaaaaaaaa'))
    write(life, 1)
    counts.mark()
    await clock.advance(1)
    expect(counts.all).toBe(1_000)
    expect(counts.most).toBeLessThan(300)
  })

  test('that leave no room: one segment is begun before the sum is known, and none after', async () => {
    others(MAX_BYTES)
    const life = begin({ maxBytes: MAX_BYTES })
    write(life, 1)
    expect(life.batches[0]).toHaveProperty('place')
    await clock.advance(1)
    write(life, 2 * SEGMENT_BYTES)
    expect(life.problems).toEqual([expect.stringMatching(/spool\.maxBytes 1048576/)])
    expect(life.drops).toEqual([])
  })

  test('that leave too little room: the oldest own segment is deleted after the sum, not the one being written', async () => {
    const life = begin({ maxBytes: MAX_BYTES })
    write(life, 4 * SEGMENT_BYTES)
    await clock.advance(1)
    others(MAX_BYTES - 3 * SEGMENT_BYTES)
    const before = segmentsBelow(root).map(({ path }) => path)
    write(life, SEGMENT_BYTES)
    await clock.advance(1)
    const after = segmentsBelow(root).map(({ path }) => path)
    expect(after.length).toBeGreaterThan(1)
    expect(after).not.toContain(before[0])
    expect(after).toContain(life.spool.log.current?.segment.path)
    for (const batch of life.batches.splice(0)) life.settle(batch)
    expect(life.account.snapshot()).toMatchObject({ pending: 0, balances: true })
  })

  test('other files in the root, which may be any folder, are ignored', () => {
    const foreign = join(root, 'home', 'of', 'others')
    mkdirSync(foreign, { recursive: true })
    writeFileSync(join(foreign, 'large'), Buffer.alloc(2 * MAX_BYTES))
    const counts = [
      counted('lstatSync', (path) => path.includes('/home')),
      counted('readdirSync', (path) => path.includes('/home')),
    ]
    const life = begin({ maxBytes: MAX_BYTES }, root, new FakeClock(clock.wallNow()))
    write(life, SEGMENT_BYTES)
    expect(counts.map(({ all }) => all)).toEqual([0, 0])
    expect(life.problems).toEqual([])
  })
})

test('folders for another key are aged a few per turn, and reported together', async () => {
  const FOLDERS = 60
  await leave(FOLDERS, 'another key')
  await clock.advance(900_000)
  const counts = counted('lstatSync', (path) => path.endsWith('.seg'))
  const life = begin()
  counts.mark()
  await clock.advance(1)
  expect(counts.all).toBeGreaterThanOrEqual(FOLDERS)
  expect(counts.most).toBeLessThan(20)
  expect(life.notes.map(({ kind }) => kind)).toEqual(['stranded'])
})
