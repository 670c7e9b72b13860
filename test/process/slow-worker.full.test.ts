/**
 * A worker with too little CPU time. At exit pino waits up to 10 s until its worker has read all records, and up to
 * another 10 s for the end of the worker, then ends the process.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { flush } from '../../src/app/lifecycle/flush.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { runApp, runScript } from './run-app.js'

const KEY = 'slow-worker-key-c0ffee'
const HOOK = fileURLToPath(new URL('slow-hook.cjs', import.meta.url))
const TARGET = fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url))

async function startService(): Promise<IngestService> {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  return service
}

test.each([300_000, 2_000_000])(
  '%i characters of records count as read before they are mapped, which the second wait covers',
  async (chars) => {
    const service = await startService()
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-slow-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'continue')
    const stream = pino.transport({
      target: TARGET,
      options: { url: service.url, apiKey: KEY, beforeSend: HOOK },
      worker: { env: { ...process.env, SLOW_UNTIL: file } },
    })
    const logger = pino({ base: null }, stream)
    await once(stream, 'ready')
    const count = Math.ceil(chars / 4_000)
    for (let n = 0; n < count; n += 1) logger.info({ n, padding: 'x'.repeat(4_000) }, 'numbered')
    try {
      stream.flushSync() // the first wait, which throws after 10 s
    } finally {
      writeFileSync(file, '')
    }
    expect(await flush(logger, { timeoutMs: 25_000 })).toMatchObject({ state: 'acknowledged' })
    expect(service.arrived).toBe(count)
    stream.end()
    await once(stream, 'close')
  },
)

test(
  'loses nothing if the worker starts slower than pino waits and the application awaits flush() before its exit',
  { timeout: 90_000 },
  async () => {
    const service = await startService()
    const count = 5_000
    const options = { url: service.url, apiKey: KEY, beforeSend: HOOK }
    const { code, events } = await runApp(
      { mode: 'target', options, count, end: 'throw-flush', flushTimeoutMs: 60_000 },
      { SLOW_LOAD_MS: '10500' },
    )
    expect(code).toBe(1)
    expect(events.find(({ name }) => name === 'flushed')?.payload).toMatchObject({ state: 'acknowledged' })
    expect(service.arrived).toBe(count)
  },
)

test('with several targets, pino waits 10 s for one with an invalid option, whose reason is printed before', async () => {
  const app = `const others = [{ target: 'pino/file', options: { destination: '/dev/null' } }]
    pino({ transport: { targets: [{ target: 'pino-ingest', options }, ...others] } }).info('hello')
    process.exit()`
  const options = { url: 'http://127.0.0.1:1/api/v1', apiKey: KEY, spool: false, beforeSend: './missing.mjs' }
  expect((await runScript(app, options)).stderr).toContain('was not found')
})
