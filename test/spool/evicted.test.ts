/** What waits on disk is read back in order, without what went past it in memory: on the real disk. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Batch, Place } from '../../src/sender.js'
import { FakeClock } from '../fake-clock.js'
import { Life, Processes } from './life.js'
import { removeScratch, scratchFolder } from './scratch.js'

type Placed = Batch & { readonly place: Place }

let scratch: string
let life: Life

beforeEach(() => {
  scratch = scratchFolder()
  life = new Life({ root: join(scratch, 'root'), clock: new FakeClock(Date.now()), machine: new Processes().born(), batchSize: 10, spool: { maxBytes: 16 * 1024 * 1024 } })
})

afterEach(() => {
  life.spool.close()
  removeScratch(scratch)
})

/** Batches on disk, by number. */
function written(count: number): Placed[] {
  for (let n = 0; n < count * 10; n += 1) life.add(JSON.stringify({ n, padding: 'x'.repeat(10_000) }))
  return life.batches as Placed[]
}

async function readAll(): Promise<string[]> {
  const read: Batch[] = []
  while (await life.spool.evicted.next((batch) => read.push(batch)));
  return read.map(({ batchId }) => batchId)
}

const idsOf = (batches: readonly Batch[]): string[] => batches.map(({ batchId }) => batchId)

test('those that pass are not read back, wherever they lie', async () => {
  const batches = written(60)
  const { evicted } = life.spool
  for (const [n, batch] of batches.entries()) {
    if (n < 5) evicted.push(batch)
    else if (n % 3 === 0) evicted.pass(batch)
    else evicted.push(batch)
  }
  const waiting = batches.filter((_, n) => n < 5 || n % 3 !== 0)
  expect(evicted.batches).toBe(waiting.length)
  expect(await readAll()).toEqual(idsOf(waiting))
  expect(evicted.batches).toBe(0)
})

test('one that passed and goes back is read again, with those behind it', async () => {
  const [first, second, third, fourth] = written(4) as [Placed, Placed, Placed, Placed]
  const { evicted } = life.spool
  evicted.push(first)
  for (const batch of [second, third]) evicted.pass(batch)
  evicted.push(fourth)
  const read: Batch[] = []
  await evicted.next((batch) => read.push(batch))
  evicted.unshift(third)
  expect([...idsOf(read), ...await readAll()]).toEqual(idsOf([first, third, fourth]))
})
