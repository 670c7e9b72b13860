/** Files of 4 GiB that take nothing on the disk: what no writer can have written costs neither memory nor other entries. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LARGEST_BATCH_BYTES } from '../../src/options/size-limits.js'
import { inspectRoot, readUnsettledBatches } from '../../src/spool/inspect.js'
import { FakeClock } from '../fake-clock.js'
import { readFrames, segmentsBelow } from './disk-image.js'
import { ProcessRun, Processes } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

const GIB = 1024 * 1024 * 1024
const HUGE = 4 * GIB
const HOLE = 3 * 1024 * 1024
const DIST = new URL('../../dist/cjs/spool/', import.meta.url).href

let scratch: string
let root: string
let clock: FakeClock
let processes: Processes
let lives: ProcessRun[]

beforeEach(() => {
  scratch = scratchFolder()
  root = join(scratch, 'root')
  clock = new FakeClock(Date.now())
  processes = new Processes()
  lives = []
})

afterEach(() => {
  for (const life of lives) life.die(processes, root)
  removeScratch(scratch)
})

function begin(): ProcessRun {
  const life = new ProcessRun({ root, clock, machine: processes.born(), batchSize: 4 })
  lives.push(life)
  return life
}

/** Two batches of 4 entries, of a process that was killed. @returns path of their segment */
function leave(first: number): string {
  const life = begin()
  for (let n = first; n < first + 8; n += 1) life.add(JSON.stringify({ n }))
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
  return segmentsBelow(root).at(-1)?.path as string
}

/** The beginning of a frame that claims so many bytes. */
function forged(length: number): Buffer {
  const header = Buffer.alloc(36)
  header.set([0xff, 0x70, 0x69, 0x01])
  header.writeUInt32LE(length, 8)
  header[12] = 1
  return header
}

/** Between its two batches come forged frames and a hole, behind them another hole. */
function harm(path: string): void {
  const bytes = readFileSync(path)
  const cut = readFrames(bytes).find(({ isSeal }) => isSeal)?.end as number
  const fd = openSync(path, 'w')
  const head = Buffer.concat([
    bytes.subarray(0, cut),
    forged(0xffff_ffff),
    forged(LARGEST_BATCH_BYTES + 1),
    forged(LARGEST_BATCH_BYTES - 100),
  ])
  writeSync(fd, head, 0, head.length, 0)
  writeSync(fd, bytes, cut, bytes.length - cut, head.length + HOLE)
  const end = head.length + HOLE + bytes.length - cut
  writeSync(fd, forged(0xffff_ffff), 0, 36, end)
  closeSync(fd)
  truncateSync(path, HUGE)
}

function numbersIn(bodies: readonly Uint8Array[]): number[] {
  return bodies.flatMap((body) =>
    (JSON.parse(Buffer.from(body).toString()) as { logs: { n: number }[] }).logs.map(({ n }) => n),
  )
}

test('a segment: its intact frames are sent, the rest is reported as damaged, and nothing else makes room for it', async () => {
  leave(0)
  leave(8)
  // The second has claimed what the first left.
  harm(segmentsBelow(root).find(({ bytes }) => bytes.includes('{"n":0}'))?.path as string)
  const life = begin()
  const recovered = await life.recoverAll()
  expect(numbersIn(recovered.map(({ body }) => body)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 16 }, (_, n) => n),
  )
  expect(life.drops).toEqual([])
  expect(life.problems).toHaveLength(1)
  const [, damaged] = /(\d+) bytes of \S+ are damaged/.exec(life.problems[0] as string) ?? []
  expect(Number(damaged)).toBeGreaterThan(HUGE - GIB)
  // A new segment of its own: 4 GiB in the root would be far beyond `maxBytes`.
  life.add('{"n":99}')
  life.batcher.seal()
  expect(life.batches[0]).toHaveProperty('place')
  for (const batch of recovered) life.settle(batch)
  expect(segmentsBelow(root)).toHaveLength(1)
  expect(life.account.snapshot()).toMatchObject({ recovered: 16, dropped: { damaged: 0, spool: 0 }, balances: true })
})

test('the command line reads the same of it', async () => {
  const path = leave(0)
  harm(path)
  const numbers: number[] = []
  const damaged = await readUnsettledBatches(path, ({ read }) => {
    numbers.push(
      ...read.runs.flatMap(({ text }) => (JSON.parse(`[${text.toString()}]`) as { n: number }[]).map(({ n }) => n)),
    )
  })
  expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(damaged).toBeGreaterThan(HUGE - GIB)
  const [instance] = inspectRoot(root, { machine: processes.born(), wallNowMs: clock.wallNow() })[0]?.instances ?? []
  expect(instance?.bytes).toBeLessThan(GIB)
})

test('no reader of segments, journals or owners takes more memory than a batch may have', () => {
  const path = leave(0)
  harm(path)
  const journal = path.replace(/seg$/, 'ack')
  for (const file of [journal, join(path, '../owner')]) {
    closeSync(openSync(file, 'a'))
    truncateSync(file, HUGE)
  }
  const script = `
    const [{ readSegment }, { readJournal }, { readOwner }] = await Promise.all(['inspect', 'journal', 'owner'].map((name) => import(${JSON.stringify(DIST)} + name + '.js')))
    const before = process.resourceUsage().maxRSS
    let entries = 0
    await readSegment(${JSON.stringify(path)}, ({ left }) => { entries += left.size })
    const batches = readJournal(${JSON.stringify(journal)}).size
    const owner = readOwner(${JSON.stringify(join(path, '..'))}) ?? null
    console.log(JSON.stringify({ entries, batches, owner, grownKiB: process.resourceUsage().maxRSS - before }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const { grownKiB, ...found } = JSON.parse(stdout) as { grownKiB: number }
  expect(found).toEqual({ entries: 8, batches: 0, owner: null })
  expect(grownKiB).toBeLessThan((2 * LARGEST_BATCH_BYTES) / 1024)
})

test('a journal: what is settled later still counts', async () => {
  const path = leave(0)
  const life = begin()
  const [first] = await life.recoverAll()
  expect(first?.count).toBe(4)
  const claimed = segmentsBelow(root).find(({ frames }) => frames.length > 0)?.path as string
  expect(claimed).not.toBe(path)
  const journal = claimed.replace(/seg$/, 'ack')
  closeSync(openSync(journal, 'a'))
  truncateSync(journal, HUGE)
  if (first !== undefined) life.settle(first)
  lives = []
  life.die(processes, root)
  const successor = begin()
  expect(numbersIn((await successor.recoverAll()).map(({ body }) => body))).toEqual([4, 5, 6, 7])
  rmSync(journal, { force: true })
})
