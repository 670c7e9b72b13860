import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/sender.js'
import { FakeClock } from '../fake-clock.js'
import { failing, shortWrites } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { ProcessRun, Processes } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

const RETRY_MS = 5_000
const canMount = triesToMount()
const mountReason = canMount ? '' : ' (skipped: no permission to mount a file system)'

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
  for (const mend of mends.toReversed()) mend()
  for (const life of lives) life.die(processes, root)
  removeScratch(scratch)
})

function begin(): ProcessRun {
  const life = new ProcessRun({ root, clock, machine: processes.born(), batchSize: 100 })
  lives.push(life)
  return life
}

function kill(life: ProcessRun): void {
  lives = lives.filter((other) => other !== life)
  life.die(processes, root)
}

/** Written entry by entry. @returns the batch */
async function write(
  life: ProcessRun,
  count: number,
  meanwhile: (n: number) => Promise<void> | void = () => {},
): Promise<Batch> {
  for (let n = 0; n < count; n += 1) {
    await meanwhile(n)
    life.add(JSON.stringify({ n, padding: 'x'.repeat(100) }))
    life.batcher.commit()
    await clock.advance(6)
  }
  life.batcher.seal()
  return life.batches.at(-1) as Batch
}

function countsOf(batches: readonly Batch[]): number[] {
  return batches.map(({ count }) => count)
}

/** Of the segments' writes, from now on. @returns what mends it */
function failingWrites(code: string): () => void {
  const mend = failing('writeSync', ([, bytes]) => (Buffer.isBuffer(bytes) && bytes.length !== 40 ? code : undefined))
  mends.push(mend)
  return mend
}

describe.each(['ENOSPC', 'EIO', 'EROFS', 'EDQUOT'])('%s', (code) => {
  test('entries stay in memory, which is told once, and the disk is tried again after 5 s', async () => {
    const life = begin()
    const mend = failingWrites(code)
    for (let n = 0; n < 3; n += 1) expect(await write(life, 2)).not.toHaveProperty('place')
    expect(life.problems).toEqual([
      expect.stringMatching(
        new RegExp(`^entries cannot be kept on disk: ${code}.*; they stay in memory.*PINO_INGEST_SPOOL_DIR`),
      ),
    ])
    mend()
    expect(await write(life, 2)).not.toHaveProperty('place')
    await clock.advance(RETRY_MS)
    const kept = await write(life, 2)
    expect(kept).toHaveProperty('place')
    expect(kept.acknowledgement?.isDurable).toBe(true)
    expect(life.notes).toEqual([{ kind: 'spooling', message: 'entries are kept on disk again' }])
    expect(life.account.snapshot()).toMatchObject({ received: 10, pending: 10, balances: true })
    kill(life)
    const successor = begin()
    const recovered = await successor.recoverAll()
    expect(recovered.map(({ batchId }) => batchId)).toEqual([kept.batchId])
  })

  test('in the middle of a batch: the entries on disk are one batch, the others are another in memory', async () => {
    const life = begin()
    await write(life, 6, (n) => void (n === 3 && failingWrites(code)))
    expect(life.batches.map(({ count }) => count)).toEqual([3, 3])
    expect(life.batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([true, undefined])
    for (const batch of life.batches) life.settle(batch)
    mends.pop()?.()
    kill(life)
    expect(await begin().recoverAll()).toEqual([])
    expect(segmentsBelow(root)).toEqual([])
  })

  test('in the middle of a batch that was sent without a reply: the same content is sent again under its id', async () => {
    const life = begin()
    await write(life, 6, (n) => void (n === 3 && failingWrites(code)))
    mends.pop()?.()
    kill(life)
    expect(await begin().recoverAll()).toMatchObject(
      life.batches.slice(0, 1).map(({ batchId, count, body }) => ({ batchId, count, body })),
    )
  })

  test('in the middle of a batch that dies with its process: what is on disk of it is sent', async () => {
    const life = begin()
    await write(life, 6, (n) => void (n === 3 && failingWrites(code)))
    mends.pop()?.()
    kill(life)
    const successor = begin()
    expect(countsOf(await successor.recoverAll())).toEqual([3])
    expect(successor.account.dropped.damaged).toBe(0)
  })

  test('that ends: later batches are on disk again', async () => {
    const life = begin()
    await write(life, 6, async (n) => {
      if (n === 2) failingWrites(code)
      if (n === 4) {
        mends.pop()?.()
        await clock.advance(RETRY_MS)
      }
    })
    expect(countsOf(life.batches)).toEqual([2, 2, 2])
    expect(life.batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([true, undefined, true])
    kill(life)
    const successor = begin()
    const recovered = await successor.recoverAll()
    expect(recovered).toMatchObject(
      [0, 2].map((at) => life.batches[at]).map(({ batchId, count, body } = {} as Batch) => ({ batchId, count, body })),
    )
    for (const one of recovered) successor.settle(one)
    successor.spool.close()
    expect(segmentsBelow(root)).toEqual([])
  })
})

test('writes that the system cuts short are continued', async () => {
  const life = begin()
  mends.push(shortWrites(50))
  const batch = await write(life, 5)
  mends.pop()?.()
  expect(batch).toHaveProperty('place')
  kill(life)
  const [recovered] = await begin().recoverAll()
  expect(Buffer.from(recovered?.body ?? [])).toEqual(batch.body)
})

test.each(['EMFILE', 'ENFILE', 'EACCES'])('%s at every file: memory alone, then the disk again', async (code) => {
  mends.push(failing('openSync', ([path]) => (String(path).startsWith(root) ? code : undefined)))
  const life = begin()
  expect(await write(life, 2)).not.toHaveProperty('place')
  expect(life.problems).toEqual([expect.stringContaining(code)])
  mends.pop()?.()
  await clock.advance(RETRY_MS)
  expect(await write(life, 2)).toHaveProperty('place')
})

test('a file in place of the root, or of the destination', async () => {
  writeFileSync(root, '')
  const life = begin()
  expect(await write(life, 2)).not.toHaveProperty('place')
  expect(life.problems).toEqual([expect.stringMatching(/root is not a folder; they stay in memory/)])
  rmSync(root)
  await clock.advance(RETRY_MS)
  expect(await write(life, 2)).toHaveProperty('place')
})

test('the folder is deleted under a living process: it goes on in a new one', async () => {
  const life = begin()
  await write(life, 2)
  rmSync(root, { recursive: true })
  await clock.advance(4 * RETRY_MS)
  const batch = await write(life, 2)
  expect(batch?.acknowledgement?.isDurable).toBe(true)
  expect(segmentsBelow(root)).toHaveLength(1)
  expect(life.account.snapshot()).toMatchObject({ pending: 4, balances: true })
})

test('a deletion that fails is told, and costs a duplicate at most', async () => {
  const life = begin()
  const batch = await write(life, 2)
  mends.push(failing('unlinkSync', () => 'EROFS'))
  life.settle(batch)
  life.spool.close()
  mends.pop()?.()
  expect(life.problems.every((problem) => problem.startsWith('a file of the spool failed'))).toBe(true)
  expect(life.problems.length).toBeGreaterThan(0)
  expect(await begin().recoverAll()).toEqual([])
})

test('a claim that fails is told, and tried again', async () => {
  const life = begin()
  await write(life, 2)
  kill(life)
  mends.push(failing('renameSync', () => 'EACCES'))
  const successor = begin()
  expect(await successor.recoverAll()).toEqual([])
  expect(successor.problems).toEqual([expect.stringContaining('EACCES')])
  mends.pop()?.()
  await clock.advance(31_000)
  expect(countsOf(await successor.recoverAll())).toEqual([2])
})

test('dead letters that cannot be written are told', () => {
  const life = begin()
  mends.push(failing('openSync', ([path]) => (String(path).endsWith('.ndjson') ? 'ENOSPC' : undefined)))
  life.spool.writeDeadLetters([
    { batchId: 'b', index: 0, status: 422, code: '', field: '', reason: 'why', entry: '{}' },
  ])
  expect(life.problems).toEqual([expect.stringMatching(/1 rejected entries cannot be kept on disk: ENOSPC/)])
})

describe.skipIf(!canMount)(`a file system of its own${mountReason}`, () => {
  beforeEach(() => {
    mkdirSync(root)
    mount('-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs')
    mends.push(() => execFileSync('umount', ['-l', root]))
  })

  test('that is full', async () => {
    const life = begin()
    const first = await write(life, 2)
    expect(first).toHaveProperty('place')
    const filler = join(root, 'filler')
    writeFileSync(filler, '')
    const { bavail, bsize } = statfsSync(root)
    writeFileSync(filler, Buffer.alloc(bavail * bsize))
    const batches: Batch[] = []
    for (let n = 0; n < 3; n += 1) batches.push(await write(life, 60))
    expect(batches.at(-1)).not.toHaveProperty('place')
    expect(life.problems).toEqual([expect.stringContaining('ENOSPC')])
    rmSync(filler)
    await clock.advance(RETRY_MS)
    expect(await write(life, 2)).toHaveProperty('place')
    expect(life.account.snapshot()).toMatchObject({ received: 184, pending: 184, balances: true })
    for (const batch of life.batches) life.settle(batch)
    kill(life)
    const successor = begin()
    expect(await successor.recoverAll()).toEqual([])
    successor.spool.close()
    expect(filesBelow(root)).toEqual([])
  })

  test('that is temporary while batches are acknowledged: no acknowledged batch is sent again', async () => {
    const life = begin()
    const batches: Batch[] = []
    for (let n = 0; n < 300; n += 1) {
      life.add(JSON.stringify({ n }))
      life.batcher.seal()
      batches.push(life.batches.at(-1) as Batch)
    }
    life.settle(batches[0] as Batch)
    const filler = join(root, 'filler')
    writeFileSync(filler, '')
    const { bavail, bsize } = statfsSync(root)
    writeFileSync(filler, Buffer.alloc(bavail * bsize))
    // One page of the acknowledgement log has room for 102.4 records.
    for (const batch of batches.slice(1, 150)) life.settle(batch)
    expect(life.problems.length).toBeGreaterThan(0)
    rmSync(filler)
    for (const batch of batches.slice(150, -1)) life.settle(batch)
    kill(life)
    expect((await begin().recoverAll()).map(({ batchId }) => batchId)).toEqual([batches.at(-1)?.batchId])
  })

  test('that is read-only', async () => {
    mount('-o', 'remount,ro', 'tmpfs')
    const life = begin()
    expect(await write(life, 2)).not.toHaveProperty('place')
    expect(life.problems).toEqual([expect.stringContaining('EROFS')])
    mount('-o', 'remount,rw', 'tmpfs')
    await clock.advance(RETRY_MS)
    expect(await write(life, 2)).toHaveProperty('place')
  })

  test('that becomes read-only while it is at work', async () => {
    const life = begin()
    const batch = await write(life, 2)
    // Open for writing it cannot be made read-only: as after an error of the disk, nothing opens any more.
    mends.push(
      failing('openSync', () => 'EROFS'),
      failing('writeSync', () => 'EROFS'),
      failing('unlinkSync', () => 'EROFS'),
    )
    life.settle(batch)
    const second = await write(life, 2)
    expect(second).not.toHaveProperty('place')
    life.settle(second)
    life.spool.close()
    for (let n = 0; n < 3; n += 1) mends.pop()?.()
    // The first was accepted, which could not be written down: it is sent again, under its id.
    const again = await begin().recoverAll()
    expect(again.map(({ batchId }) => batchId)).toEqual([batch.batchId])
  })

  function mount(...options: string[]): void {
    execFileSync('mount', [...options, root])
  }
})

function triesToMount(): boolean {
  const folder = scratchFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false // no such program, or not permitted
  } finally {
    if (readdirSync(folder).length === 0) removeScratch(folder)
  }
}
