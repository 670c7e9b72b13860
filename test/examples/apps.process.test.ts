/** Starts the example applications: an error page shows the event ID, and the user's feedback is attached to that event. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { cleanEnv } from '../process/run-app.js'

const KEY = 'example-key'
const COMMENTS = 'I only wanted to see my order & go'

interface App {
  readonly child: ChildProcess
  readonly origin: string
  readonly stderr: () => string
}

async function start(name: string, service: IngestService): Promise<App> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}/app.mjs`, import.meta.url))], {
    env: cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [origin] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended: ${stderr}`))),
  ])
  return { child, origin, stderr: () => stderr }
}

test.each([
  ['express', 'node'],
  ['fastify', 'node'],
])('%s', { timeout: 60_000 }, async (name) => {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const { child, origin, stderr } = await start(name, service)

  for (const id of ['1', '2', '3'])
    expect(await (await fetch(`${origin}/orders/${id}?token=canary-in-the-url`)).json()).toEqual({ id, total: 42 })
  expect((await fetch(`${origin}/nothing`)).status).toBe(404)
  const failed = await fetch(`${origin}/orders/13`, { headers: { cookie: 'canary-in-a-cookie' } })
  expect(failed.status).toBe(500)
  const eventId = /<code id="event">([\da-f-]{36})<\/code>/.exec(await failed.text())?.[1] ?? ''
  expect(eventId).not.toBe('')
  await vi.waitFor(() => expect(service.entries({ level: 'error' }).items).toHaveLength(1), { timeout: 20_000 })
  const thanks = await fetch(`${origin}/feedback`, {
    method: 'POST',
    body: new URLSearchParams({ event_id: eventId, comments: COMMENTS, email: 'jane@example.com' }),
  })
  expect(await thanks.text()).toBe('Thank you.')
  child.kill('SIGTERM')
  await once(child, 'exit')

  const [error] = service.entries({ level: 'error' }).items
  expect(error?.entry).toMatchObject({
    service: 'shop',
    message: name === 'express' ? 'request errored' : 'order 13 has no price',
    error: { type: 'RangeError', stack: expect.stringContaining('app.mjs') },
    metadata: { event_id: eventId },
    request_id: expect.any(String),
  })
  expect(error?.entry.breadcrumbs?.map(({ message }) => message)).toContain('order read')
  expect(error?.entry.breadcrumbs?.find(({ message }) => message === 'order read')).toMatchObject({
    level: 'debug',
    data: { id: '13', table: 'orders' },
  })
  expect(service.entry(error?.id ?? '')?.feedback.map(({ feedback }) => feedback)).toEqual([
    { event_id: eventId, comments: COMMENTS, email: 'jane@example.com' },
  ])
  const rows = service
    .requestLogs({ limit: 100 })
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ request }) => request)
  expect(rows.map(({ method, path, status_code, route }) => [method, path, status_code, route])).toEqual([
    ['GET', '/orders/1', 200, '/orders/:id'],
    ['GET', '/orders/2', 200, '/orders/:id'],
    ['GET', '/orders/3', 200, '/orders/:id'],
    ['GET', '/nothing', 404, undefined],
    ['GET', '/orders/13', 500, '/orders/:id'],
    ['POST', '/feedback', 200, '/feedback'],
  ])
  expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(6)
  const all = JSON.stringify([service.entries({ limit: Infinity }).items, rows, stderr()])
  expect(all).not.toContain('canary')
  expect(service.entries({ level: 'debug' }).items).toEqual([])
})
