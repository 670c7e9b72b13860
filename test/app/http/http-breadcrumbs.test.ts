/** Real requests on loopback add breadcrumbs to the scope that sent them, without URL parameters or credentials. */
import { once } from 'node:events'
import { createServer, get, request } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Agent, request as undiciRequest } from 'undici'
import { toUndiciUrl } from '../../../src/app/http/request-breadcrumb.js'
import { httpBreadcrumbs } from '../../../src/app/http/http-breadcrumbs.js'
import { takeBreadcrumbs } from '../../../src/app/scope/scope-breadcrumbs.js'
import { withScope } from '../../../src/app/scope/scope.js'
import { findHistory } from '../../../src/app/scope/app-state.js'
import { createHttp } from '../../../src/client/http.js'
import { ApiKey } from '../../../src/options/api-key.js'
import type { Breadcrumb } from '../../../src/protocol/log-entry.js'

let server: Server
let base = ''
let closed = ''
let stop = (): void => {}
const agent = new Agent()

beforeAll(async () => {
  server = createServer((req, res) => {
    if (req.url === '/hang') return
    if (req.url === '/gone') {
      res.writeHead(302, { location: '/status/200' }).end()
      return
    }
    if (req.url?.startsWith('/status/404') === true) res.writeEarlyHints({ link: '</a.css>; rel=preload' })
    res.statusCode = Number(/\/status\/(\d+)/.exec(req.url ?? '')?.[1] ?? 200)
    setImmediate(() => res.end('answer'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const unused = createServer()
  await once(unused.listen(0, '127.0.0.1'), 'listening')
  closed = `http://127.0.0.1:${(unused.address() as AddressInfo).port}`
  unused.close()
  await once(unused, 'close')
})

afterAll(async () => {
  await agent.close()
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  stop = httpBreadcrumbs()
})

afterEach(() => {
  stop()
  takeBreadcrumbs(findHistory())
})

const left = (): Breadcrumb[] => takeBreadcrumbs(findHistory())

const ways: readonly [string, (url: string, method?: string) => Promise<unknown>][] = [
  ['fetch', async (url, method = 'GET') => (await fetch(url, { method })).text()],
  [
    'undici',
    async (url, method = 'GET') =>
      (await undiciRequest(url, { method: method as 'GET', dispatcher: agent })).body.text(),
  ],
  [
    'node:http',
    async (url, method = 'GET') => {
      const sent = request(url, { method, headers: { accept: '*/*' } }).end()
      const [reply] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
      reply.resume()
      await once(reply, 'end')
    },
  ],
]

describe.each(ways)('%s', (_, send) => {
  test.each([
    [200, 'info'],
    [404, 'warn'],
    [503, 'error'],
  ] as const)('a reply with status %i', async (status, level) => {
    await withScope({}, async () => {
      await send(`${base}/status/${status}?token=secret`, 'POST')
      expect(left()).toEqual([
        {
          type: 'http',
          category: 'http.client',
          level,
          message: `POST ${base}/status/${status} ${status}`,
          timestamp: expect.stringMatching(/Z$/) as string,
          data: {
            method: 'POST',
            url: `${base}/status/${status}`,
            status_code: status,
            duration_ms: expect.any(Number) as number,
          },
        },
      ])
    })
  })

  test('no reply', async () => {
    await withScope({}, async () => {
      await expect(send(`${closed}/a?token=secret`)).rejects.toThrow()
      expect(left()).toMatchObject([
        {
          level: 'error',
          message: `GET ${closed}/a ECONNREFUSED`,
          data: { method: 'GET', url: `${closed}/a`, error: 'ECONNREFUSED' },
        },
      ])
    })
  })

  test('requests over shared connections keep their own scope', async () => {
    const found = await Promise.all(
      Array.from({ length: 20 }, (_unused, n) =>
        withScope({ request_id: n }, async () => {
          for (const part of [0, 1, 2]) await send(`${base}/${n}/${part}`)
          return left().map(({ data }) => data?.['url'])
        }),
      ),
    )
    expect(found).toEqual(Array.from({ length: 20 }, (_unused, n) => [0, 1, 2].map((part) => `${base}/${n}/${part}`)))
    expect(left()).toEqual([])
  })
})

test('a redirect adds a breadcrumb of its own, an aborted request one at level error', async () => {
  await withScope({}, async () => {
    await (await fetch(`${base}/gone`)).text()
    expect(left().map(({ message }) => message)).toEqual([`GET ${base}/gone 302`, `GET ${base}/status/200 200`])
    const arrived = once(server, 'request')
    const ended = new AbortController()
    const hanging = fetch(`${base}/hang`, { signal: ended.signal })
    await arrived
    ended.abort()
    await expect(hanging).rejects.toThrow()
    expect(left()).toMatchObject([{ level: 'error', message: `GET ${base}/hang AbortError` }])
  })
})

test("this package's own requests add no breadcrumb", async () => {
  const http = createHttp({ url: base, apiKey: new ApiKey('k'), requestTimeoutMs: 10_000, maxConnections: 1 })
  await withScope({}, async () => {
    expect((await http.post('/ingest', '{}')).status).toBe(200)
    await http.close()
    await (await fetch(`${base}/after`)).text()
    expect(left()).toMatchObject([{ message: `GET ${base}/after 200` }])
  })
})

test('adds one breadcrumb per request when started by both builds, and none after both are stopped', async () => {
  vi.resetModules()
  const other = await import('../../../src/app/http/http-breadcrumbs.js')
  expect(other.httpBreadcrumbs).not.toBe(httpBreadcrumbs)
  const stopOther = other.httpBreadcrumbs()
  const sendOne = async (): Promise<number> =>
    withScope({}, async () => {
      await new Promise((resolve) => get(base, (reply) => reply.resume().on('end', resolve)))
      return left().length
    })
  expect(await sendOne()).toBe(1)
  stop()
  stop()
  expect(await sendOne()).toBe(1)
  stopOther()
  expect(await sendOne()).toBe(0)
  stop = httpBreadcrumbs()
  expect(await sendOne()).toBe(1)
})

describe('possible credentials are left out', () => {
  test.each([
    [{ origin: 'https://user:pw@api.example.com:8443', path: '/a/b?key=1#f' }, 'https://api.example.com:8443/a/b'],
    [{ origin: new URL('https://api.example.com'), path: '//x/y' }, 'https://api.example.com//x/y'],
    [{ origin: 'http://proxy:3128', path: 'http://u:p@target/a?b' }, 'http://target/a'],
    [{ path: '/a' }, undefined],
    [{ origin: 'nonsense', path: '' }, undefined],
  ])('%j', (sent, url) => expect(toUndiciUrl(sent)).toBe(url))
})
