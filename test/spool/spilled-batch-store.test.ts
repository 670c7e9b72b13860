/** Waiting batches are read from the real disk in order, without those already sent from memory. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Batch, SegmentPosition } from '../../src/batch/batch.js'
import { SpilledBatchStore } from '../../src/spool/spilled-batch-store.js'
import { FakeClock } from '../fake-clock.js'
import { failing } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { ProcessRun, Processes } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

type Placed = Batch & { readonly place: SegmentPosition }

let scratch: string
let run: ProcessRun

beforeEach(() => {
  scratch = scratchFolder()
  run = new ProcessRun({
    root: join(scratch, 'root'),
    clock: new FakeClock(Date.now()),
    machine: new Processes().born(),
    batchSize: 10,
    spool: { maxBytes: 16 * 1024 * 1024 },
  })
})

afterEach(() => {
  run.spool.close()
  removeScratch(scratch)
})

/** Batches on disk, by number. */
function written(count: number): Placed[] {
  for (let n = 0; n < count * 10; n += 1) run.add(JSON.stringify({ n, padding: 'x'.repeat(10_000) }))
  return run.batches as Placed[]
}

async function readAll(): Promise<string[]> {
  const read: Batch[] = []
  while (await run.spool.spilled.next((batch) => read.push(batch)));
  return read.map(({ batchId }) => batchId)
}

const idsOf = (batches: readonly Batch[]): string[] => batches.map(({ batchId }) => batchId)

test('batches that are sent from memory are not read back, wherever they are stored', async () => {
  const batches = written(60)
  const { spilled } = run.spool
  for (const [n, batch] of batches.entries()) {
    if (n >= 5 && n % 3 === 0) spilled.pass(batch)
    else spilled.push(batch, n)
  }
  const waiting = batches.filter((_, n) => n < 5 || n % 3 !== 0)
  expect(spilled.batches).toBe(waiting.length)
  expect(await readAll()).toEqual(idsOf(waiting))
  expect(spilled.batches).toBe(0)
})

test('a damaged batch does not change which batches were passed, and is counted', async () => {
  const [first, second, third] = written(3) as [Placed, Placed, Placed]
  const { spilled } = run.spool
  spilled.push(first, 0)
  spilled.pass(second)
  spilled.push(third, 2)
  const file = segmentsBelow(scratch)[0]?.path as string
  const fd = openSync(file, 'r+')
  writeSync(
    fd,
    Buffer.alloc(third.place.offset - first.place.offset),
    0,
    third.place.offset - first.place.offset,
    first.place.offset,
  )
  closeSync(fd)
  expect(await readAll()).toEqual(idsOf([third]))
  expect(run.drops).toMatchObject([{ count: first.count, reason: 'damaged' }])
})

test('batches sent from memory ahead of waiting ones take no memory afterwards', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const spilled = new SpilledBatchStore({
    instance: { segments: new Map() },
    onDropped: () => {},
    onError: () => {},
  })
  const count = 200_000
  spilled.push({ place: { segment: 1, offset: 16 }, count: 1 }, 0)
  const batch = (n: number): Placed => ({
    batchId: `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`,
    count: 1,
    highestSeverity: 0,
    body: Buffer.alloc(0),
    place: { segment: 1 + Math.floor(n / 1000), offset: 300 + 300 * (n % 1000) },
  })
  collect()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < count; n += 1) spilled.pass(batch(n))
  collect()
  const perBatch = (process.memoryUsage().heapUsed - before) / count
  expect(perBatch).toBeLessThan(10)
  expect(spilled.batches).toBe(1)
})

test('a batch of a later segment keeps its place in the order while an earlier segment cannot be read', async () => {
  const batches = written(100)
  const [first] = batches as [Placed]
  const second = batches.find(({ place }) => place.segment > first.place.segment) as Placed
  const { spilled } = run.spool
  spilled.push(first, 0)
  spilled.push(second, 1)
  const mend = failing('openSync', ([path]) => (String(path).endsWith('00000001.seg') ? 'EIO' : undefined))
  const read: unknown[] = []
  await spilled.next(({ batchId }, sequence) => read.push(batchId, sequence, spilled.oldest))
  mend()
  expect(read).toEqual([second.batchId, 1, 0])
})
