/** With the default URL, nothing is sent before the listener has proved that it is this user's local service. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { HttpFailure } from '../../src/client/http-types.js'
import type { Http } from '../../src/client/http-types.js'
import { ApiKey } from '../../src/options/api-key.js'
import { CHALLENGE_HEADER, createProof } from '../../src/shared/local-proof.js'
import { started } from '../service/support.js'
import { deadPort, httpServer, httpTo } from './http-servers.js'
import type { TestServer } from './http-servers.js'

const TOKEN = 'token-of-this-user-4711'
const BODY = '{"batch_id":"b","logs":[{"level":"info","message":"entry-4711","timestamp":"2026-11-21T00:08:52.486Z"}]}'
const CHALLENGE =
  /^GET \/local\/status HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nx-pino-ingest-challenge: [\w-]{22}\r\n\r\n$/

beforeEach(() => {
  vi.stubEnv('PINO_INGEST_DEV_TOKEN', TOKEN)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

function implicit(origin: string, requestTimeoutMs = 10_000): Http {
  return httpTo(origin, { apiKey: new ApiKey('local'), isLocalDefault: true, requestTimeoutMs, maxConnections: 1 })
}

async function failureOf(sent: Promise<unknown>): Promise<HttpFailure> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof HttpFailure)) throw new Error('it was sent', { cause: error })
  return error
}

/** A server that records the received bytes. */
async function recorder(
  onSocket: (socket: Socket) => void,
): Promise<{ readonly origin: string; readonly bytes: () => string }> {
  let bytes = ''
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', (chunk) => (bytes += chunk.toString()))
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bytes: () => bytes }
}

/** A server that proves that it has the token. */
function proving(token: string): Promise<TestServer> {
  return httpServer((response, { url, headers }) => {
    if (url !== '/local/status') return void response.end('{}')
    const { localAddress: address = '', localPort: port = 0 } = response.socket ?? {}
    const proof = createProof(token, String(headers[CHALLENGE_HEADER]), { address, port })
    response.writeHead(401, { 'www-authenticate': `Bearer realm="pino-ingest", proof="${proof}"` }).end('{"detail":[]}')
  })
}

test('challenges the service once per connection, and does not send the token', async () => {
  const server = await proving(TOKEN)
  const http = implicit(server.origin)
  for (let count = 0; count < 3; count += 1) expect(await http.post('/ingest', BODY)).toMatchObject({ status: 200 })
  expect(server.connections()).toBe(1)
  expect(server.came.map(({ url }) => url)).toEqual([
    '/local/status',
    '/api/v1/ingest',
    '/api/v1/ingest',
    '/api/v1/ingest',
  ])
  expect(JSON.stringify(server.came)).not.toContain(TOKEN)

  for (const socket of server.openSockets) socket.destroy()
  await vi.waitFor(async () => expect((await http.post('/ingest', BODY)).status).toBe(200), { timeout: 10_000 })
  expect(server.came.filter(({ url }) => url === '/local/status')).toHaveLength(2)
})

test('the local service answers the challenge', async () => {
  const service = await started({ token: TOKEN })
  expect(await implicit(service.origin).post('/ingest', BODY)).toMatchObject({ status: 200 })
  expect(service.arrived).toBe(1)
})

test.each<[string, (socket: Socket) => void]>([
  [
    'answers 200',
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')),
  ],
  [
    'answers as a local service without a proof',
    (socket) =>
      void socket.once('data', () =>
        socket.end(
          'HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer realm="pino-ingest"\r\ncontent-length: 0\r\n\r\n',
        ),
      ),
  ],
  [
    'answers something else than HTTP',
    (socket) => void socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n')),
  ],
  ['closes the connection', (socket) => void socket.once('data', () => socket.end())],
  ['resets the connection', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
  [
    'answers without an end',
    (socket) => void socket.once('data', () => socket.write(`HTTP/1.1 401 Unauthorized\r\nx: ${'x'.repeat(20_000)}`)),
  ],
])('a program that %s receives only the challenge', async (_, onSocket) => {
  const { origin, bytes } = await recorder(onSocket)
  const failure = await failureOf(implicit(origin).post('/ingest', BODY))
  expect(failure).toMatchObject({
    kind: 'unproven',
    message: expect.stringContaining(`${origin.slice(7)} is not a local service`) as string,
    remedy: expect.stringMatching(/PINO_INGEST_URL$/) as string,
  })
  expect(failure.message).not.toContain('status 0')
  expect(bytes()).toMatch(CHALLENGE)
})

test('a program that stays silent receives only the challenge', async () => {
  const { origin, bytes } = await recorder(() => {})
  await failureOf(implicit(origin, 500).post('/ingest', BODY))
  expect(bytes()).toMatch(CHALLENGE)
})

test('a service with another token receives nothing', async () => {
  const service = await started({ token: 'token-of-another-user-4711' })
  expect(await failureOf(implicit(service.origin).post('/ingest', BODY))).toMatchObject({
    kind: 'unproven',
    message: expect.stringContaining('PINO_INGEST_DEV_TOKEN') as string,
    remedy: expect.stringMatching(
      new RegExp(`PINO_INGEST_DEV_TOKEN.*PINO_INGEST_URL=${service.origin}.*PINO_INGEST_API_KEY=any`),
    ) as string,
  })
  expect(service.requests).toEqual([])
})

test('a malformed token is reported without showing it', async () => {
  vi.stubEnv('PINO_INGEST_DEV_TOKEN', 'sh0rt')
  const { origin, came } = await proving(TOKEN)
  const failure = await failureOf(implicit(origin).post('/ingest', BODY))
  expect(failure).toMatchObject({
    kind: 'unproven',
    message: expect.stringMatching(/PINO_INGEST_DEV_TOKEN must have.*5 characters/) as string,
  })
  expect(failure.remedy).not.toContain('npx')
  expect(failure.message).not.toContain('sh0rt')
  expect(came).toEqual([])
})

test('a program that relays the challenge to the service on another port receives nothing more', async () => {
  const service = await started({ token: TOKEN })
  const { origin, bytes } = await recorder((socket) => {
    const onward = connect(service.port, '127.0.0.1').on('error', () => {})
    socket.pipe(onward).pipe(socket)
    socket.once('close', () => onward.destroy())
  })
  expect(await failureOf(implicit(origin).post('/ingest', BODY))).toMatchObject({ kind: 'unproven' })
  expect(bytes()).toMatch(CHALLENGE)
  expect(service.requests).toEqual([])
})

test('sends nothing without a token, and reads it again for the next connection', async () => {
  const home = mkdtempSync(join(tmpdir(), 'pino-ingest-token-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  vi.stubEnv('PINO_INGEST_DEV_TOKEN', undefined)
  vi.stubEnv('XDG_STATE_HOME', home)
  const { origin, came } = await proving(TOKEN)
  const http = implicit(origin)
  expect(await failureOf(http.post('/ingest', BODY))).toMatchObject({
    kind: 'unproven',
    message: expect.stringContaining(join(home, 'pino-ingest', 'dev-token')) as string,
    remedy: expect.stringContaining('npx pino-ingest dev') as string,
  })
  expect(came).toEqual([])
  vi.stubEnv('PINO_INGEST_DEV_TOKEN', TOKEN)
  expect(await http.post('/ingest', BODY)).toMatchObject({ status: 200 })
})

test('the message says that nothing listens', async () => {
  expect(await failureOf(implicit(`http://127.0.0.1:${await deadPort()}`).post('/ingest', BODY))).toMatchObject({
    kind: 'network',
    message: expect.stringContaining('ECONNREFUSED') as string,
  })
})

test('a configured URL needs no proof', async () => {
  const { origin, came } = await httpServer()
  expect(await httpTo(origin).post('/ingest', BODY)).toMatchObject({ status: 200 })
  expect(came.map(({ url }) => url)).toEqual(['/api/v1/ingest'])
})

test('with fetch, as in Bun, challenges the listener before each request', async () => {
  const versions = Object.getOwnPropertyDescriptor(process, 'versions')
  onTestFinished(() => void Object.defineProperty(process, 'versions', versions ?? {}))
  Object.defineProperty(process, 'versions', { ...versions, value: { ...process.versions, bun: '1.3.0' } })
  const server = await proving(TOKEN)
  const http = implicit(server.origin)
  for (let count = 0; count < 2; count += 1) expect(await http.post('/ingest', BODY)).toMatchObject({ status: 200 })
  expect(server.came.map(({ url }) => url)).toEqual([
    '/local/status',
    '/api/v1/ingest',
    '/local/status',
    '/api/v1/ingest',
  ])
  const { origin, bytes } = await recorder(
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  )
  expect(await failureOf(implicit(origin).post('/ingest', BODY))).toMatchObject({ kind: 'unproven' })
  expect(bytes()).toMatch(CHALLENGE)
})
