/** Every mode of the transport: 5,000 records arrive once, in batches of at most 100, correctly mapped. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { cleanEnv, startApp } from './run-app.js'
import type { AppPlan, AppResult } from './run-app.js'

const COUNT = 5_000
const KEY = 'modes-key-7d1f0a'
/** The names that pino passes to its transport; without a worker they are options. */
const OWN_KEYS = { messageKey: 'message', errorKey: 'problem', customLevels: { audit: 35 } }

let service: IngestService
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-modes-'))
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  service = await createIngestService({ apiKeys: [KEY], maxEntries: 3 * COUNT, maxStoreBytes: 1 << 30 })
})
afterEach(() => service.close())

/** No batch is sealed by age, and a busy machine causes no retry, so the number of requests is exact. */
function options(more: object = {}): Record<string, unknown> {
  return { url: service.url, apiKey: KEY, batch: { intervalMs: 60_000 }, requestTimeoutMs: 60_000, ...more }
}

function expectAllOnce(copies: number, extra: number): void {
  const calls = service.requests.filter((call) => call.endpoint === 'ingest')
  expect(calls.every((call) => (call.entries ?? 0) <= 100 && call.status === 200)).toBe(true)
  expect(new Set(calls.map((call) => call.batchId)).size).toBe(calls.length)
  expect(calls).toHaveLength(copies * Math.ceil((COUNT + extra) / 100))
  const numbers = new Map<unknown, number>()
  for (const { entry } of service.entries({ limit: Infinity }).items) {
    const n = entry.metadata?.['n']
    if (entry.message === 'numbered') numbers.set(n, (numbers.get(n) ?? 0) + 1)
  }
  expect(numbers.size).toBe(COUNT)
  expect([...numbers.values()].every((times) => times === copies)).toBe(true)
}

function expectMapped(copies: number): void {
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  const audited = entries.filter((entry) => entry.message === 'audited')
  expect(audited).toHaveLength(copies)
  for (const entry of audited) expect(entry).toMatchObject({ level: 'info', metadata: { level: 'audit', n: COUNT } })
  const failed = entries.filter((entry) => entry.message === 'failed')
  expect(failed).toHaveLength(copies)
  for (const entry of failed) {
    expect(entry).toMatchObject({
      level: 'error',
      error: { type: 'TypeError', message: 'boom' },
      metadata: { error: { code: 'E_BOOM' } },
    })
  }
}

function expectQuiet(result: AppResult): void {
  expect(result).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(result.events.filter(({ name }) => name === 'error' || name === 'ingest:problem')).toEqual([])
}

describe.each([
  ['target', 1, {}],
  ['targets-copy', 2, {}],
  ['targets-before', 1, {}],
  ['pipeline', 1, {}],
  ['stream', 1, { pino: OWN_KEYS }],
] as const)('%s', (mode, copies, ownKeys) => {
  test('5,000 records with custom levels, messageKey and errorKey', async () => {
    const otherFile = join(folder, `${mode}.ndjson`)
    const plan: AppPlan = {
      mode,
      options: options(ownKeys),
      pinoOptions: OWN_KEYS,
      count: COUNT,
      logsError: true,
      otherFile,
      end: mode === 'stream' ? 'flush' : 'hold',
    }
    const app = startApp(plan)
    // The time limit of an exit does not matter here: the process ends when all full batches have arrived.
    await service.waitForEntries(copies * COUNT, { timeoutMs: 50_000 })
    if (plan.end === 'hold') app.child.kill('SIGTERM')
    const result = await app.done
    expectQuiet(result)
    expectAllOnce(copies, 2)
    expectMapped(copies)
    if (mode.startsWith('targets-') && mode !== 'targets-copy') {
      const [config, seen] = readFileSync(otherFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object)
      expect(config).toMatchObject({ messageKey: 'message', errorKey: 'problem', levels: { audit: 35 } })
      expect(seen).toEqual({ records: COUNT + 2 })
    }
  })
})

test('pipe: 5,000 records pass through and arrive', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))], {
    env: cleanEnv({
      PINO_INGEST_URL: service.url,
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_BATCH_INTERVAL_MS: '60000',
      PINO_INGEST_REQUEST_TIMEOUT_MS: '60000',
      PINO_INGEST_SEND_LEVEL: 'trace',
      PINO_INGEST_PINO: JSON.stringify(OWN_KEYS),
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let passed = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) passed += 1
  })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => {}) // the exit code shows an early end
  const logger = pino({ ...OWN_KEYS }, child.stdin)
  for (let n = 0; n < COUNT; n += 1) {
    logger.info({ n }, 'numbered')
    if (n % 1000 === 999 && child.stdin.writableNeedDrain) await Promise.race([once(child.stdin, 'drain'), closed])
  }
  logger.audit({ n: COUNT }, 'audited')
  logger.error(Object.assign(new TypeError('boom'), { code: 'E_BOOM' }), 'failed')
  // As above: the time limit of an exit does not matter.
  await service.waitForEntries(COUNT, { timeoutMs: 50_000 })
  child.stdin.end()
  expect(await closed).toBe(0)
  expect(passed).toBe(COUNT + 2)
  expectAllOnce(1, 2)
  expectMapped(1)
})
