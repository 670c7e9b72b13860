/**
 * Exits of an application whose worker gets too little CPU. At an exit pino waits up to 10 s until its worker has read all
 * records, and up to another 10 s for the worker's end, then ends the process without it.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { runApp, startApp } from './run-app.js'
import type { AppPlan } from './run-app.js'

const COUNT = 400
/** Long, so that they are more than one slice of text, while few need no time to speak of, also on a busy machine. */
const PADDING = 'x'.repeat(1_000)
const KEY = 'slow-worker-key-c0ffee'
const HOOK = fileURLToPath(new URL('slow-hook.cjs', import.meta.url))

interface SlowApp {
  readonly service: IngestService
  readonly plan: AppPlan
}

async function slowApp(end: NonNullable<AppPlan['end']>): Promise<SlowApp> {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  return { service, plan: { mode: 'target', options: { url: service.url, apiKey: KEY, beforeSend: HOOK }, pinoOptions: { base: { PADDING } }, count: COUNT, end } }
}

function arrived(service: IngestService): number {
  return new Set(service.entries({ limit: Infinity }).items.map(({ entry }) => entry.metadata?.['n'])).size
}

/** Another process, without the slow hook: it runs until all entries have come to the service. */
async function nextStart({ service, plan }: SlowApp): Promise<void> {
  const app = startApp({ ...plan, options: { ...plan.options, beforeSend: undefined }, count: 0, end: 'hold' })
  await service.waitForEntries(COUNT, { timeoutMs: 20_000 })
  app.child.kill('SIGTERM')
  await app.done
}

describe.concurrent('a worker that', () => {
  test.each(['throw', 'exit'] as const)('takes 3.5 s to start, and 7.5 s for the records, %s: nothing is lost', { timeout: 60_000 }, async (end) => {
    const app = await slowApp(end)
    const { code, stderr } = await runApp(app.plan, { SLOW_LOAD_MS: '3500', SLOW_ENTRY_MS: '1500' })
    expect(code).toBe(end === 'throw' ? 1 : 0)
    expect(stderr).not.toContain('_flushSync')
    if (arrived(app.service) < COUNT) await nextStart(app)
    expect(arrived(app.service)).toBe(COUNT)
  })

  test('takes longer to start than pino waits: an application that awaits flush() before it exits loses nothing', { timeout: 60_000 }, async () => {
    const app = await slowApp('throw-flush')
    const { code, events } = await runApp({ ...app.plan, flushTimeoutMs: 30_000 }, { SLOW_LOAD_MS: '10500', SLOW_ENTRY_MS: '0' })
    expect(code).toBe(1)
    expect(events.find(({ name }) => name === 'flushed')?.payload).toMatchObject({ state: 'acknowledged' })
    expect(arrived(app.service)).toBe(COUNT)
  })
})
