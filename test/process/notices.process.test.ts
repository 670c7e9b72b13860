/** Drops in an outage that ends during the exit are reported to the service, with the right total. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { startApp } from './run-app.js'

const KEY = 'notices-key-30c9'
const COUNT = 8_000
const MIB = 1024 * 1024

/** More than 1 MiB, of a level that is dropped only for lack of space. @returns the file's path */
function writeLines(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-notices-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'lines.ndjson')
  const filler = 'x'.repeat(400)
  const lines = Array.from({ length: COUNT }, (_, n) => ({
    level: 50,
    time: 1_800_000_000_000 + n,
    n,
    filler,
    msg: 'long',
  }))
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

test('the outage ends during the exit: the notice is sent before the process ends', { timeout: 60_000 }, async () => {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const end = service.faults.add({ kind: 'status', status: 503 })
  const options = {
    url: service.url,
    apiKey: KEY,
    spool: false,
    maxBufferBytes: MIB,
    shutdownTimeoutMs: 8_000,
    retry: { maxMs: 500 },
  }
  const app = startApp({ mode: 'target', options, raw: writeLines(), end: 'natural' })
  await app.heard('ending')
  const { length } = service.requests
  await vi.waitFor(() => expect(service.requests.length).toBeGreaterThan(length + 1), { timeout: 20_000 })
  end()
  const { stderr } = await app.done
  expect(stderr).toMatch(/dropped \d+ entries \(buffer\)/)
  expect(stderr).not.toContain('(shutdown)')
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  const records = new Set(entries.filter(({ message }) => message === 'long').map(({ metadata }) => metadata?.['n']))
  const notices = entries.filter(({ message }) => message.startsWith('pino-ingest dropped'))
  expect(notices.map(({ metadata }) => metadata)).toEqual([
    { pino_ingest: { dropped: { buffer: COUNT - records.size } } },
  ])
})
