import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { failing } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { ProcessRun } from './process-run.js'
import { countsOf, useSpoolBench } from './spool-bench.js'
import { SPOOL_MESSAGES } from '../../src/diagnostics/messages.js'

const RETRY_MS = 5_000

const bench = useSpoolBench()
const { root, begin, kill, inject, restore } = bench

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
