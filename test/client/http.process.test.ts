import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { fetchPost } from '../../src/client/http-fetch.js'
import type { Http, HttpFailure } from '../../src/client/http-types.js'
import { failureOf } from './failure-of.js'
import { KEY, deadPort, httpServer, httpTo, httpsServer, pem, proxyServer, rawServer } from './http-servers.js'

const until = (condition: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 10_000, interval: 5 })

describe('a request', () => {
  test('goes to base URL and path, with key, type and agent, and returns the complete reply', async () => {
    const server = await httpServer((response) => {
      response.writeHead(201, { 'X-Twice': ['a', 'b'], Date: 'Wed, 01 Jan 2025 00:00:00 GMT' }).end('{"ä":1}')
    })
    const reply = await httpTo(server.origin).post('/ingest', '{"logs":[]}')
    expect(reply).toMatchObject({
      status: 201,
      text: '{"ä":1}',
      truncated: false,
      headers: { 'x-twice': ['a', 'b'], date: 'Wed, 01 Jan 2025 00:00:00 GMT' },
    })
    expect(server.came).toHaveLength(1)
    expect(server.came[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/ingest',
      body: '{"logs":[]}',
      headers: {
        'x-api-key': KEY,
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': expect.stringMatching(/^pino-ingest\/\d/) as string,
      },
    })
    expect(server.came[0]?.headers).not.toHaveProperty('content-encoding')
  })

  test('of a heartbeat has no key, body or content type', async () => {
    const server = await httpServer()
    await httpTo(server.origin).post('/heartbeat/tok', null, { keyless: true })
    expect(server.came[0]).toMatchObject({ url: '/api/v1/heartbeat/tok', body: '' })
    expect(
      Object.keys(server.came[0]?.headers ?? {}).filter((name) => /key|content-type|authorization/.test(name)),
    ).toEqual([])
  })

  test('reuses connections, and opens at most maxConnections', async () => {
    const server = await httpServer()
    const http = httpTo(server.origin, { maxConnections: 3 })
    for (let at = 0; at < 10; at += 1) await http.post('/ingest', '{}')
    // The second request may start before the connection of the first is free.
    expect(server.connections()).toBeLessThanOrEqual(2)
    await Promise.all(Array.from({ length: 20 }, () => http.post('/ingest', '{}')))
    expect(server.connections()).toBeLessThanOrEqual(3)
    expect(server.came).toHaveLength(30)
  })

  test('answered by 10 MB is read up to the limit, and the next request succeeds', async () => {
    let sent = 0
    const part = Buffer.alloc(64 * 1024, 'x')
    const server = await httpServer((response) => {
      if (sent > 0) return void response.end('{}')
      const more = (): void => {
        while (sent < 10 * 1024 * 1024 && !response.destroyed) {
          sent += part.length
          if (!response.write(part)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    const http = httpTo(server.origin)
    const reply = await http.post('/ingest', '{}')
    expect([reply.truncated, reply.text.length]).toEqual([true, 256 * 1024])
    expect(sent).toBeLessThan(10 * 1024 * 1024)
    expect((await http.post('/ingest', '{}')).text).toBe('{}')
  })
})

describe('no reply', () => {
  test('nothing listens: ECONNREFUSED, by address and by name', async () => {
    const port = await deadPort()
    for (const host of ['127.0.0.1', 'localhost']) {
      const error = await failureOf<HttpFailure>(httpTo(`http://${host}:${port}`).post('/ingest', '{}'), KEY)
      expect(error.kind).toBe('network')
      expect(error.message).toBe(`POST http://${host}:${port}/api/v1/ingest: ECONNREFUSED (nothing listens there)`)
    }
  })

  test.each<[string, string]>([
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ])('%s, then a reset', async (_, text) => {
    const server = await rawServer((socket) => void socket.write(text, () => socket.resetAndDestroy()))
    const error = await failureOf<HttpFailure>(httpTo(server.origin).post('/ingest', '{}'), KEY)
    expect([error.kind, error.message]).toEqual(['reset', expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET|EPIPE/)])
  })

  test('a reply that is not HTTP', async () => {
    const server = await rawServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    expect((await failureOf(httpTo(server.origin).post('/ingest', '{}'), KEY)).message).toMatch(
      /(?:HPE_\w+|HTTPParserError) \(the reply is not HTTP\)$/,
    )
  })

  test.each([
    ['never a head', undefined],
    ['a head byte by byte', 'HTTP/1.1 200 OK\r\nx: '],
    ['a body byte by byte', 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n'],
  ])('%s: the timeout covers the whole exchange', async (_, head) => {
    let isClosed = false
    const server = await rawServer((socket) => {
      socket.on('close', () => (isClosed = true))
      if (head === undefined) return
      socket.write(head)
      const timer = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(timer))
    })
    const error = await failureOf<HttpFailure>(
      httpTo(server.origin, { requestTimeoutMs: 200 }).post('/ingest', '{}'),
      KEY,
    )
    expect([error.kind, error.message]).toEqual([
      'timeout',
      `POST ${server.origin}/api/v1/ingest: no reply within 200 ms`,
    ])
    await until(() => isClosed)
  })

  test('each request has its own timeout, even after a request with a longer one', async () => {
    const silent = await rawServer(() => {})
    const http = httpTo(silent.origin, { requestTimeoutMs: 60_000 })
    const ended: number[] = []
    const begin = (timeoutMs: number): Promise<unknown> =>
      failureOf<HttpFailure>(http.post('/ingest', '{}', { timeoutMs }), KEY).then(({ kind }) =>
        ended.push(kind === 'timeout' ? timeoutMs : Number.NaN),
      )
    const longest = begin(60_000)
    await Promise.all([begin(400), begin(100), begin(250)])
    expect(ended.toSorted((one, other) => one - other)).toEqual([100, 250, 400])
    await begin(50)
    expect(ended.at(-1)).toBe(50)
    await http.close()
    await longest
  })

  test('no failure contains the token', async () => {
    const token = 'secret-token-0815'
    const failure = async (http: Http, signal?: AbortSignal): Promise<string> =>
      (
        await failureOf(
          http.post(`/heartbeat/${token}`, null, { keyless: true, ...(signal && { signal }) }),
          token,
          KEY,
        )
      ).message
    expect(await failure(httpTo(`http://127.0.0.1:${await deadPort()}`))).toContain('/heartbeat/<token>: ECONNREFUSED')
    const silent = await rawServer(() => {})
    const late = httpTo(silent.origin, { requestTimeoutMs: 100 })
    expect(await failure(late)).toContain('/heartbeat/<token>: no reply')
    expect(await failure(late, AbortSignal.abort())).toContain('/heartbeat/<token>: aborted')
  })
})

describe('abort and close', () => {
  test('a signal ends a request in flight; an aborted signal sends nothing', async () => {
    const server = await httpServer(() => {})
    const http = httpTo(server.origin)
    const caller = new AbortController()
    const pending = failureOf<HttpFailure>(http.post('/ingest', '{}', { signal: caller.signal }), KEY)
    await until(() => server.came.length === 1)
    const [connection] = server.openSockets
    caller.abort()
    expect(await pending).toMatchObject({ kind: 'aborted', message: `POST ${server.origin}/api/v1/ingest: aborted` })
    await until(() => connection?.destroyed === true)
    expect((await failureOf<HttpFailure>(http.post('/ingest', '{}', { signal: caller.signal }))).kind).toBe('aborted')
    expect(server.came).toHaveLength(1)
  })

  test('close() ends pending requests at once; later requests fail without a connection', async () => {
    const server = await httpServer(() => {})
    const http = httpTo(server.origin, { requestTimeoutMs: 600_000 })
    const pending = [1, 2, 3].map(() => failureOf<HttpFailure>(http.post('/ingest', '{}'), KEY))
    await until(() => server.came.length === 3)
    await http.close()
    for (const error of await Promise.all(pending))
      expect(error).toMatchObject({ kind: 'aborted', message: expect.stringContaining(': closed') as string })
    await until(() => server.openSockets.size === 0)
    const connections = server.connections()
    expect((await failureOf<HttpFailure>(http.post('/ingest', '{}'), KEY)).kind).toBe('aborted')
    expect(server.connections()).toBe(connections)
    await http.close()
  })
})

describe('TLS', () => {
  test('a private CA, by address and by name', async () => {
    const server = await httpsServer()
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(
        (await httpTo(`https://${host}:${server.port}`, { tls: { ca: pem('ca.crt') } }).post('/ingest', '{}')).status,
      ).toBe(200)
    }
  })

  test('without the CA nothing is sent, and the reason names the option', async () => {
    const server = await httpsServer()
    const error = await failureOf<HttpFailure>(httpTo(server.origin).post('/ingest', '{}'), KEY)
    expect(error.message).toMatch(
      /(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY) \(a private CA goes into tls\.ca\)$/,
    )
    expect(server.came).toEqual([])
  })

  test('a client certificate if the server requests one', async () => {
    const server = await httpsServer({ ca: pem('ca.crt'), requestCert: true, rejectUnauthorized: true })
    const tls = { ca: pem('ca.crt'), cert: pem('client.crt'), key: pem('client.key') }
    expect((await httpTo(server.origin, { tls }).post('/ingest', '{}')).status).toBe(200)
    expect(
      (await failureOf<HttpFailure>(httpTo(server.origin, { tls: { ca: tls.ca } }).post('/ingest', '{}'), KEY, tls.key))
        .kind,
    ).toBe('reset')
    expect(server.came).toHaveLength(1)
  })
})

describe('a proxy', () => {
  test('opens a tunnel, is reused, and never sees the key of an https service', async () => {
    const server = await httpsServer()
    const proxy = await proxyServer()
    const http = httpTo(server.origin, { proxy: proxy.origin, tls: { ca: pem('ca.crt') } })
    for (let at = 0; at < 10; at += 1) expect((await http.post('/ingest', '{}')).status).toBe(200)
    expect([...new Set(proxy.tunnels)]).toEqual([`127.0.0.1:${server.port}`])
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2)
    expect(proxy.came).toEqual([])
    expect(server.came[0]?.headers['x-api-key']).toBe(KEY)
    expect(server.came[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  // Percent-encoded, alone, and with a % that encodes nothing.
  test.each([
    ['user:p%40ss%3Aw', 'user:p@ss:w'],
    ['token-only', 'token-only:'],
    ['user:100%sure', 'user:100%sure'],
  ])('receives the credentials in its URL: %s', async (userinfo, credentials) => {
    const server = await httpServer()
    const proxy = await proxyServer(credentials)
    const url = proxy.origin.replace('//', `//${userinfo}@`)
    expect((await httpTo(server.origin, { proxy: url }).post('/ingest', '{}')).status).toBe(200)
    expect(server.came[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  test('that refuses: the status is reported without password and key', async () => {
    const server = await httpServer()
    const proxy = await proxyServer('user:other')
    const error = await failureOf<HttpFailure>(
      httpTo(server.origin, { proxy: proxy.origin.replace('//', '//user:hunter2@') }).post('/ingest', '{}'),
      KEY,
      'hunter2',
      'user:hunter2',
    )
    expect([error.kind, error.message]).toEqual([
      'network',
      `POST ${server.origin}/api/v1/ingest through the proxy ${proxy.origin}: the proxy answered 407`,
    ])
    expect(JSON.stringify(proxy.authorizations)).not.toContain(KEY)
    expect(server.connections()).toBe(0)
  })
})

describe('through fetch', () => {
  const post = (origin: string, signal = new AbortController().signal): ReturnType<typeof fetchPost> =>
    fetchPost(`${origin}/api/v1/ingest`, { body: '{}', headers: { 'x-api-key': KEY }, signal, maxReplyBytes: 1_000 })

  test('returns the same reply', async () => {
    const server = await httpServer((response) => void response.writeHead(422, { 'Retry-After': '3' }).end('{"ä":1}'))
    expect(await post(server.origin)).toMatchObject({
      status: 422,
      text: '{"ä":1}',
      truncated: false,
      headers: { 'retry-after': '3' },
    })
    expect(server.came[0]).toMatchObject({ method: 'POST', body: '{}', headers: { 'x-api-key': KEY } })
  })

  test('has a size limit, and ends by its signal', async () => {
    const large = await httpServer((response) => void response.end('x'.repeat(1_000_000)))
    const reply = await post(large.origin)
    expect([reply.truncated, reply.text.length]).toEqual([true, 1_000])
    const silent = await httpServer(() => {})
    const caller = new AbortController()
    const pending = failureOf(post(silent.origin, caller.signal), KEY)
    await until(() => silent.came.length === 1)
    caller.abort()
    expect((await pending).name).toBe('AbortError')
  })
})

describe('in a process of its own', () => {
  const client = pathToFileURL('dist/esm/client.js').href

  async function run(script: string, env: Record<string, string> = {}): Promise<{ code: number | null; out: string }> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (part: Buffer) => (out += part.toString()))
    const tooLong = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(tooLong)
    return { code, out }
  }

  test('after close() the process ends by itself, even with a pending request', async () => {
    const server = await httpServer(() => {})
    const script = `
      import { IngestClient } from '${client}'
      const client = new IngestClient({ url: '${server.origin}/api/v1', apiKey: 'k', requestTimeoutMs: 600000 })
      const pending = client.heartbeat('tok').catch((error) => console.log(error.code))
      setTimeout(() => client.close(), 100)`
    expect(await run(script)).toEqual({ code: 0, out: 'ABORTED\n' })
  })

  test('idle connections do not keep the process alive, even without close()', async () => {
    const server = await httpServer(
      (response) => void response.writeHead(200, { 'keep-alive': 'timeout=600' }).end('{}'),
    )
    const script = `
      import { IngestClient } from '${client}'
      const client = new IngestClient({ url: '${server.origin}/api/v1', apiKey: 'k' })
      await client.heartbeat('tok')
      console.log('sent')`
    expect(await run(script)).toEqual({ code: 0, out: 'sent\n' })
  })
})
