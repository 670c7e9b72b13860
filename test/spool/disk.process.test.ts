import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { failing, shortWrites } from './disk-faults.js'
import { filesBelow, segmentsBelow } from './disk-image.js'
import { ProcessRun } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'
import { countsOf, useSpoolBench } from './spool-bench.js'
import { SPOOL_MESSAGES } from '../../src/diagnostics/messages.js'

const RETRY_MS = 5_000
const canMount = triesToMount()
const mountReason = canMount ? '' : ' (skipped: no permission to mount a file system)'

const bench = useSpoolBench()
const { root, destination, begin, kill, inject, restore } = bench

/** Written entry by entry. @returns the batch */
async function write(
  run: ProcessRun,
  count: number,
  meanwhile: (n: number) => Promise<void> | void = () => {},
): Promise<Batch> {
  for (let n = 0; n < count; n += 1) {
    await meanwhile(n)
    run.add(JSON.stringify({ n, padding: 'x'.repeat(100) }))
    run.batcher.commit()
    await bench.clock.advance(3)
  }
  run.batcher.seal()
  return run.batches.at(-1) as Batch
}

/** Makes segment writes fail from now on. @returns a function that restores them */
function failingWrites(code: string): () => void {
  const mend = failing('writeSync', ([, bytes]) => (Buffer.isBuffer(bytes) && bytes.length !== 40 ? code : undefined))
  inject(mend)
  return mend
}

describe.each(['ENOSPC', 'EIO', 'EROFS', 'EDQUOT'])('%s', (code) => {
  test('entries stay in memory, which is reported once, and the disk is retried after 5 s', async () => {
    const run = begin()
    const mend = failingWrites(code)
    for (let n = 0; n < 3; n += 1) expect(await write(run, 2)).not.toHaveProperty('place')
    expect(run.problems).toEqual([expect.stringMatching(new RegExp(`: ${root}: ${code}.*PINO_INGEST_SPOOL_DIR`))])
    mend()
    expect(await write(run, 2)).not.toHaveProperty('place')
    await bench.clock.advance(RETRY_MS)
    const kept = await write(run, 2)
    expect(kept).toHaveProperty('place')
    expect(kept.acknowledgement?.isDurable).toBe(true)
    expect(run.notes).toEqual([{ kind: 'spooling', message: SPOOL_MESSAGES.writableAgain.text() }])
    expect(run.account.snapshot()).toMatchObject({ received: 10, pending: 10, balances: true })
    kill(run)
    const successor = begin()
    const recovered = await successor.recoverAll()
    expect(recovered.map(({ batchId }) => batchId)).toEqual([kept.batchId])
  })

  test('in the middle of a batch: the entries on disk are one batch, the others another one in memory', async () => {
    const run = begin()
    await write(run, 6, (n) => void (n === 3 && failingWrites(code)))
    expect(run.batches.map(({ count }) => count)).toEqual([3, 3])
    expect(run.batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([true, undefined])
    for (const batch of run.batches) run.settle(batch)
    restore()
    kill(run)
    expect(await begin().recoverAll()).toEqual([])
    expect(segmentsBelow(root)).toEqual([])
  })

  test('in the middle of a batch that was sent without a reply: the same content is sent again under its id', async () => {
    const run = begin()
    await write(run, 6, (n) => void (n === 3 && failingWrites(code)))
    restore()
    kill(run)
    expect(await begin().recoverAll()).toMatchObject(
      run.batches.slice(0, 1).map(({ batchId, count, body }) => ({ batchId, count, body })),
    )
  })

  test('in the middle of a batch whose process is killed: its entries on disk are sent', async () => {
    const run = begin()
    await write(run, 6, (n) => void (n === 3 && failingWrites(code)))
    restore()
    kill(run)
    const successor = begin()
    expect(countsOf(await successor.recoverAll())).toEqual([3])
    expect(successor.account.dropped.damaged).toBe(0)
  })

  test('that ends: later batches are on disk again', async () => {
    const run = begin()
    await write(run, 6, async (n) => {
      if (n === 2) failingWrites(code)
      if (n === 4) {
        restore()
        await bench.clock.advance(RETRY_MS)
      }
    })
    expect(countsOf(run.batches)).toEqual([2, 2, 2])
    expect(run.batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([true, undefined, true])
    kill(run)
    const successor = begin()
    const recovered = await successor.recoverAll()
    expect(recovered).toMatchObject(
      [0, 2].map((at) => run.batches[at]).map(({ batchId, count, body } = {} as Batch) => ({ batchId, count, body })),
    )
    for (const one of recovered) successor.settle(one)
    successor.spool.close()
    expect(segmentsBelow(root)).toEqual([])
  })
})

test('partial writes are continued', async () => {
  const run = begin()
  inject(shortWrites(50))
  const batch = await write(run, 5)
  restore()
  expect(batch).toHaveProperty('place')
  kill(run)
  const [recovered] = await begin().recoverAll()
  expect(Buffer.from(recovered?.body ?? [])).toEqual(batch.body)
})

test.each(['EMFILE', 'ENFILE', 'EACCES'])('%s for every file: only memory, then the disk again', async (code) => {
  inject(failing('openSync', ([path]) => (String(path).startsWith(root) ? code : undefined)))
  const run = begin()
  expect(await write(run, 2)).not.toHaveProperty('place')
  expect(run.problems).toEqual([expect.stringContaining(code)])
  restore()
  await bench.clock.advance(RETRY_MS)
  expect(await write(run, 2)).toHaveProperty('place')
})

test('a file in place of the root, or of the destination', async () => {
  writeFileSync(root, '')
  const run = begin()
  expect(await write(run, 2)).not.toHaveProperty('place')
  expect(run.problems).toEqual([expect.stringMatching(/root is not a folder; they stay in memory/)])
  rmSync(root)
  await bench.clock.advance(RETRY_MS)
  expect(await write(run, 2)).toHaveProperty('place')
})

test('the folder of a running process is deleted: it continues in a new one', async () => {
  const run = begin()
  await write(run, 2)
  rmSync(root, { recursive: true })
  await bench.clock.advance(4 * RETRY_MS)
  const batch = await write(run, 2)
  expect(batch?.acknowledgement?.isDurable).toBe(true)
  expect(segmentsBelow(root)).toHaveLength(1)
  expect(run.account.snapshot()).toMatchObject({ pending: 4, balances: true })
})

test('a failed deletion is reported, and causes at most a duplicate', async () => {
  const run = begin()
  const batch = await write(run, 2)
  inject(failing('unlinkSync', () => 'EROFS'))
  run.settle(batch)
  run.spool.close()
  restore()
  expect(run.problems.every((problem) => problem.startsWith(SPOOL_MESSAGES.failed.text('')))).toBe(true)
  expect(run.problems.length).toBeGreaterThan(0)
  expect(await begin().recoverAll()).toEqual([])
})

test('a failed claim is reported, and retried', async () => {
  const run = begin()
  await write(run, 2)
  kill(run)
  inject(failing('renameSync', () => 'EACCES'))
  const successor = begin()
  expect(await successor.recoverAll()).toEqual([])
  expect(successor.problems).toEqual([expect.stringContaining('EACCES')])
  restore()
  await bench.clock.advance(31_000)
  expect(countsOf(await successor.recoverAll())).toEqual([2])
})

test('dead letters that cannot be written are reported', () => {
  const run = begin()
  inject(failing('openSync', ([path]) => (String(path).endsWith('.ndjson') ? 'ENOSPC' : undefined)))
  run.spool.writeDeadLetters([{ batchId: 'b', index: 0, status: 422, code: '', field: '', reason: 'why', entry: '{}' }])
  expect(run.problems).toEqual([expect.stringMatching(/1 rejected entries .*ENOSPC/)])
})

describe.skipIf(!canMount)(`a separate file system${mountReason}`, () => {
  beforeEach(() => {
    mkdirSync(root)
    mount('-t', 'tmpfs', '-o', 'size=512k,mode=700', 'tmpfs')
  })

  afterEach(() => {
    restore()
    execFileSync('umount', ['-l', root])
  })

  test('that is full', async () => {
    const run = begin()
    const first = await write(run, 2)
    expect(first).toHaveProperty('place')
    const filler = join(root, 'filler')
    writeFileSync(filler, '')
    const { bavail, bsize } = statfsSync(root)
    writeFileSync(filler, Buffer.alloc(bavail * bsize))
    const batches: Batch[] = []
    for (let n = 0; n < 3; n += 1) batches.push(await write(run, 60))
    expect(batches.at(-1)).not.toHaveProperty('place')
    expect(run.problems).toEqual([expect.stringContaining('ENOSPC')])
    rmSync(filler)
    await bench.clock.advance(RETRY_MS)
    expect(await write(run, 2)).toHaveProperty('place')
    expect(run.account.snapshot()).toMatchObject({ received: 184, pending: 184, balances: true })
    for (const batch of run.batches) run.settle(batch)
    kill(run)
    const successor = begin()
    expect(await successor.recoverAll()).toEqual([])
    successor.spool.close()
    expect(filesBelow(destination)).toEqual([`${destination}/destination`])
  })

  test('that is full for a while during acknowledgements: no acknowledged batch is sent again', async () => {
    const run = begin()
    const batches: Batch[] = []
    for (let n = 0; n < 300; n += 1) {
      run.add(JSON.stringify({ n }))
      run.batcher.seal()
      batches.push(run.batches.at(-1) as Batch)
    }
    run.settle(batches[0] as Batch)
    const filler = join(root, 'filler')
    writeFileSync(filler, '')
    const { bavail, bsize } = statfsSync(root)
    writeFileSync(filler, Buffer.alloc(bavail * bsize))
    // One page of the acknowledgement log has room for 102.4 records.
    for (const batch of batches.slice(1, 150)) run.settle(batch)
    await bench.clock.advance(RETRY_MS)
    expect(run.problems.length).toBeGreaterThan(0)
    rmSync(filler)
    for (const batch of batches.slice(150, -1)) run.settle(batch)
    kill(run)
    expect((await begin().recoverAll()).map(({ batchId }) => batchId)).toEqual([batches.at(-1)?.batchId])
  })

  test('that is read-only', async () => {
    mount('-o', 'remount,ro', 'tmpfs')
    const run = begin()
    expect(await write(run, 2)).not.toHaveProperty('place')
    expect(run.problems).toEqual([expect.stringContaining('EROFS')])
    mount('-o', 'remount,rw', 'tmpfs')
    await bench.clock.advance(RETRY_MS)
    expect(await write(run, 2)).toHaveProperty('place')
  })

  test('that becomes read-only in operation', async () => {
    const run = begin()
    const batch = await write(run, 2)
    // An open file prevents a read-only remount, so opening fails instead, as after a disk error.
    inject(
      failing('openSync', () => 'EROFS'),
      failing('writeSync', () => 'EROFS'),
      failing('unlinkSync', () => 'EROFS'),
    )
    run.settle(batch)
    const second = await write(run, 2)
    expect(second).not.toHaveProperty('place')
    run.settle(second)
    run.spool.close()
    restore()
    // The first batch was accepted without a stored acknowledgement: it is sent again under its id.
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
