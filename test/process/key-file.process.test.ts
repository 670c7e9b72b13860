/** A key file with a wrong key is corrected while the application runs. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { nameDestination } from '../../src/spool/spool-root.js'
import { lastingPort } from '../reusable-port.mjs'
import { startApp } from './run-app.js'
import type { AppPlan, AppResult, RunningApp } from './run-app.js'

const WRONG = 'wrong-key-c0ffee'
const RIGHT = 'right-key-4711'
const COUNT = 300
/** A wrong key is tried again at least every minute. */
const ARRIVE_MS = 90_000

async function end(app: RunningApp): Promise<AppResult> {
  app.child.kill('SIGTERM')
  const result = await app.done
  expect(`${result.stdout}${result.stderr}${JSON.stringify(result.events)}`).not.toMatch(/wrong-key|right-key/)
  return result
}

/** The number of different records at the service. */
function arrived(service: IngestService): number {
  return new Set(service.entries({ limit: Infinity }).items.map(({ entry }) => entry.metadata?.['n'])).size
}

test.each(['target', 'stream'] as const)(
  '%s: the entries arrive without a restart; what is left on disk is sent by the next process, which starts with the new key',
  { timeout: 2 * ARRIVE_MS },
  async (mode) => {
    const port = await lastingPort()
    const url = `http://127.0.0.1:${port}/api/v1`
    const folder = mkdtempSync(join(process.env['PINO_INGEST_SPOOL_DIR'] as string, 'key-file-'))
    const dir = join(folder, 'spool')
    const keyFile = join(folder, 'api-key')
    writeFileSync(keyFile, `${WRONG}\n`)
    const startService = async (): Promise<IngestService> => {
      const service = await createIngestService({ apiKeys: [RIGHT], port })
      onTestFinished(() => service.close())
      return service
    }
    const start = (plan: Partial<AppPlan>): RunningApp => {
      const app = startApp(
        { mode, options: { url, shutdownTimeoutMs: 500 }, count: COUNT, end: 'hold', ...plan },
        { PINO_INGEST_API_KEY_FILE: keyFile, PINO_INGEST_SPOOL_DIR: dir },
      )
      onTestFinished(() => void app.child.kill('SIGKILL'))
      return app
    }

    const service = await startService()
    const app = start({ pausesAt: 200 })
    await expect.poll(() => service.requests.some(({ status }) => status === 401), { timeout: 20_000 }).toBe(true)
    writeFileSync(keyFile, `${RIGHT}\n`)
    await service.waitForEntries(200, { timeoutMs: ARRIVE_MS })
    await service.close()
    app.child.kill('SIGUSR2')
    await app.heard('holding')
    expect((await end(app)).stderr).toMatch(/\b100 entries .*kept on disk/)
    expect(readdirSync(dir)).toEqual([nameDestination(url, WRONG)])

    const restarted = await startService()
    const next = start({ count: 0 })
    await restarted.waitForEntries(COUNT - 200, { timeoutMs: 20_000 })
    expect((await end(next)).stderr).toBe('')
    expect(arrived(restarted)).toBe(COUNT - 200)
  },
)
