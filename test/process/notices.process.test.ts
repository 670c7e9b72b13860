/** Drops in an outage that outlasts the process are reported to the service later, with the right total. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { runApp, startApp } from './run-app.js'
import { lastingPort } from '../reusable-port.mjs'

const KEY = 'notices-key-30c9'
const COUNT = 8_000
const MIB = 1024 * 1024

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-notices-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function startService(port?: number): Promise<IngestService> {
  const service = await createIngestService({ apiKeys: [KEY], port: port ?? (await lastingPort()) })
  onTestFinished(() => service.close())
  return service
}

/** More than 1 MiB, of a level that is dropped only for lack of space. */
function linesIn(folder: string): string {
  const file = join(folder, 'lines.ndjson')
  const filler = 'x'.repeat(400)
  writeFileSync(
    file,
    Array.from(
      { length: COUNT },
      (_, n) => `${JSON.stringify({ level: 50, time: 1_800_000_000_000 + n, n, filler, msg: 'long' })}\n`,
    ).join(''),
  )
  return file
}

interface Arrived {
  /** The number of different records. */
  readonly records: number
  readonly copies: number
  /** The counts in each notice. */
  readonly dropped: readonly number[]
}

function arrived(service: IngestService): Arrived {
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  const notices = entries.filter(({ message }) => message.startsWith('pino-ingest dropped'))
  const logged = entries.filter(({ message }) => message === 'long')
  return {
    records: new Set(logged.map(({ metadata }) => metadata?.['n'])).size,
    copies: logged.length,
    dropped: notices.map(({ metadata }) =>
      Object.values((metadata as { pino_ingest: { dropped: Record<string, number> } }).pino_ingest.dropped).reduce(
        (a, b) => a + b,
        0,
      ),
    ),
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

test.each(['target', 'stream'] as const)(
  '%s: the outage outlasts two processes, and the next process reports the drops of both',
  { timeout: 120_000 },
  async (mode) => {
    const before = await startService()
    await before.close()
    const options = {
      url: before.url,
      apiKey: KEY,
      spool: { dir: scratch(), maxBytes: MIB },
      maxBufferBytes: MIB,
      shutdownTimeoutMs: 8_000,
    }
    const raw = linesIn(scratch())
    for (const _ of ['first', 'second']) {
      const { stderr } = await runApp({ mode, options: { ...options, shutdownTimeoutMs: 1_000 }, raw, end: 'natural' })
      expect(stderr).toMatch(/dropped \d+ entries \(spool\)/)
    }
    const service = await startService(before.port)
    // Stored copies plus reported drops equal the records of both processes.
    const found = (): number => {
      const { copies, dropped } = arrived(service)
      return copies + sum(dropped)
    }
    // One process suffices unless the machine is busy: its exit may then end before everything is sent.
    let runs = 0
    for (; runs === 0 || (runs < 3 && found() < 2 * COUNT); runs += 1)
      await runApp({ mode, options, count: 1, end: 'natural' })
    const { copies, dropped } = arrived(service)
    expect(dropped.length).toBeGreaterThan(0)
    // One notice for each process that dropped entries: a later process may delete a segment to keep its own entries
    // within `maxBytes`.
    expect(dropped.length).toBeLessThanOrEqual(2 + runs)
    expect(copies).toBeGreaterThan(0)
    expect(found()).toBe(2 * COUNT)
  },
)

test('the outage ends during the exit: the notice is sent before the process ends', { timeout: 60_000 }, async () => {
  const service = await startService()
  const end = service.faults.add({ kind: 'status', status: 503 })
  const options = {
    url: service.url,
    apiKey: KEY,
    spool: false,
    maxBufferBytes: MIB,
    shutdownTimeoutMs: 8_000,
    retry: { maxMs: 500 },
  }
  const app = startApp({ mode: 'target', options, raw: linesIn(scratch()), end: 'natural' })
  await app.heard('ending')
  const { length } = service.requests
  await vi.waitFor(() => expect(service.requests.length).toBeGreaterThan(length + 1), { timeout: 20_000 })
  end()
  const { stderr } = await app.done
  const { records, dropped } = arrived(service)
  expect(stderr).toMatch(/dropped \d+ entries \(buffer\)/)
  expect(stderr).not.toContain('(shutdown)')
  expect(dropped).toHaveLength(1)
  expect(records + sum(dropped)).toBe(COUNT)
})
