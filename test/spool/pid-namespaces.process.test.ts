/**
 * Two processes with different wall clocks share a folder. In separate PID namespaces (containers on one volume) one is suspended
 * until the other has claimed its folder, resumes, and is killed. In one PID namespace the suspended process keeps its folder.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, test, vi } from 'vitest'
import { readMachine } from '../../src/spool/instance/ownership.js'
import type { OwnerIdentity } from '../../src/spool/instance/ownership.js'
import { removeScratch, scratchFolder } from './scratch.js'

const SPEED = 10
const TIMEOUT_MS = 120_000
const FROM_B = 1_000_000
/** From util-linux; if it is missing, the test runs without it. */
const COMMAND: string = 'unshare'
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child']
const canUnshare = spawnSync(COMMAND, [...UNSHARE, 'true']).status === 0

interface Options {
  readonly from: number
  readonly skewMs: number
  /** Default: the PID namespace of the process. */
  readonly namespace?: string
  readonly isUnshared?: boolean
}

interface Sent {
  readonly batchId: string
  readonly numbers: readonly number[]
}

class Pair {
  readonly #folder = scratchFolder()
  readonly #out = join(this.#folder, 'out')
  readonly #children: ChildProcess[] = []

  constructor() {
    mkdirSync(this.#out)
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const exit = once(child, 'exit')
        child.kill('SIGKILL')
        await exit
      }),
    )
    removeScratch(this.#folder)
  }

  begin(name: string, options: Options): ChildProcess {
    const { isUnshared = false, ...given } = options
    const setup = { root: join(this.#out, '..', 'root'), out: this.#out, name, speed: SPEED, ...given }
    const program = [
      process.execPath,
      fileURLToPath(new URL('sharing-process.mjs', import.meta.url)),
      JSON.stringify(setup),
    ] as const
    const child = isUnshared
      ? spawn(COMMAND, [...UNSHARE, ...program], { stdio: 'ignore' })
      : spawn(program[0], program.slice(1), { stdio: 'inherit' })
    this.#children.push(child)
    return child
  }

  quiet(name: string): void {
    writeFileSync(join(this.#out, `quiet.${name}`), '')
  }

  lines(file: string): string[] {
    const path = join(this.#out, file)
    // The last line may be incomplete.
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  }

  logged(name: string): number[] {
    return this.lines(`logged.${name}`).map(Number)
  }

  sent(...names: string[]): Sent[] {
    return names
      .flatMap((name) => this.lines(`sent.${name}`))
      .map((line) => {
        const { batch_id: batchId, logs } = JSON.parse(line) as { batch_id: string; logs: { n: number }[] }
        return { batchId, numbers: logs.map(({ n }) => n) }
      })
  }

  numbers(...names: string[]): number[] {
    return this.sent(...names).flatMap(({ numbers }) => numbers)
  }

  /** Batch ids that were sent with different contents. */
  get ambiguous(): string[] {
    const contents = new Map<string, Set<string>>()
    for (const { batchId, numbers } of this.sent('a', 'b'))
      contents.set(batchId, (contents.get(batchId) ?? new Set()).add(numbers.join()))
    return [...contents]
      .filter(([, variants]) => variants.size > 1)
      .map(([id, variants]) => `${id}: ${[...variants].join(' | ')}`)
  }
}

/** Id of the process itself: a signal to `unshare` does not reach it. */
function signal(child: ChildProcess, isUnshared: boolean, name: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined) throw new Error('it did not start')
  const [inner] = isUnshared ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ') : [pid]
  process.kill(Number(inner), name)
}

function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: TIMEOUT_MS / 3, interval: 50 })
}

/** The global `onTestFinished` does not work in concurrent tests. */
async function withPair(check: (pair: Pair) => Promise<void>): Promise<void> {
  const pair = new Pair()
  try {
    await check(pair)
  } finally {
    await pair.end()
  }
}

async function run(pair: Pair, skewMs: number, isUnshared: boolean): Promise<void> {
  const a = pair.begin('a', { from: 0, skewMs, ...(isUnshared ? { isUnshared } : { namespace: 'of a' }) })
  pair.begin('b', { from: FROM_B, skewMs: 0, isUnshared })
  // Both run for longer than the time between two scans.
  await eventually(() => expect(Math.min(pair.sent('a').length, pair.sent('b').length)).toBeGreaterThan(5))
  expect(pair.lines('notes.b')).toEqual([])
  expect(pair.lines('notes.a')).toEqual([])

  signal(a, isUnshared, 'SIGSTOP')
  const stoppedAt = pair.logged('a').length
  // Includes the open batch, which the other process sends when the owner can no longer write to it.
  await eventually(() => expect(missing(pair.logged('a'), pair.numbers('a', 'b'))).toEqual([]))
  signal(a, isUnshared, 'SIGCONT')
  await eventually(() => {
    expect(pair.lines('notes.a')).toContain('claimed')
    expect(pair.logged('a').length).toBeGreaterThan(stoppedAt + 100)
  })
  const sentByA = pair.numbers('a')
  signal(a, isUnshared, 'SIGKILL')
  pair.quiet('b')
  await eventually(() => expect(missing(pair.logged('a'), pair.numbers('a', 'b'))).toEqual([]))
  const openEntries = 2 * 40
  await eventually(() => expect(missing(pair.logged('b'), pair.numbers('b')).length).toBeLessThan(openEntries))
  expect(pair.ambiguous).toEqual([])
  expect(pair.lines('problems.a')).toEqual([])
  expect(pair.lines('problems.b')).toEqual([])
  // Batches that were in memory or open during the suspension, and batches in flight at the kill.
  const duplicates = pair.numbers('a', 'b').length - new Set(pair.numbers('a', 'b')).size
  expect(duplicates).toBeLessThanOrEqual(8 * 40)
  expect(sentByA.length).toBeGreaterThan(0)
}

test('ownership is checked per thread: a thread may end while its process runs', { timeout: TIMEOUT_MS }, async () => {
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
  await eventually(() => expect(startOf(self.pid, self.thread)).toBeUndefined())
  expect(readMachine().self.start).toBeDefined()
})

function missing(wanted: readonly number[], got: readonly number[]): number[] {
  const there = new Set(got)
  return wanted.filter((n) => !there.has(n))
}

describe('two processes with different clocks share a folder', () => {
  test.concurrent.each([-35_000, 35_000, 7_200_000])(
    'not visible to each other, %i ms apart: 0 lost, one content per id',
    { timeout: TIMEOUT_MS },
    (skewMs) => withPair((pair) => run(pair, skewMs, false)),
  )

  const where = canUnshare ? 'in two PID namespaces' : 'in two simulated PID namespaces, since unshare is not permitted'
  test.concurrent(`${where}, 2 h apart: the same`, { timeout: TIMEOUT_MS }, () =>
    withPair((pair) => run(pair, -7_200_000, canUnshare)),
  )

  test.concurrent(
    'a visible process keeps its folder while it is suspended, and the folder is free at once when it is killed',
    { timeout: TIMEOUT_MS },
    () =>
      withPair(async (pair) => {
        const a = pair.begin('a', { from: 0, skewMs: -7_200_000 })
        pair.begin('b', { from: FROM_B, skewMs: 0 })
        await eventually(() => expect(Math.min(pair.sent('a').length, pair.sent('b').length)).toBeGreaterThan(2))
        signal(a, false, 'SIGSTOP')
        const loggedByB = pair.logged('b').length
        // Two leases.
        await eventually(() => expect(pair.logged('b').length).toBeGreaterThan(loggedByB + 600))
        expect(pair.lines('notes.b')).toEqual([])
        const loggedByA = pair.logged('a').length
        signal(a, false, 'SIGCONT')
        await eventually(() => expect(pair.logged('a').length).toBeGreaterThan(loggedByA + 100))
        expect(pair.lines('notes.a')).toEqual([])
        expect(pair.numbers('a', 'b').length).toBe(new Set(pair.numbers('a', 'b')).size)
        signal(a, false, 'SIGKILL')
        await eventually(() => expect(missing(pair.logged('a'), pair.numbers('a', 'b'))).toEqual([]))
        expect(pair.ambiguous).toEqual([])
        expect([...pair.lines('problems.a'), ...pair.lines('problems.b')]).toEqual([])
      }),
  )
})
