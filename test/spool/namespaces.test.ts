/**
 * Two processes share a folder, and cannot see each other: containers on one volume. Their wall clocks differ. One is stopped until the
 * other has taken over its folder, goes on, and is killed. Each runs in a pid namespace of its own where the system permits it.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { removeScratch, scratchFolder } from './scratch.js'

const SPEED = 10
const TIMEOUT_MS = 120_000
const FROM_B = 1_000_000
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child']
const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0

interface Sent {
  readonly batchId: string
  readonly numbers: readonly number[]
}

class Pair {
  readonly #out: string

  constructor(folder: string) {
    this.#out = join(folder, 'out')
    mkdirSync(this.#out)
  }

  begin(name: string, options: { from: number, skewMs: number, isUnshared: boolean }): ChildProcess {
    const { isUnshared, ...given } = options
    const setup = { root: join(this.#out, '..', 'root'), out: this.#out, name, speed: SPEED, ...given, ...(!isUnshared && { namespace: `of ${name}` }) }
    const program = [process.execPath, fileURLToPath(new URL('neighbour.mjs', import.meta.url)), JSON.stringify(setup)] as const
    const child = isUnshared
      ? spawn('unshare', [...UNSHARE, ...program], { stdio: 'ignore' })
      : spawn(program[0], program.slice(1), { stdio: 'inherit' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }

  quiet(name: string): void {
    writeFileSync(join(this.#out, `quiet.${name}`), '')
  }

  lines(file: string): string[] {
    const path = join(this.#out, file)
    // The last may still be written.
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  }

  logged(name: string): number[] {
    return this.lines(`logged.${name}`).map(Number)
  }

  sent(...names: string[]): Sent[] {
    return names.flatMap((name) => this.lines(`sent.${name}`)).map((line) => {
      const { batch_id: batchId, logs } = JSON.parse(line) as { batch_id: string, logs: { n: number }[] }
      return { batchId, numbers: logs.map(({ n }) => n) }
    })
  }

  numbers(...names: string[]): number[] {
    return this.sent(...names).flatMap(({ numbers }) => numbers)
  }

  /** Batch ids under which different contents were sent. */
  get ambiguous(): string[] {
    const contents = new Map<string, Set<string>>()
    for (const { batchId, numbers } of this.sent('a', 'b')) contents.set(batchId, (contents.get(batchId) ?? new Set()).add(numbers.join()))
    return [...contents].filter(([, variants]) => variants.size > 1).map(([id, variants]) => `${id}: ${[...variants].join(' | ')}`)
  }
}

/** The process itself: a signal to `unshare` stops nobody else. */
function signal(child: ChildProcess, isUnshared: boolean, name: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined) throw new Error('it did not start')
  const [inner] = isUnshared ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ') : [pid]
  process.kill(Number(inner), name)
}

function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: TIMEOUT_MS / 3, interval: 50 })
}

async function run(skewMs: number, isUnshared: boolean): Promise<void> {
  const folder = scratchFolder()
  onTestFinished(() => removeScratch(folder))
  const pair = new Pair(folder)
  const a = pair.begin('a', { from: 0, skewMs, isUnshared })
  pair.begin('b', { from: FROM_B, skewMs: 0, isUnshared })
  // Both live: for longer than a look takes to come again.
  await eventually(() => expect(Math.min(pair.sent('a').length, pair.sent('b').length)).toBeGreaterThan(5))
  expect(pair.lines('notes.b')).toEqual([])
  expect(pair.lines('notes.a')).toEqual([])

  signal(a, isUnshared, 'SIGSTOP')
  const stoppedAt = pair.logged('a').length
  // Also the open batch, which the other sends when it can no longer grow.
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
  // What was in memory or open while it was stopped, and what was under way when it was killed.
  const duplicates = pair.numbers('a', 'b').length - new Set(pair.numbers('a', 'b')).size
  expect(duplicates).toBeLessThanOrEqual(8 * 40)
  expect(sentByA.length).toBeGreaterThan(0)
  expect(readdirSync(join(folder, 'root'))).toHaveLength(1)
}

function missing(wanted: readonly number[], got: readonly number[]): number[] {
  const there = new Set(got)
  return wanted.filter((n) => !there.has(n))
}

describe('two processes that cannot see each other lose nothing, and send one content under one id', () => {
  test.concurrent.each([-7_200_000, -35_000, 35_000, 7_200_000])('clocks %i ms apart', { timeout: TIMEOUT_MS }, (skewMs) => run(skewMs, false))

  const testUnshared = canUnshare ? test.concurrent : test.skip
  testUnshared('in two pid namespaces (skipped where unshare is not permitted)', { timeout: TIMEOUT_MS }, () => run(35_000, true))
})
