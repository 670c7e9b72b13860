/** Files deleted by another process while in use, and files that must survive a power failure. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Batch, SegmentPosition } from '../../src/batch/batch.js'
import { failing, watchAllSyncs } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { ProcessRun } from './process-run.js'
import { deadLetter, idsOf, spillBatches, useSpoolBench } from './spool-bench.js'

type Placed = Batch & { readonly place: SegmentPosition }

const RENEW_MS = 5_000
const SYNC_MS = 1_000

const bench = useSpoolBench({ batchSize: 10, path: 'not/there/yet' })
const { scratch, root, processes, begin, kill, inject } = bench

/** Batches of ten entries. */
function written(run: ProcessRun, count: number): Placed[] {
  for (let n = 0; n < count * 10; n += 1) run.add(JSON.stringify({ n, padding: 'x'.repeat(100) }))
  return run.batches.slice(-count) as Placed[]
}

function pathsOf(): string[] {
  return segmentsBelow(root).map(({ path }) => path)
}

describe('another process deletes the file of a segment, but not its folder', () => {
  test('entries logged after the next renewal are on disk', async () => {
    const run = begin()
    const before = written(run, 3)
    rmSync(pathsOf()[0] as string)
    await bench.clock.advance(RENEW_MS)
    const after = written(run, 20)
    kill(run)
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(after))
    expect(before.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([false, false, false])
  })

  test('the open batch is written again with all its entries', async () => {
    const run = begin()
    await bench.clock.advance(RENEW_MS - 10)
    for (let n = 0; n < 4; n += 1) {
      run.add(JSON.stringify({ n }))
      run.batcher.commit()
      if (n !== 1) continue
      rmSync(pathsOf()[0] as string)
      await bench.clock.advance(10)
    }
    run.batcher.seal()
    const [batch] = run.batches as [Batch]
    expect(batch).toMatchObject({ count: 4, place: { segment: 2 } })
    kill(run)
    const recovered = await begin().recoverAll()
    expect(recovered.map(({ body }) => Buffer.from(body).toString())).toEqual([Buffer.from(batch.body).toString()])
  })

  test.each(['renewal', 'close'])('entries that were only in this file are reported at the %s', async (when) => {
    const run = begin()
    const [first, ...rest] = written(run, 5) as [Placed, ...Placed[]]
    spillBatches(run, rest)
    rmSync(pathsOf()[0] as string)
    expect(await run.spool.spilled.next(() => {})).toBe(false)
    if (when === 'renewal') await bench.clock.advance(RENEW_MS)
    else run.spool.close()
    expect(run.drops).toEqual([expect.objectContaining({ count: 40, reason: 'damaged' })])
    expect(run.account.snapshot()).toMatchObject({ received: 50, pending: 10, balances: true })
    run.settle(first)
  })

  test.each(['EMFILE', 'EIO'])(
    '%s while listing the folder: no file counts as deleted, and the folder is left to the next process',
    async (code) => {
      const run = begin()
      const batches = written(run, 5)
      spillBatches(run, batches)
      const folder = dirname(pathsOf()[0] as string)
      const mend = failing('readdirSync', ([path]) => (path === folder ? code : undefined))
      await bench.clock.advance(RENEW_MS)
      run.spool.close()
      mend()
      expect(run.drops).toEqual([])
      expect(run.spool.retainedEntries).toBe(50)
      // Its process is still running.
      expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches))
    },
  )

  test('the deletion of a completed segment is also detected', async () => {
    const run = begin({ maxBytes: 4 * 1024 * 1024 })
    const batches = written(run, 300)
    rmSync(pathsOf()[0] as string)
    await bench.clock.advance(RENEW_MS)
    const lost = batches.filter(({ place }) => place.segment === 1)
    expect(lost.length).toBeLessThan(300)
    expect(batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual(
      batches.map(({ place }) => place.segment !== 1),
    )
    expect(run.drops).toEqual([])
  })
})

describe('against a power failure', () => {
  const isSegment = (path: string): boolean => path.endsWith('.seg')

  /** Records synchronized paths from now on. */
  function watch(fails?: (path: string) => boolean): string[] {
    const { synced, restore } = watchAllSyncs(fails)
    inject(restore)
    return synced
  }

  test('a folder is synchronized after a file or folder was created in it', () => {
    const synced = watch()
    const run = begin({ durability: 'power' })
    written(run, 1)
    const instance = dirname(pathsOf()[0] as string)
    const parents = [scratch, join(scratch, 'not'), join(scratch, 'not', 'there'), root, dirname(instance), instance]
    expect(parents.filter((path) => !synced.includes(path))).toEqual([])
  })

  test('dead letters are synchronized before their entries are settled, with their folders', () => {
    const run = begin({ durability: 'power' })
    const [batch] = written(run, 1) as [Placed]
    const synced = watch()
    run.spool.writeDeadLetters([deadLetter(0, {}, batch.batchId)])
    const destination = dirname(dirname(pathsOf()[0] as string))
    expect(synced).toEqual([expect.stringMatching(/dead\/.*\.ndjson$/), join(destination, 'dead'), destination])
  })

  test('dead letters that cannot be synchronized are reported', () => {
    const run = begin({ durability: 'power' })
    watch((path) => path.endsWith('.ndjson'))
    run.spool.writeDeadLetters([deadLetter()])
    expect(run.problems).toEqual([expect.stringMatching(/1 rejected entries .*EIO/)])
  })

  test('a segment that cannot be synchronized ends, is never synchronized again, and the next batch is written to another', async () => {
    const run = begin({ durability: 'power' })
    written(run, 3)
    const [failed] = pathsOf() as [string]
    let failures = 0
    const synced = watch((path) => path === failed && ++failures === 1)
    await bench.clock.advance(SYNC_MS - 10)
    run.add('{"open":1}')
    run.batcher.commit()
    await bench.clock.advance(10)
    await new Promise(setImmediate)
    expect(run.problems).toEqual([expect.stringMatching(/power failure .*yet: EIO/)])
    run.batcher.seal()
    const after = written(run, 3)
    expect(after.map(({ place }) => place?.segment)).toEqual([2, 2, 2])
    await bench.clock.advance(SYNC_MS)
    run.spool.close()
    expect(synced).not.toContain(failed)
    expect(synced.filter(isSegment)).toContain(failed.replace('00000001', '00000002'))
    // Its entries are not lost unless the power fails.
    processes.die(run.machine)
    expect((await begin().recoverAll()).reduce((sum, { count }) => sum + count, 0)).toBe(61)
  })

  test('a segment that ends because it cannot be written to is synchronized', async () => {
    const run = begin({ durability: 'power' })
    written(run, 3)
    const [failed] = pathsOf() as [string]
    const synced = watch()
    inject(failing('writeSync', ([, bytes]) => (Buffer.isBuffer(bytes) && bytes.length !== 40 ? 'ENOSPC' : undefined)))
    written(run, 1)
    expect(synced).toContain(failed)
  })

  test('if synchronizing fails at the close, the next process can claim the folder at once', async () => {
    const run = begin({ durability: 'power' })
    const batches = written(run, 1)
    watch(isSegment)
    run.spool.close()
    expect(run.problems).toEqual([expect.stringMatching(/EIO/)])
    // Its process is still running, like an application after its logger was closed.
    expect(idsOf(await begin().recoverAll())).toEqual(idsOf(batches))
  })
})
