/** `pino-ingest send`, killed at random times and restarted: no entry is missing, and at most one batch arrives twice. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { IngestService } from '../../../src/service/index.js'
import { started, until } from '../../service/support.js'
import { runCli, startCli } from '../run-cli.js'
import type { CliEnv } from '../run-cli.js'

const LINES = 3_000

function lineOf(n: number): string {
  // Some lines have more bytes than characters, some are filtered.
  return `{"level":${n % 10 === 3 ? 20 : 30},"time":${1_767_225_600_000 + n},"n":${n},"msg":"${'é✓'.repeat(n % 20)}"}\n`
}

const content = Array.from({ length: LINES }, (_, n) => lineOf(n)).join('')
const wanted = Array.from({ length: LINES }, (_, n) => n).filter((n) => n % 10 !== 3)

interface Came {
  readonly numbers: readonly number[]
  /** Batch ids and entries that arrived more than once. */
  readonly twice: ReadonlySet<string>
  readonly duplicates: number
}

function cameTo(service: IngestService): Came {
  const times = new Map<number, number>()
  const batchesOf = new Map<number, (string | null)[]>()
  for (const { entry, batch_id } of service.entries({ limit: Infinity }).items) {
    const n = entry.metadata?.['n'] as number
    times.set(n, (times.get(n) ?? 0) + 1)
    batchesOf.set(n, [...(batchesOf.get(n) ?? []), batch_id])
  }
  const again = [...batchesOf.values()].filter((ids) => ids.length > 1)
  // An entry that arrives twice has the same batch id both times.
  for (const ids of again) expect(new Set(ids).size).toBe(1)
  return {
    numbers: [...times.keys()].toSorted((a, b) => a - b),
    twice: new Set(again.map(([id]) => String(id))),
    duplicates: [...times.values()].reduce((sum, count) => sum + count - 1, 0),
  }
}

interface Scene {
  readonly dir: string
  readonly path: string
  readonly service: IngestService
  /** The service hangs once it has this number of entries, until `resume()`. */
  readonly pauseAt: (entries: number) => Promise<void>
  readonly resume: () => void
  readonly args: readonly string[]
  readonly env: CliEnv
}

async function begin(): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  let limit = Infinity
  const service = await started({
    onRecords: () => {
      if (service.arrived >= limit && service.faults.list().length === 0) service.faults.add({ kind: 'hang' })
    },
  })
  const pauseAt = async (entries: number): Promise<void> => {
    limit = entries
    await until(() => service.requests.some(({ fault, endedAt }) => fault === 'hang' && endedAt === null), 30_000)
  }
  const resume = (): void => {
    limit = Infinity
    service.faults.clear()
  }
  const path = join(dir, 'app.log')
  writeFileSync(path, content)
  const env = {
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: 'kill-key-51a0',
    PINO_INGEST_REQUEST_TIMEOUT_MS: '2000',
    XDG_STATE_HOME: dir,
  }
  return { dir, path, service, pauseAt, resume, args: ['send', path, '--quiet'], env }
}

function checkpointsIn(dir: string): string[] {
  const files = readdirSync(join(dir, 'pino-ingest'), { recursive: true, withFileTypes: true })
  return files.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

test('killed at a random time: at most one batch of each connection arrives twice', async () => {
  const concurrency = 8
  const { service, pauseAt, resume, args: usual, env } = await begin()
  const args = [...usual, '--concurrency', String(concurrency)]
  const { child, done } = startCli(args, env)
  await pauseAt(wanted.length * (0.1 + 0.5 * Math.random()))
  child.kill('SIGKILL')
  expect((await done).code).toBeNull()
  resume()
  expect(service.arrived).toBeLessThan(wanted.length)
  const result = await runCli(args, env)
  expect({ code: result.code, err: result.stderr }).toEqual({ code: 0, err: '' })
  const { numbers, twice, duplicates } = cameTo(service)
  expect(numbers).toEqual(wanted)
  expect(twice.size).toBeLessThanOrEqual(concurrency)
  expect(duplicates).toBeLessThanOrEqual(concurrency * 100)
})

test(
  'killed before the reply: a service that deduplicates by batch id stores nothing twice',
  { timeout: 60_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    // The reply is delayed after the entries are stored.
    const service = await started({ dedupeBatches: true })
    service.faults.add({ kind: 'slow', bytesPerSecond: 1 })
    const path = join(dir, 'app.log')
    writeFileSync(path, Array.from({ length: 250 }, (_, n) => `{"level":30,"n":${n},"msg":"x"}\n`).join(''))
    const env = { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: 'kill-key-51a0', XDG_STATE_HOME: dir }
    const { child, done } = startCli(['send', path], env)
    await until(() => service.arrived === 100, 20_000)
    child.kill('SIGKILL')
    await done
    service.faults.clear()
    expect((await runCli(['send', path], env)).code).toBe(0)
    expect(cameTo(service)).toMatchObject({ duplicates: 0 })
    expect(service.arrived).toBe(250)
    // It was sent twice with the same id.
    expect(service.requests.map(({ batchId }) => batchId).filter((id, at, all) => all.indexOf(id) !== at)).toHaveLength(
      1,
    )
  },
)

test('a deleted checkpoint ends the run, and the next run sends everything', { timeout: 60_000 }, async () => {
  const { dir, path, service, pauseAt, resume, args, env } = await begin()
  const { done } = startCli(args, env)
  await pauseAt(500)
  for (const name of checkpointsIn(dir)) rmSync(name)
  resume()
  const { code, stderr } = await done
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/failed: .*checkpoint/) as string })
  expect(service.arrived).toBeLessThan(wanted.length)
  expect(await runCli(['send', path, '--quiet'], env)).toMatchObject({ code: 0, stderr: '' })
  const numbers = service.entries({ limit: Infinity }).items.map(({ entry }) => entry.metadata?.['n'] as number)
  expect([...new Set(numbers)].toSorted((a, b) => a - b)).toEqual(wanted)
})

test('of two concurrent processes the second continues, and the first ends', { timeout: 60_000 }, async () => {
  const { dir, service, pauseAt, resume, args, env } = await begin()
  const first = startCli(args, env)
  await pauseAt(500)
  const [path = ''] = checkpointsIn(dir)
  const before = statSync(path).ino
  const second = startCli(args, env)
  await until(() => statSync(path).ino !== before, 30_000)
  resume()
  expect(await first.done).toMatchObject({ code: 1, stderr: expect.stringContaining('another process') as string })
  expect(await second.done).toMatchObject({ code: 0, stderr: '' })
  expect(cameTo(service).numbers).toEqual(wanted)
})
