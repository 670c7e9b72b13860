/** The entry follower and HTTP client of `tail`, in situations that a process test reaches only by chance. */
import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EntryFollower } from '../../../src/cli/tail/entry-follower.js'
import { AnswerError, LocalServiceClient } from '../../../src/cli/local/local-service-client.js'
import type { Query } from '../../../src/cli/local/local-service-client.js'
import { formatEvent } from '../../../src/service/stream/server-sent-events.js'
import { CHALLENGE_HEADER, createProof } from '../../../src/shared/local-proof.js'
import type { ServiceAddress } from '../../../src/shared/local-proof.js'
import { call, started, until } from '../../service/support.js'

interface Asked {
  readonly query: Query
  readonly lastEventId: string | undefined
}

/** Each stream is text, after which it stays open, or an error. */
function feed({
  runs,
  streams,
  newest = 7,
}: {
  readonly runs: readonly string[]
  readonly streams: readonly (string | Error)[]
  readonly newest?: number
}) {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  const asked: Asked[] = []
  const reports: string[] = []
  const shown: number[] = []
  const delays: number[] = []
  let starts = 0
  const service = {
    origin: 'http://127.0.0.1:4319',
    json: <T>(path: string): Promise<T> =>
      Promise.resolve(
        (path === 'status'
          ? { started_at: runs[Math.min(starts++, runs.length - 1)], db_file: null }
          : { items: path === 'fields' ? [] : [{ seq: newest - 1 }], last_seq: newest }) as T,
      ),
    stream: (query: Query, lastEventId: string | undefined): Promise<IncomingMessage> => {
      asked.push({ query, lastEventId })
      const next = streams[asked.length - 1] ?? ''
      if (next instanceof Error) return Promise.reject(next)
      const stream = new Readable({ read: () => {} })
      if (next !== '') stream.push(next)
      // The last stream stays open.
      if (asked.length < streams.length) stream.push(null)
      return Promise.resolve(stream as IncomingMessage)
    },
  }
  const running = new EntryFollower({
    service,
    query: 'level:error',
    lines: 0,
    isWhole: false,
    signal: ended.signal,
    wait: (delayMs) => {
      delays.push(delayMs)
      return setImmediate()
    },
    renewToken: () => false,
    onEntries: (entries) => Promise.resolve(void shown.push(...entries.map(({ seq }) => seq))),
    report: (message) => reports.push(message),
  }).run()
  return { asked, reports, shown, delays, running, end: () => ended.abort() }
}

function entriesEvent(seq: number): string {
  return formatEvent({ event: 'entries', data: { items: [{ seq }], skipped: 0 }, id: seq })
}

test('starts from the beginning if the service restarts without its entries before the first stream', async () => {
  const { asked, reports } = feed({ runs: ['first', 'first', 'second'], streams: [new Error('ECONNREFUSED'), ''] })
  await until(() => asked.length === 2)
  expect(asked).toEqual([
    { query: { q: 'level:error' }, lastEventId: '7' },
    { query: { q: 'level:error' }, lastEventId: '0' },
  ])
  await until(() => reports.length === 3)
  expect(reports).toEqual([
    'http://127.0.0.1:4319 cannot be reached (ECONNREFUSED); retrying',
    'the local service was restarted without its earlier entries',
    'connected to http://127.0.0.1:4319, waiting for entries',
  ])
})

test('continues an ended stream with Last-Event-ID', async () => {
  const { asked, shown } = feed({ runs: ['first'], streams: [entriesEvent(12), entriesEvent(13)] })
  await until(() => shown.length === 2)
  expect(shown).toEqual([12, 13])
  expect(asked[1]).toEqual({ query: { q: 'level:error' }, lastEventId: '12' })
})

test('reports an outage once, and backs off up to 4 s', async () => {
  const refused = new Error('ECONNREFUSED')
  const { asked, reports, delays } = feed({
    runs: ['first'],
    streams: [...Array.from({ length: 8 }, () => refused), ''],
  })
  await until(() => asked.length === 9)
  expect(reports.filter((text) => text.includes('cannot be reached'))).toHaveLength(1)
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000])
})

test('retries if the service is busy, but not after an invalid request', async () => {
  const { asked, running } = feed({
    runs: ['first'],
    streams: [new AnswerError('busy', '32 streams are open'), new AnswerError('refused', 'level must be known')],
  })
  await expect(running).rejects.toThrow('level must be known')
  expect(asked).toHaveLength(2)
})

test('can be ended during a backoff', async () => {
  const { asked, running, end } = feed({
    runs: ['first'],
    streams: Array.from({ length: 1_000 }, () => new Error('ECONNREFUSED')),
  })
  await until(() => asked.length > 2)
  end()
  await running
})

const TOKEN = 'token-of-the-tests_16'
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')

function asking(origin: string, token = (): string => TOKEN): LocalServiceClient {
  const ended = new AbortController()
  const service = new LocalServiceClient(origin, token, ended.signal)
  onTestFinished(() => {
    ended.abort()
    service.close()
  })
  return service
}

/** Records the received bytes and the number of connections. */
async function recorded(
  listener: RequestListener,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<{
  readonly server: Server
  readonly origin: string
  readonly text: () => string
  readonly count: () => number
}> {
  const texts: string[] = []
  const server = createServer(listener)
  server.on('connection', (socket: Socket) => {
    const index = texts.push('') - 1
    socket.on('data', (chunk: Buffer) => (texts[index] += chunk.toString('latin1')))
  })
  server.listen({ port, host })
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
  return { server, origin: `http://${at}`, text: () => texts.join('\n'), count: () => texts.length }
}

function proofFor(request: IncomingMessage, token = TOKEN, end: Partial<ServiceAddress> = {}): string {
  const { localAddress: address = '', localPort: port = 0 } = request.socket
  return `Bearer realm="pino-ingest", proof="${createProof(token, String(request.headers[CHALLENGE_HEADER]), { address, port, ...end })}"`
}

/** Forwards each challenge to another service, like an attacker who listens on a port to get the token. */
function relayTo(origin: string): RequestListener {
  return (request, response) => {
    void call(`${origin}${request.url}`, {
      method: 'GET',
      headers: { [CHALLENGE_HEADER]: String(request.headers[CHALLENGE_HEADER]) },
    }).then((answer) =>
      response
        .writeHead(answer.status, { 'www-authenticate': answer.headers['www-authenticate'] ?? '' })
        .end(answer.text),
    )
  }
}

describe('the token is sent', () => {
  test('to a service with a valid proof, for each loopback name, on the connection of the proof', async () => {
    const at = await started({ token: TOKEN })
    for (const host of ['127.0.0.1', 'localhost']) {
      const service = asking(`http://${host}:${at.port}`)
      for (let count = 0; count < 3; count += 1) expect(await service.json('counts')).toMatchObject({ total: 0 })
      const stream = await service.stream({}, undefined)
      // While a stream is open.
      expect(await service.json('counts')).toMatchObject({ total: 0 })
      stream.destroy()
    }
  })

  test.skipIf(!hasIpv6)('to a service on IPv6', async () => {
    const at = await started({ token: TOKEN, host: '::1' })
    expect(await asking(at.origin).json('counts')).toMatchObject({ total: 0 })
  })

  test('not to a listener that forwards the challenge to the service at another port', async () => {
    const at = await started({ token: TOKEN })
    const relay = await recorded(relayTo(at.origin))
    await expect(asking(relay.origin).json('status')).rejects.toMatchObject({ problem: 'token' })
    await expect(asking(relay.origin).stream({}, undefined)).rejects.toMatchObject({ problem: 'token' })
    expect([relay.count(), relay.text().includes(TOKEN)]).toEqual([2, false])
  })

  test.skipIf(!hasIpv6)('not to a listener that forwards it from the same port of IPv6', async () => {
    const at = await started({ token: TOKEN })
    const relay = await recorded(relayTo(at.origin), { host: '::1', port: at.port })
    await expect(asking(relay.origin).json('status')).rejects.toMatchObject({ problem: 'token' })
    expect([relay.count(), relay.text().includes(TOKEN)]).toEqual([1, false])
  })

  test.each<readonly [string, RequestListener]>([
    [
      'has another token',
      (request, response) =>
        void response.writeHead(401, { 'www-authenticate': proofFor(request, 'token-of-the-tests_17') }).end(),
    ],
    [
      'repeats an old proof',
      (_, response) =>
        void response
          .writeHead(401, {
            'www-authenticate': `Bearer realm="pino-ingest", proof="${createProof(TOKEN, 'n'.repeat(22), { address: '127.0.0.1', port: 4319 })}"`,
          })
          .end(),
    ],
  ])('not to a listener that %s', async (_, listener) => {
    const other = await recorded(listener)
    await expect(asking(other.origin).json('status')).rejects.toMatchObject({
      name: 'AnswerError',
      problem: 'token',
    })
    expect(other.text()).not.toContain(TOKEN)
  })

  test('not to the next listener, if the connection closes after the proof', async () => {
    const first = await recorded(
      (request, response) =>
        void response.writeHead(401, { 'www-authenticate': proofFor(request), connection: 'close' }).end(),
    )
    await expect(asking(first.origin).json('status')).rejects.toThrow('the connection was closed')
    expect(first.text()).not.toContain(TOKEN)
  })

  test('with each request only after a proof for a new nonce', async () => {
    const nonces: string[] = []
    const at = await recorded((request, response) => {
      const nonce = request.headers[CHALLENGE_HEADER]
      if (nonce === undefined) return void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      nonces.push(String(nonce))
      return void response.writeHead(401, { 'www-authenticate': proofFor(request) }).end()
    })
    const service = asking(at.origin)
    for (let count = 0; count < 3; count += 1) await service.json('status')
    expect([new Set(nonces).size, nonces.every((nonce) => /^[\w-]{22}$/.test(nonce)), at.count()]).toEqual([3, true, 1])
  })
})
