/**
 * Real servers of a framework: concurrent requests have their own breadcrumbs, an error is one entry of level error with its
 * request and a reference, feedback reaches it, and SIGTERM loses nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { IngestClient } from '../../../src/client/index.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { createIngestService } from '../../../src/service/index.js'
import { cleanEnv } from '../../process/run-app.js'

const SHOP = fileURLToPath(new URL('shop.mjs', import.meta.url))
const KEY = 'shop-key'
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

interface Failed {
  readonly status: number
  readonly reference?: string
}

export async function checkShop(framework: string): Promise<void> {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const child = spawn(process.execPath, [SHOP, framework], {
    env: cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, NODE_ENV: 'test' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  const ask = async (path: string, init: RequestInit = {}): Promise<Failed> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    const { reference } = (await response.json().catch(() => ({}))) as { reference?: string }
    return { status: response.status, ...(reference !== undefined && { reference }) }
  }

  const ids = ['a', 'b', 'c']
  const [a, b, refused] = await Promise.all([ask('/fails/a'), ask('/fails/b'), ask('/refused')])
  const body = JSON.stringify({ id: 'c', text: 'x'.repeat(90_000) })
  const c = await ask('/orders', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  const handled = await ask('/handled')
  child.kill('SIGTERM')
  await once(child, 'exit')

  expect([a, b, c, handled].map(({ status }) => status)).toEqual([500, 500, 500, 500])
  expect(refused?.status).toBe(403)
  const entries = service.entries({ limit: 1000 }).items.map(({ entry }) => entry)
  const errors = entries.filter(({ level }) => level === 'error')
  for (const [at, { reference }] of [a, b, c].entries()) {
    const id = ids[at] as string
    expect(reference).toMatch(UUID)
    const own = errors.filter(({ error }) => error?.message === `order ${id} has no price`)
    expect(own, id).toMatchObject([
      {
        error: { type: 'RangeError', stack: expect.stringContaining('shop.mjs') as string },
        request: id === 'c' ? { method: 'POST', path: '/orders' } : { method: 'GET', path: `/fails/${id}` },
        metadata: { event_id: reference },
      },
    ])
    const breadcrumbs = messagesOf(own[0])
    expect(breadcrumbs).toEqual(
      expect.arrayContaining(id === 'c' ? ['noted c', 'took c'] : [`added ${id}`, `looked for ${id}`]),
    )
    const others = ids.filter((other) => other !== id).map((other) => new RegExp(` ${other}$`))
    for (const other of others)
      expect(
        breadcrumbs.filter((text) => other.test(text)),
        id,
      ).toEqual([])
    const requestId = own[0]?.request_id
    expect(requestId).toBeDefined()
    // Express passes the error to pino-http, which logs the request once; the others log the error before.
    const end = entries.find(({ request_id: one, request }) => one === requestId && request?.status_code === 500)
    expect(end?.level).toBe(framework === 'express' ? 'error' : framework === 'fastify' ? 'info' : 'warn')
  }
  // Nest sends itself the signal again after its shutdown hooks.
  if (framework === 'nest') expect(entries.some(({ message }) => message === 'shop is closed')).toBe(true)
  expect(errors.filter(({ metadata }) => metadata?.['event_id'] === handled.reference)).toHaveLength(1)
  expect(errors.every(({ metadata }) => UUID.test(String(metadata?.['event_id'])))).toBe(true)
  expect(errors).toHaveLength(framework === 'koa' ? 5 : 4) // koa-pino-logger logs a 4xx as error, too
  expect(new Set(errors.map(({ request_id: id }) => id)).size).toBe(errors.length)

  const client = new IngestClient({ url: service.url, apiKey: KEY })
  onTestFinished(() => client.close())
  await client.sendFeedback({ event_id: a?.reference ?? '', comments: 'I only wanted my order' })
  const stored = service
    .entries({ limit: 1000 })
    .items.find(({ entry }) => entry.metadata?.['event_id'] === a?.reference)
  expect(service.entry(stored?.id ?? '')?.feedback).toHaveLength(1)
}

function messagesOf(entry: LogEntry | undefined): string[] {
  return (entry?.breadcrumbs ?? []).map(({ message }) => message ?? '')
}
