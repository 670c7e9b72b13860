/** Breadcrumbs and filters in pino's worker thread, under load. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { AccountSnapshot } from '../../src/diagnostics/account.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { createIngestService } from '../../src/service/index.js'
import { cleanEnv } from './run-app.js'

const KEY = 'busy-app-key'

async function run(
  kind: 'requests' | 'storm',
  options: object,
): Promise<{ entries: LogEntry[]; account: AccountSnapshot }> {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const child = spawn(process.execPath, [fileURLToPath(new URL('busy.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify({ kind, options: { url: service.url, apiKey: KEY, ...options } }) }),
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
  })
  const text = ['', '']
  child.stderr?.on('data', (chunk: Buffer) => (text[0] += chunk.toString()))
  child.stdio[3]?.on('data', (chunk: Buffer) => (text[1] += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect({ code, stderr: text[0] }).toEqual({ code: 0, stderr: '' })
  const entries = service
    .entries({ limit: Infinity })
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry)
  return { entries, account: JSON.parse(text[1] as string) as AccountSnapshot }
}

test(
  '200 concurrent requests: each error has exactly the lines of its own request, in order',
  { timeout: 60_000 },
  async () => {
    const { entries, account } = await run('requests', { maxConcurrency: 1 })
    const errors = entries.filter(({ level }) => level === 'error')
    expect(errors).toHaveLength(20)
    for (const { request_id, breadcrumbs = [] } of errors) {
      const id = request_id?.replace('req-', '')
      expect(breadcrumbs.map(({ message }) => message)).toEqual(
        Array.from({ length: 10 }, (_, step) => `step ${step} of ${id}`),
      )
    }
    expect(entries.filter(({ level }) => level === 'debug')).toEqual([])
    expect(entries).toHaveLength(200)
    expect(account).toMatchObject({ received: 2_200, accepted: 200, filtered: 2_000, pending: 0, balances: true })
  },
)

test(
  '50,000 equal errors: one is sent at once, and one with the count of the others',
  { timeout: 60_000 },
  async () => {
    const { entries, account } = await run('storm', { dedupeWindowMs: 60_000 })
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'the database is away'],
      ['error', expect.stringMatching(/^the database is away \(repeated 49999 times in [\d.]+ m?s\)$/)],
    ])
    expect(entries[1]).toMatchObject({
      error: { type: 'Error', message: 'connection refused' },
      metadata: { pino_ingest: { repeated: { count: 49_999, first: expect.any(String), last: expect.any(String) } } },
    })
    expect(account).toMatchObject({
      received: 50_000,
      generated: 1,
      accepted: 2,
      filtered: 49_999,
      rejected: 0,
      pending: 0,
      balances: true,
    })
  },
)
