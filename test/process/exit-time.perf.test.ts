/** For how long an exit is held up by a service that is away: measured, and so when nothing else runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { runApp } from './run-app.js'

const KEY = 'exit-time-key-c0ffee'

// A service that hangs costs the whole of shutdownTimeoutMs, and a little for what is under way.
// That makes 3.2 to 3.4 s, which is printed; a busy machine takes longer to start and end a process, so the bound is wider.
test.each(['target', 'targets-copy', 'pipeline'] as const)(
  '%s: a service that hangs holds up the exit for little more than shutdownTimeoutMs',
  async (mode) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    onTestFinished(() => service.close())
    service.faults.add({ kind: 'hang' })
    const result = await runApp({ mode, count: 10_000, end: 'natural', options: { url: service.url, apiKey: KEY } })
    const endingAt = result.events.find(({ name }) => name === 'ending')?.payload as number
    const exitMs = Math.round(result.tookMs - endingAt)
    process.stdout.write(`exit with a service that hangs, ${mode}: ${exitMs} ms\n`)
    expect(result.code).toBe(0)
    expect(exitMs).toBeLessThan(5_500)
  },
)

test.each(['natural', 'exit'] as const)(
  'in an outage that is longer than requestTimeoutMs, %s: the exit is not delayed, and the entries on disk are reported',
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
