/** The example of a Cloud Run job as a real process, and of a Next route called as Next calls it. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { IngestService } from '../../src/service/index.js'
import { cleanEnv } from '../process/run-app.js'
import { KEY, startService } from './service.js'

/** The callbacks passed to `after`, which Next runs after the response. */
const afterwards = vi.hoisted((): (() => unknown)[] => [])
vi.mock('next/server', () => ({ after: (task: () => unknown) => void afterwards.push(task) }))

/** Imported by path: the example is a Next app with its own rules for imports. */
async function fromNext<Module>(path: string): Promise<Module> {
  return (await import(
    /* @vite-ignore */ fileURLToPath(new URL(`../examples/next-route/${path}`, import.meta.url))
  )) as Module
}

interface Route {
  POST(request: Request): Promise<Response>
}

interface Instrumentation {
  register(): Promise<void>
  onRequestError(error: unknown, request: { readonly path: string; readonly method: string }): Promise<void>
}

interface Job {
  readonly child: ChildProcess
  /** The result includes the output on stderr. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
}

function startJob(service: IngestService, env: Record<string, string>): Job {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../examples/cloud-run-job/job.mjs', import.meta.url))],
    {
      env: cleanEnv({
        PINO_INGEST_URL: service.url,
        PINO_INGEST_API_KEY: KEY,
        CLOUD_RUN_JOB: 'invoices',
        CLOUD_RUN_EXECUTION: 'invoices-x7',
        ...env,
      }),
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, stderr })) }
}

function invoicesIn(service: IngestService): unknown[] {
  return service
    .entries({ q: '"invoice sent"', limit: Infinity })
    .items.map(({ entry }) => Number(entry.metadata?.['invoice']))
    .toSorted((a, b) => a - b)
}

describe('a Cloud Run job', () => {
  test('its tasks share the work, and each delivers all its records before it ends', async () => {
    const service = await startService()
    const tasks = ['0', '1', '2'].map((index) =>
      startJob(service, {
        CLOUD_RUN_TASK_INDEX: index,
        CLOUD_RUN_TASK_COUNT: '3',
        CLOUD_RUN_TASK_ATTEMPT: '1',
        INVOICES: '30',
        INVOICE_MS: '0',
      }),
    )
    for (const { ended } of tasks) expect(await ended).toEqual({ code: 0, stderr: '' })
    expect(invoicesIn(service)).toEqual(Array.from({ length: 30 }, (_, n) => n))
    for (const { entry } of service.entries({ limit: Infinity }).items) {
      const { task } = entry.metadata as { task: { index: number } }
      expect(entry).toMatchObject({
        service: 'invoices',
        tags: [`task:${task.index}`],
        metadata: { execution: 'invoices-x7', task: { attempt: 1, count: 3 } },
      })
    }
  })

  test('delivers the records logged before it is cancelled', async () => {
    const service = await startService()
    const { child, ended } = startJob(service, { INVOICES: '100000', INVOICE_MS: '2' })
    await service.waitForEntries(20, { timeoutMs: 20_000 })
    child.kill('SIGTERM')
    expect(await ended).toEqual({ code: 128 + 15, stderr: '' })
    // Concurrent batches may arrive in another order.
    const messages = service.entries({ limit: Infinity }).items.map(({ entry }) => entry.message)
    expect(messages.filter((message) => message !== 'invoice sent')).toEqual(['cancelled'])
    const invoices = invoicesIn(service)
    expect(invoices.length).toBeGreaterThanOrEqual(20)
    expect(invoices).toEqual(invoices.map((_, n) => n))
  })

  test('ends in time when the service is down, and reports the undelivered entries', async () => {
    const service = await startService()
    await service.close()
    const { code, stderr } = await startJob(service, {
      INVOICES: '5',
      INVOICE_MS: '0',
      PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '100',
    }).ended
    expect(code).toBe(0)
    expect(stderr).toContain('logs: timeout, 6 entries are not delivered')
  })
})

describe('a Next route', () => {
  let service: IngestService
  beforeEach(async () => {
    service = await startService()
    vi.stubEnv('PINO_INGEST_URL', service.url)
    vi.stubEnv('PINO_INGEST_API_KEY', KEY)
    vi.stubEnv('NEXT_RUNTIME', 'nodejs')
    vi.resetModules()
    delete (globalThis as { ordersLogger?: unknown }).ordersLogger
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    afterwards.length = 0
  })

  async function post(order: unknown): Promise<Response> {
    const { POST } = await fromNext<Route>('app/api/orders/route.ts')
    return POST(
      new Request('http://localhost/api/orders', {
        method: 'POST',
        headers: { 'x-request-id': 'r-1' },
        body: JSON.stringify(order),
      }),
    )
  }

  async function respondedWith(): Promise<void> {
    for (const task of afterwards) expect(await task()).toMatchObject({ state: 'acknowledged' })
  }

  test('the response does not wait for the service; the records arrive afterwards', async () => {
    const response = await post({ id: 1017, total: 42 })
    expect([response.status, await response.json()]).toEqual([201, { id: 1017 }])
    expect(service.arrived).toBe(0)
    await respondedWith()
    expect(service.entries().items.map(({ entry }) => entry)).toMatchObject([
      {
        level: 'info',
        message: 'order placed',
        service: 'orders',
        request_id: 'r-1',
        metadata: { orderId: 1017, total: 42 },
      },
    ])
  })

  test('a rejected order is an error', async () => {
    expect((await post({ id: 1018 })).status).toBe(400)
    await respondedWith()
    expect(service.entries().items.map(({ entry }) => entry)).toMatchObject([
      { level: 'error', message: 'order failed', error: { type: 'RangeError' } },
    ])
  })

  test('the instrumentation logs an uncaught error with the same logger', async () => {
    const { register, onRequestError } = await fromNext<Instrumentation>('instrumentation.ts')
    await register()
    await onRequestError(new Error('no database'), { path: '/api/orders', method: 'POST' })
    expect(service.entries().items.map(({ entry }) => entry)).toMatchObject([
      {
        level: 'error',
        service: 'orders',
        error: { message: 'no database' },
        request: { method: 'POST', path: '/api/orders' },
      },
    ])
  })

  test('wrong options prevent the start', async () => {
    vi.stubEnv('PINO_INGEST_BATCH_SIZE', '1000')
    const { register } = await fromNext<Instrumentation>('instrumentation.ts')
    await expect(register()).rejects.toThrow('PINO_INGEST_BATCH_SIZE')
  })
})
