/** The option `headers` on real connections: sent with every request to the configured URL, and shown in no message. */
import { once } from 'node:events'
import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { Pinger } from '../../src/app/heartbeats/pinger.js'
import { IngestClient } from '../../src/client/index.js'
import { ingestStream } from '../../src/index.js'
import { systemClock } from '../../src/shared/clock.js'
import type { HttpRequestInit } from '../../src/client/http-types.js'
import { ApiKey } from '../../src/options/api-key.js'
import { failureOf } from './failure-of.js'
import { httpServer, httpTo } from './http-servers.js'

const VALUE = 'Bearer canary-value-0815'
const TOKEN = 'canary-token-4711'
const REQUEST = {
  request_id: 'r',
  method: 'GET',
  path: '/',
  status_code: 200,
  duration_ms: 1,
  timestamp: '2026-11-21T12:00:00.000Z',
} as const
const headers = { Authorization: VALUE, 'X-Tenant': 'shop', 'User-Agent': 'shop/1' }
const EXPECTED = { authorization: VALUE, 'x-tenant': 'shop', 'user-agent': 'shop/1', 'accept-encoding': 'identity' }

test('are sent by transport, client and heartbeats', async () => {
  const server = await httpServer((response, { url }) => {
    const isRelease = url.endsWith('/releases/register')
    response.end(isRelease ? '{"release_id":"rel_1"}' : '{"accepted":1,"rejected":0,"errors":[]}')
  })
  const options = { url: `${server.origin}/api/v1`, apiKey: 'header-key', headers }
  const stream = ingestStream({
    ...options,
    spool: false,
    requestLogs: true,
    registerRelease: true,
    version: '1',
    logTo: 'silent',
  })
  pino(stream).info(
    { req: { method: 'GET', url: '/' }, res: { statusCode: 200 }, responseTime: 1 },
    'request completed',
  )
  await vi.waitFor(() => expect(server.came.map(({ url }) => url)).toContain('/api/v1/releases/register'), {
    timeout: 8_000,
  })
  stream.end()
  await once(stream, 'close')
  const client = new IngestClient(options)
  await client.ingest({ logs: [{ level: 'info', message: 'm', timestamp: REQUEST.timestamp }] })
  await client.close()
  const pinger = new Pinger(TOKEN, options, systemClock)
  await pinger.ping()
  await pinger.close()
  const paths = new Set(server.came.map(({ url }) => url.replace(TOKEN, '')))
  expect([...paths].toSorted()).toEqual(
    ['/heartbeat/', '/ingest', '/ingest/requests', '/releases/register'].map((path) => `/api/v1${path}`),
  )
  for (const one of server.came) expect(one.headers, one.url).toMatchObject(EXPECTED)
  const heartbeats = server.came.filter(({ url }) => url.includes('/heartbeat/'))
  for (const one of heartbeats) expect(one.headers).not.toHaveProperty('x-api-key')
})

test.each([401, 403])('after a %i, the key is read from its file before the next request', async (status) => {
  let isRejecting = true
  const server = await httpServer((response) => response.writeHead(isRejecting ? status : 200).end('{}'))
  let inFile = 'first-key'
  const http = httpTo(server.origin, { apiKey: new ApiKey(inFile, () => inFile) })
  const send = async (init: HttpRequestInit = {}): Promise<void> => void (await http.post('/ingest', '{}', init))
  await send()
  inFile = 'second-key'
  isRejecting = false
  await send()
  inFile = 'third-key'
  await send()
  await send({ keyless: true })
  expect(server.came.map((one) => one.headers['x-api-key'])).toEqual([
    'first-key',
    'second-key',
    'second-key',
    undefined,
  ])
})

test('are masked in the quoted reply of a service that repeats them', async () => {
  const server = await httpServer((response, { headers: own }) => {
    response.writeHead(400).end(JSON.stringify({ error: `bad ${own.authorization} ${own['x-tenant']}` }))
  })
  const options = { url: `${server.origin}/api/v1`, apiKey: 'header-key', headers }
  const client = new IngestClient({ ...options, maxAttempts: 1 })
  await failureOf(client.ingestRequests([REQUEST]), VALUE)
  await client.close()
  const pinger = new Pinger(TOKEN, { ...options, maxAttempts: 1 }, systemClock)
  await failureOf(pinger.ping(), VALUE)
  await pinger.close()
  expect(server.came).toHaveLength(2)
})
