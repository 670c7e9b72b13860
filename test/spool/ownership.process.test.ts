/** What the model of two owners does not do: real threads and processes, other boots, and races. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, test, vi } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { readMachine } from '../../src/spool/instance/ownership.js'
import type { Machine, OwnerIdentity } from '../../src/spool/instance/ownership.js'
import { failing } from './disk-faults.js'
import { filesBelow, instanceFolders } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from './process-run.js'
import { namesIn, useSpoolBench } from './spool-bench.js'

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
  test('a dead process whose id was reused: free at once', async () => {
    const first = begin(processes.born(7, 'early'))
    write(first, 'a')
    kill(first)
    processes.born(7, 'late')
    expect(namesIn(await begin().recoverAll())).toEqual(['a'])
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

  test('concurrent processes claim each folder once', async () => {
    const count = 20
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

  test('continues in a new folder, also if its folder is claimed between its check and its write', async () => {
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

test('ownership is checked per thread: a thread may end while its process runs', async () => {
  const owner = new URL('../../build/modules/spool/instance/ownership.js', import.meta.url)
  const worker = new Worker(
    `import('${owner.href}').then(({ readMachine }) => { require('node:worker_threads').parentPort.postMessage(readMachine().self); setInterval(() => {}, 1_000) })`,
    { eval: true },
  )
  const self = await new Promise<OwnerIdentity>((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  )
  const { findStartTime: startOf } = readMachine()
  // Without /proc the lease decides.
  if (self.start === undefined) return void (await worker.terminate())
  expect(self.pid).toBe(process.pid)
  expect(startOf(self.pid, self.thread)).toBe(self.start)
  await worker.terminate()
  await vi.waitFor(() => expect(startOf(self.pid, self.thread)).toBeUndefined(), 30_000)
  expect(readMachine().self.start).toBeDefined()
})
