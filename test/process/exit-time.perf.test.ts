/** The time that an unavailable service delays the exit. Measured while nothing else runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { runApp } from './run-app.js'

const KEY = 'exit-time-key-c0ffee'

// A service that does not answer costs shutdownTimeoutMs plus a little for the requests in flight: 3.2 to 3.4 s,
// which is printed. A busy machine takes longer to start and end a process, so the limit is wider.
test.each(['target', 'targets-copy', 'pipeline'] as const)(
  '%s: a service that does not answer delays the exit by little more than shutdownTimeoutMs',
  async (mode) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    onTestFinished(() => service.close())
    service.faults.add({ kind: 'hang' })
    const result = await runApp({ mode, count: 10_000, end: 'natural', options: { url: service.url, apiKey: KEY } })
    const endingAt = result.events.find(({ name }) => name === 'ending')?.payload as number
    const exitMs = Math.round(result.tookMs - endingAt)
    process.stdout.write(`exit with a service that does not answer, ${mode}: ${exitMs} ms\n`)
    expect(result.code).toBe(0)
    expect(exitMs).toBeLessThan(5_500)
  },
)

test.each(['natural', 'exit'] as const)(
  'in an outage longer than requestTimeoutMs, %s: does not delay the exit, and reports the entries on disk',
  async (end) => {
    const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-outage-'))
    const options = {
      url: 'http://127.0.0.1:9/api/v1',
      apiKey: KEY,
      spool: { dir },
      requestTimeoutMs: 100,
      batch: { intervalMs: 10 },
    }
    const result = await runApp({ mode: 'target', count: 40, perSecond: 20, end, options })
    rmSync(dir, { recursive: true })
    expect(result.stderr).toContain('40 entries')
    expect(result.tookMs).toBeLessThan(9_000) // pino gives up after 10 s
  },
)
