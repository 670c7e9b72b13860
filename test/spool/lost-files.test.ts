/** Files deleted by another process while in use, and files that must survive a power failure. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Batch, SegmentPosition } from '../../src/batch/sender.js'
import type { SpoolOptions } from '../../src/spool/spool.js'
import { FakeClock } from '../fake-clock.js'
import { failing } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { watchAllSyncs } from './full-disk.js'
import { ProcessRun, Processes } from './process-run.js'
import { removeScratch, scratchFolder } from './scratch.js'

type Placed = Batch & { readonly place: SegmentPosition }

const RENEW_MS = 5_000
const SYNC_MS = 1_000

let scratch: string
let root: string
let clock: FakeClock
let processes: Processes
let lives: ProcessRun[]
let mends: (() => void)[]

beforeEach(() => {
  scratch = scratchFolder()
  root = join(scratch, 'not', 'there', 'yet')
  clock = new FakeClock(Date.now())
  processes = new Processes()
  lives = []
  mends = []
})

afterEach(() => {
  for (const undo of mends.splice(0).toReversed()) undo()
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

/** Batches of ten entries. */
function written(life: ProcessRun, count: number): Placed[] {
  for (let n = 0; n < count * 10; n += 1) life.add(JSON.stringify({ n, padding: 'x'.repeat(100) }))
  return life.batches.slice(-count) as Placed[]
}

const idsOf = (batches: readonly Batch[]): string[] => batches.map(({ batchId }) => batchId)

function pathsOf(): string[] {
  return segmentsBelow(root).map(({ path }) => path)
}

describe('another process deletes the file of a segment, but not its folder', () => {
  test('entries logged after the next renewal are on disk', async () => {
    const life = begin()
    const before = written(life, 3)
    rmSync(pathsOf()[0] as string)
    await clock.advance(RENEW_MS)
    const after = written(life, 20)
    kill(life)
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(after))
    expect(before.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([false, false, false])
  })

  test('the open batch is written again with all its entries', async () => {
    const life = begin()
    await clock.advance(RENEW_MS - 20)
    for (let n = 0; n < 4; n += 1) {
      life.add(JSON.stringify({ n }))
      life.batcher.commit()
      if (n !== 1) continue
      rmSync(pathsOf()[0] as string)
      await clock.advance(20)
    }
    life.batcher.seal()
    const [batch] = life.batches as [Batch]
    expect(batch).toMatchObject({ count: 4, place: { segment: 2 } })
    kill(life)
    const recovered = await begin().recoverAll()
    expect(recovered.map(({ body }) => Buffer.from(body).toString())).toEqual([Buffer.from(batch.body).toString()])
  })

  test.each(['renewal', 'close'])('entries that were only in this file are reported at the %s', async (when) => {
    const life = begin()
    const [first, ...rest] = written(life, 5) as [Placed, ...Placed[]]
    for (const batch of rest) {
      life.held -= batch.count
      life.spool.evicted.push(batch)
    }
    rmSync(pathsOf()[0] as string)
    expect(await life.spool.evicted.next(() => {})).toBe(false)
    if (when === 'renewal') await clock.advance(RENEW_MS)
    else life.spool.close()
    expect(life.drops).toEqual([expect.objectContaining({ count: 40, reason: 'damaged' })])
    expect(life.account.snapshot()).toMatchObject({ received: 50, pending: 10, balances: true })
    life.settle(first)
  })

  test.each(['EMFILE', 'EIO'])(
    '%s while listing the folder: no file counts as deleted, and the folder is left to the next process',
    async (code) => {
      const life = begin()
      const batches = written(life, 5)
      life.held -= 50
      for (const batch of batches) life.spool.evicted.push(batch)
      const folder = dirname(pathsOf()[0] as string)
      const mend = failing('readdirSync', ([path]) => (path === folder ? code : undefined))
      await clock.advance(RENEW_MS)
      life.spool.close()
      mend()
      lives = []
      expect(life.drops).toEqual([])
      expect(life.spool.retainedEntries).toBe(50)
      // Its process is still running.
      expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches))
    },
  )

  test('the deletion of a completed segment is also detected', async () => {
    const life = begin({ maxBytes: 4 * 1024 * 1024 })
    const batches = written(life, 300)
    rmSync(pathsOf()[0] as string)
    await clock.advance(RENEW_MS)
    const lost = batches.filter(({ place }) => place.segment === 1)
    expect(lost.length).toBeLessThan(300)
    expect(batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual(
      batches.map(({ place }) => place.segment !== 1),
    )
    expect(life.drops).toEqual([])
  })
})

describe('against a power failure', () => {
  const isSegment = (path: string): boolean => path.endsWith('.seg')

  /** Records synchronised paths from now on. */
  function watch(fails?: (path: string) => boolean): string[] {
    const { synced, mend } = watchAllSyncs(fails)
    mends.push(mend)
    return synced
  }

  test('a folder is synchronised after a file or folder was created in it', () => {
    const synced = watch()
    const life = begin({ durability: 'power' })
    written(life, 1)
    const instance = dirname(pathsOf()[0] as string)
    const parents = [scratch, join(scratch, 'not'), join(scratch, 'not', 'there'), root, dirname(instance), instance]
    expect(parents.filter((path) => !synced.includes(path))).toEqual([])
  })

  test('dead letters are synchronised before their entries are settled, with their folders', () => {
    const life = begin({ durability: 'power' })
    const [batch] = written(life, 1) as [Placed]
    const synced = watch()
    life.spool.writeDeadLetters([
      { batchId: batch.batchId, index: 0, status: 422, code: '', field: '', reason: 'why', entry: '{}' },
    ])
    const destination = dirname(dirname(pathsOf()[0] as string))
    expect(synced).toEqual([expect.stringMatching(/dead\/.*\.ndjson$/), join(destination, 'dead'), destination])
  })

  test('dead letters that cannot be synchronised are reported', () => {
    const life = begin({ durability: 'power' })
    watch((path) => path.endsWith('.ndjson'))
    life.spool.writeDeadLetters([
      { batchId: 'b', index: 0, status: 422, code: '', field: '', reason: 'why', entry: '{}' },
    ])
    expect(life.problems).toEqual([expect.stringMatching(/^1 rejected entries cannot be kept on disk: EIO/)])
  })

  test('a segment that cannot be synchronised ends, is never synchronised again, and the next batch is written to another', async () => {
    const life = begin({ durability: 'power' })
    written(life, 3)
    const [failed] = pathsOf() as [string]
    let failures = 0
    const synced = watch((path) => path === failed && ++failures === 1)
    await clock.advance(SYNC_MS - 10)
    life.add('{"open":1}')
    life.batcher.commit()
    await clock.advance(10)
    await new Promise(setImmediate)
    expect(life.problems).toEqual([expect.stringMatching(/may be lost if the power fails: EIO/)])
    life.batcher.seal()
    const after = written(life, 3)
    expect(after.map(({ place }) => place?.segment)).toEqual([2, 2, 2])
    await clock.advance(SYNC_MS)
    life.spool.close()
    expect(synced).not.toContain(failed)
    expect(synced.filter(isSegment)).toContain(failed.replace('00000001', '00000002'))
    // Its entries are not lost unless the power fails.
    processes.die(life.machine)
    expect((await begin().recoverAll()).reduce((sum, { count }) => sum + count, 0)).toBe(61)
  })

  test('a segment that ends because it cannot be written to is synchronised', async () => {
    const life = begin({ durability: 'power' })
    written(life, 3)
    const [failed] = pathsOf() as [string]
    const synced = watch()
    mends.push(
      failing('writeSync', ([, bytes]) => (Buffer.isBuffer(bytes) && bytes.length !== 40 ? 'ENOSPC' : undefined)),
    )
    written(life, 1)
    expect(synced).toContain(failed)
  })

  test('if synchronising fails at the close, the next process can claim the folder at once', async () => {
    const life = begin({ durability: 'power' })
    const batches = written(life, 1)
    watch(isSegment)
    life.spool.close()
    lives = []
    expect(life.problems).toEqual([expect.stringMatching(/EIO/)])
    // Its process is still running, like an application after its logger was closed.
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches))
  })
})
