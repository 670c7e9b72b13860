import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Machine } from '../../src/spool/instance/ownership.js'
import { failing } from './disk-faults.js'
import { filesBelow, instanceFolders } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from './process-run.js'
import { namesIn, spillBatches, useSpoolBench } from './spool-bench.js'

const LEASE_MS = 30_000
const bench = useSpoolBench()
const { root, destination, processes, kill } = bench

const begin = (machine?: Machine): ProcessRun => bench.begin({}, { ...(machine && { machine }) })

function write(run: ProcessRun, ...names: string[]): void {
  for (const name of names) run.add(JSON.stringify({ name }))
  run.batcher.seal()
}

function folders(): string[] {
  return instanceFolders(destination)
}

/** Makes the lease look as if it had not been renewed for `ageMs`. */
function age(folder: string, ageMs: number): void {
  const seconds = (bench.clock.wallNow() - ageMs) / 1000
  utimesSync(join(destination, folder, 'owner'), seconds, seconds)
}

describe('the owner of a folder', () => {
  test('a dead process: free at once', async () => {
    const first = begin()
    write(first, 'a')
    kill(first)
    expect(namesIn(await begin().recoverAll())).toEqual(['a'])
  })

  test('a dead process whose id was reused: free at once', async () => {
    const first = begin(processes.born(7, 'early'))
    write(first, 'a')
    kill(first)
    processes.born(7, 'late')
    expect(namesIn(await begin().recoverAll())).toEqual(['a'])
  })

  test('a running process with a fresh lease: not free', async () => {
    write(begin(), 'a')
    const second = begin()
    expect(await second.recoverAll()).toEqual([])
    await bench.clock.advance(4 * LEASE_MS)
    expect(await second.recoverAll()).toEqual([])
    expect(second.spool.recovery.hasMore).toBe(false)
  })

  test('a running thread that was suspended for an hour: not free', async () => {
    const first = begin()
    write(first, 'a')
    first.freeze()
    age(folders()[0] as string, 3_600_000)
    const second = begin()
    await bench.clock.advance(4 * LEASE_MS)
    expect(await second.recoverAll()).toEqual([])
    expect(folders()).toHaveLength(2)
  })

  test('a thread that has ended in a running process: free at once', async () => {
    const threads = new Map([
      [7, 'early'],
      [8, 'late'],
    ])
    const machineOf = (thread: number): Machine => {
      const { self } = processes.born(100)
      return {
        self: { ...self, thread, start: threads.get(thread) as string },
        findStartTime: (pid, asked) => (pid === 100 ? threads.get(asked) : undefined),
        uptimeMs: () => Infinity,
      }
    }
    const first = begin(machineOf(7))
    write(first, 'a')
    kill(first)
    const machine = machineOf(8)
    expect(await begin(machine).recoverAll()).toEqual([])
    threads.delete(7)
    expect(namesIn(await begin(machine).recoverAll())).toEqual(['a'])
  })

  const unseen: [string, Partial<Record<keyof Machine['self'], string | undefined>>][] = [
    ['another boot', { boot: 'another boot' }],
    ['another process namespace', { namespace: 'another namespace' }],
    ['an unknown boot', { boot: undefined }],
    ['an unknown start', { start: undefined }],
  ]

  function unseenMachine(difference: object): Machine {
    const machine = processes.born()
    const self = Object.fromEntries(
      Object.entries({ ...machine.self, ...difference }).filter(([, value]) => value !== undefined),
    )
    return { ...machine, self: self as unknown as Machine['self'] }
  }

  test.each(unseen)('%s: free when its lease has expired', async (_, difference) => {
    const first = begin(unseenMachine(difference))
    write(first, 'a')
    const second = begin()
    await bench.clock.advance(4 * LEASE_MS)
    expect(await second.recoverAll()).toEqual([])
    kill(first)
    await bench.clock.advance(LEASE_MS)
    expect(await second.recoverAll()).toEqual([])
    await bench.clock.advance(LEASE_MS)
    expect(namesIn(await second.recoverAll())).toEqual(['a'])
  })

  test.each(unseen)(
    "%s: free at a start if the lease has expired by the file system's clock",
    async (_, difference) => {
      const first = begin(unseenMachine(difference))
      write(first, 'a')
      kill(first)
      const [folder] = folders() as [string]
      age(folder, LEASE_MS - 5_000)
      expect(await begin().recoverAll()).toEqual([])
      age(folder, LEASE_MS + 1)
      expect(namesIn(await begin().recoverAll())).toEqual(['a'])
    },
  )

  test('closed: free at once, even while the process runs', async () => {
    const first = begin()
    write(first, 'a')
    first.spool.close()
    expect(folders()[0]).toMatch(/\.left$/)
    expect(namesIn(await begin().recoverAll())).toEqual(['a'])
  })

  test('closed with an open batch: its entries are sent', async () => {
    const first = begin()
    first.add('{"name":"a"}')
    first.batcher.commit()
    first.spool.close()
    const [open, ...more] = await begin().recoverAll()
    expect(more).toEqual([])
    expect(namesIn([open as Batch])).toEqual(['a'])
  })

  test('closed with nothing left: no folder', () => {
    const run = begin()
    write(run, 'a')
    for (const batch of run.batches) run.settle(batch)
    run.spool.close()
    expect(folders()).toEqual([])
  })

  test('a folder without owner is free when its youngest file is older than the lease', async () => {
    const first = begin()
    write(first, 'a')
    kill(first)
    const [folder] = folders() as [string]
    renameSync(join(destination, folder, 'owner'), join(root, 'owner-that-was'))
    const second = begin()
    expect(await second.recoverAll()).toEqual([])
    await bench.clock.advance(2 * LEASE_MS)
    expect(namesIn(await second.recoverAll())).toEqual(['a'])
  })
})

describe('claims', () => {
  test('three nested dead processes, each killed during a recovery', async () => {
    const first = begin()
    for (const name of ['a', 'b', 'c', 'd']) write(first, name)
    let last = first
    for (const name of ['e', 'f', 'g']) {
      kill(last)
      last = begin()
      await last.spool.recovery.next(() => {})
      write(last, name)
    }
    kill(last)
    const successor = begin()
    expect(namesIn(await successor.recoverAll()).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(successor.account.snapshot()).toMatchObject({ recovered: 7, pending: 7, balances: true })
    // Folders move up: paths do not grow with every process.
    const deepest = Math.max(...filesBelow(destination).map((path) => path.slice(destination.length).split('/').length))
    expect(deepest).toBe(4)
  })

  test('entries settled by a dead claimer are not sent again', async () => {
    const first = begin()
    write(first, 'a')
    write(first, 'b')
    kill(first)
    const second = begin()
    const [a] = await second.recoverAll()
    second.settle(a as Batch)
    kill(second)
    expect(namesIn(await begin().recoverAll())).toEqual(['b'])
  })

  test('concurrent processes claim each folder once', async () => {
    const count = 50
    for (let n = 0; n < count; n += 1) {
      const run = begin()
      write(run, `batch ${n}`)
      if (n % 2 === 0) run.spool.close()
      kill(run)
    }
    for (const name of folders()) age(name, LEASE_MS + 1)
    const claimers = await Promise.all(Array.from({ length: 4 }, startClaimer))
    const claimed: string[] = []
    for (const claimer of claimers) {
      claimer.on('message', (batchId) => claimed.push(String(batchId)))
      claimer.send('go')
    }
    await vi.waitFor(() => expect(claimed.length).toBeGreaterThanOrEqual(count), 30_000)
    for (const claimer of claimers) claimer.disconnect()
    expect(new Set(claimed).size).toBe(count)
    expect(claimed).toHaveLength(count)
  }, 60_000)
})

async function startClaimer(): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('claimer.mjs', import.meta.url)), [root, URL_OF_TESTS, KEY_OF_TESTS])
  await once(child, 'message')
  return child
}

describe('an owner that was suspended for longer than half a lease', () => {
  /** Advances the time without firing the process's timers. */
  function stoppedRun(): { run: ProcessRun; stand: (ms: number) => void } {
    let standsMs = 0
    const still = {
      now: () => bench.clock.now() + standsMs,
      wallNow: () => bench.clock.wallNow() + standsMs,
      timer: () => () => {},
    }
    const run = bench.begin({}, { clock: still })
    return {
      run,
      stand: (ms) => {
        standsMs += ms
      },
    }
  }

  function claimAll(): void {
    const claims = join(root, 'claims of another')
    mkdirSync(claims, { recursive: true })
    for (const name of folders()) renameSync(join(destination, name), join(claims, name))
  }

  test('continues in its folder if it was not claimed', () => {
    const { run, stand } = stoppedRun()
    write(run, 'a')
    stand(LEASE_MS)
    write(run, 'b')
    expect(folders()).toHaveLength(1)
    expect(run.batches.map(({ acknowledgement: custody }) => custody?.isDurable)).toEqual([true, true])
  })

  test('continues in a new folder, starting with the open batch', async () => {
    const { run, stand } = stoppedRun()
    write(run, 'a')
    run.add('{"name":"b"}')
    run.batcher.commit()
    claimAll()
    stand(LEASE_MS)
    run.add('{"name":"c"}')
    run.batcher.seal()
    expect(run.notes.map(({ kind }) => kind)).toEqual(['claimed'])
    const [a, open] = run.batches as [Batch, Batch]
    expect(a.acknowledgement?.isDurable).toBe(false)
    expect(open.acknowledgement?.isDurable).toBe(true)
    expect(run.account.snapshot()).toMatchObject({ pending: 3, balances: true })
    kill(run)
    const successor = begin()
    const [recovered, ...more] = await successor.recoverAll()
    expect(more).toEqual([])
    expect(recovered).toMatchObject({ batchId: open.batchId, count: 2 })
    expect(Buffer.from(recovered?.body ?? [])).toEqual(open.body)
    expect(successor.account.dropped.damaged).toBe(0)
  })

  test('also if the suspension is between frames of the batch', async () => {
    for (let stopAt = 0; stopAt < 12; stopAt += 1) {
      const { run, stand } = stoppedRun()
      write(run, 'before')
      for (let n = 0; n < 12; n += 1) {
        if (n === stopAt) {
          claimAll()
          stand(LEASE_MS)
        }
        run.add(JSON.stringify({ name: `${n}`, padding: 'x'.repeat(3000) }))
        if (n % 3 === 0) run.spool.log.flush()
      }
      run.batcher.seal()
      const last = run.batches.at(-1) as Batch
      expect(last.acknowledgement?.isDurable).toBe(true)
      kill(run)
      const successor = begin()
      const recovered = await successor.recoverAll()
      expect(recovered.map(({ batchId }) => batchId)).toEqual([last.batchId])
      expect(Buffer.from(recovered[0]?.body ?? [])).toEqual(last.body)
      expect(successor.account.dropped.damaged).toBe(0)
      for (const batch of recovered) successor.settle(batch)
      kill(successor)
      removeAll()
    }
  })

  test('also if its folder is claimed between its check and its write', async () => {
    const { run, stand } = stoppedRun()
    write(run, 'a')
    stand(LEASE_MS)
    let isClaimed = false
    const mend = failing('writeSync', () => {
      if (!isClaimed) claimAll()
      isClaimed = true
      return undefined
    })
    write(run, 'b')
    mend()
    const [, b] = run.batches as [Batch, Batch]
    expect(b.acknowledgement?.isDurable).toBe(true)
    kill(run)
    expect(namesIn(await begin().recoverAll())).toEqual(['b'])
  })

  function removeAll(): void {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
  }

  test('leaves batches that are only on disk to the claimer, and counts them as kept', async () => {
    const { run, stand } = stoppedRun()
    for (const name of ['a', 'b', 'c']) write(run, name)
    spillBatches(run, run.batches.splice(0))
    claimAll()
    stand(LEASE_MS)
    write(run, 'd')
    expect(await run.spool.spilled.next(() => {})).toBe(false)
    expect(run.account.snapshot()).toMatchObject({ received: 4, pending: 4, balances: true })
    const [d] = run.batches as [Batch]
    run.settle(d)
    expect(run.account.snapshot()).toMatchObject({ accepted: 1, pending: 3, balances: true })
  })
})

test('the owner file identifies the writer', () => {
  const run = begin()
  write(run, 'a')
  const [folder] = folders() as [string]
  const owner = JSON.parse(readFileSync(join(destination, folder, 'owner'), 'utf8')) as unknown
  expect(owner).toEqual({ format: 1, ...run.machine.self, renewals: 0 })
})

test('writes a deleted owner file again', async () => {
  const run = begin()
  const [folder] = folders() as [string]
  const path = join(destination, folder, 'owner')
  writeFileSync(path, '')
  renameSync(path, join(root, 'gone'))
  await bench.clock.advance(LEASE_MS)
  expect(existsSync(path)).toBe(true)
  expect(run.problems).toEqual([])
})
