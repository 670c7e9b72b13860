/** Requests as written by pino-http, Fastify and the entry's own form, and the parts that are never sent. */
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { RequestKeys } from '../../../src/options/settings.js'
import { corpus } from '../record-lines.js'
import { entryWith, jsonWith } from '../map-line.js'

function entryOf(members: object, requestKeys?: RequestKeys): LogEntry {
  return entryOfLine(JSON.stringify({ level: 30, time: 1795219732486, ...members, msg: 'm' }), requestKeys)
}

function entryOfLine(line: string, requestKeys?: RequestKeys): LogEntry {
  return entryWith(line, requestKeys && { requestKeys })
}

describe('request', () => {
  test('pino-http', () => {
    const raw = corpus.find(({ label }) => label.startsWith('pino-http success'))?.raw as string
    expect(entryOfLine(raw)).toMatchObject({
      request_id: '1',
      metadata: { req: { remotePort: 47958 } },
      request: {
        method: 'GET',
        url: '/ok?x=1',
        path: '/ok',
        status_code: 200,
        duration_ms: 3,
        ip: '127.0.0.1',
        user_agent: 'test/1',
      },
    })
  })

  test('Fastify', () => {
    expect(
      entryOf({
        reqId: 'req-1',
        req: { method: 'GET', url: '/ok/7?a=b', host: 'h:1', remoteAddress: '::1', remotePort: 1 },
      }),
    ).toMatchObject({
      request_id: 'req-1',
      request: { method: 'GET', url: '/ok/7?a=b', path: '/ok/7', ip: '::1' },
      metadata: { req: { host: 'h:1', remotePort: 1 } },
    })
    expect(entryOf({ reqId: 'req-1', res: { statusCode: 500 }, responseTime: 1.89 })).toMatchObject({
      request_id: 'req-1',
      request: { status_code: 500, duration_ms: 1.89 },
    })
  })

  test("the entry's own form", () => {
    const request = {
      method: 'GET',
      url: 'https://h/p?q',
      path: '/p',
      status_code: 200,
      duration_ms: 1.5,
      ip: '::1',
      user_agent: 'u',
    }
    const entry = entryOf({ request })
    expect(entry.request).toEqual(request)
    expect(entry.metadata).toBeUndefined()
  })

  test.each([
    ['/a/b?c#d', '/a/b'],
    ['https://h:1/p/q?x', '/p/q'],
    ['http://h', '/'],
    ['http://h?x', '/'],
    ['*', '*'],
    ['/?', '/'],
    ['?x', undefined],
    ['', undefined],
    ['/a\\u003fb', '/a'],
    ['//x/y', '//x/y'],
  ])('the path of %s is %s', (url, path) => {
    const request = entryOfLine(`{"level":30,"time":1,"req":{"method":"GET","url":"${url}"},"msg":"m"}`).request
    if (path === undefined) expect(request?.path === undefined || request.path === '/').toBe(true)
    else expect(request?.path).toBe(path)
  })

  test('keeps values of another type', () => {
    expect(entryOf({ req: { method: 5, url: { a: 1 }, remoteAddress: null }, res: { statusCode: 'x' } })).toMatchObject(
      {
        metadata: { req: { method: 5, url: { a: 1 }, remoteAddress: null }, res: { statusCode: 'x' } },
      },
    )
    expect(entryOf({ req: 'GET /', res: 5 }).metadata).toEqual({ req: 'GET /', res: 5 })
    expect(entryOf({ res: { statusCode: 200.5 } }).request).toBeUndefined()
    expect(entryOf({ res: { statusCode: '404' } }).request).toEqual({ status_code: 404 })
  })

  test('the last of duplicate fields wins, and the entry has it once', () => {
    const line =
      '{"level":30,"time":1,"req":{"method":"A","url":"/a","remoteAddress":"1","method":"B","remoteAddress":"2"},"res":{"statusCode":1,"statusCode":2},"msg":"m"}'
    expect(entryOfLine(line).request).toEqual({ method: 'B', url: '/a', path: '/a', ip: '2', status_code: 2 })
    const json = jsonWith(line)
    expect(json.match(/"(?:method|ip|status_code)":/g)).toHaveLength(3)
  })

  test.each([
    ['get', 'GET'],
    ['Post', 'POST'],
    ['m-search', 'M-SEARCH'],
    ['getUser', 'getUser'],
    ['poke', 'poke'],
  ])('the method %s is %s', (logged, method) => {
    expect(entryOf({ req: { method: logged, url: '/' } }).request?.method).toBe(method)
    expect(entryOf({ request: { method: logged, url: '/' } }).request?.method).toBe(method)
  })

  test('hapi-pino', () => {
    const entry = entryOf({
      req: {
        id: '1795376454030:vm:10278:mws8s9xm:10000',
        method: 'get',
        url: '/x/7',
        query: { a: 'b' },
        headers: { host: 'h', 'user-agent': 'node' },
        remoteAddress: '127.0.0.1',
        remotePort: 50908,
      },
      tags: ['api'],
      pathParams: { id: '7' },
      res: { statusCode: 200, headers: {} },
      responseTime: 8,
    })
    expect(entry).toMatchObject({
      request_id: '1795376454030:vm:10278:mws8s9xm:10000',
      tags: ['api'],
      request: {
        method: 'GET',
        url: '/x/7',
        path: '/x/7',
        status_code: 200,
        duration_ms: 8,
        ip: '127.0.0.1',
        user_agent: 'node',
      },
      metadata: { req: { query: { a: 'b' }, remotePort: 50908 }, pathParams: { id: '7' } },
    })
    expect(entry.metadata).not.toHaveProperty('res')
  })

  test("hono-pino writes the response's `status`", () => {
    const entry = entryOf({ req: { url: '/x', method: 'GET' }, res: { status: 503, headers: {} }, reqId: 3 })
    expect(entry).toMatchObject({ request: { path: '/x', status_code: 503 }, request_id: '3' })
    expect(entry.metadata).toBeUndefined()
    expect(entryOf({ res: { statusCode: 200, status: 201 } })).toMatchObject({
      request: { status_code: 200 },
      metadata: { res: { status: 201 } },
    })
    for (const status of ['ok', '200', 2, 2000, null, true])
      expect(entryOf({ res: { status } })).toMatchObject({ metadata: { res: { status } } })
  })

  const KEYS = { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' }

  test('reads configured names first, then the usual ones', () => {
    const q = {
      method: 'GET',
      url: '/x?a=b',
      remotePort: 1,
      headers: { cookie: 'SECRET', 'user-agent': 'node' },
    }
    const s = { statusCode: 200, headers: { 'set-cookie': 'SECRET' } }
    const entry = entryOf({ rid: 1, q, s, took: 5 }, KEYS)
    expect(entry).toMatchObject({
      request_id: '1',
      request: { method: 'GET', path: '/x', status_code: 200, duration_ms: 5, user_agent: 'node' },
      metadata: { q: { remotePort: 1 } },
    })
    expect(Object.keys(entry.metadata ?? {})).toEqual(['q'])
    expect(entryOf({ reqId: 2, req: { method: 'PUT', url: '/y' }, responseTime: 3 }, KEYS)).toMatchObject({
      request_id: '2',
      request: { method: 'PUT', path: '/y', duration_ms: 3 },
    })
    expect(entryOf({ took: 4 }, KEYS).perf).toEqual({ duration_ms: 4 })
    expect(entryOf({ q: 'text', s: 7, took: 'long', rid: { a: 1 } }, KEYS).metadata).toEqual({
      q: 'text',
      s: 7,
      took: 'long',
      rid: { a: 1 },
    })
  })

  test('supports names that are also fields', () => {
    expect(
      entryOf(
        { request: { method: 'GET', url: '/' }, user: { statusCode: 204 }, duration_ms: 2, action: 'r-1' },
        { req: 'request', res: 'user', responseTime: 'duration_ms', reqId: 'action' },
      ),
    ).toMatchObject({ request_id: 'r-1', request: { path: '/', status_code: 204, duration_ms: 2 } })
  })

  test.each(['req_id', 'x-request-id', 'correlationId', 'correlation_id', 'x-correlation-id'])(
    'uses %s as the id of a request without its own',
    (key) => {
      expect(entryOf({ [key]: 'c-1' })).toMatchObject({ request_id: 'c-1' })
      expect(entryOf({ [key]: 17 })).toMatchObject({ request_id: '17' })
      expect(entryOf({ [key]: 'c-1', reqId: 'c-1', requestId: 'c-1' }).metadata).toBeUndefined()
      for (const record of [
        { [key]: 'c-1', reqId: 'req-1' },
        { reqId: 'req-1', [key]: 'c-1' },
      ])
        expect(entryOf(record)).toMatchObject({ request_id: 'req-1', metadata: { [key]: 'c-1' } })
      expect(entryOf({ [key]: 'c-1', req: { id: 7, method: 'GET' } })).toMatchObject({
        request_id: '7',
        metadata: { [key]: 'c-1' },
      })
      const req = { method: 'GET', headers: { 'x-request-id': 'h-1' } }
      expect(entryOf({ [key]: 'c-1', req })).toMatchObject({ request_id: 'h-1', metadata: { [key]: 'c-1' } })
      expect(entryOf({ [key]: '' })).not.toHaveProperty('request_id')
      expect(entryOf({ [key]: '', request_id: '', reqId: 'r' })).toMatchObject({ request_id: 'r' })
      expect(entryOf({ [key]: { a: 1 } })).toMatchObject({ metadata: { [key]: { a: 1 } } })
    },
  )

  test('uses the header x-request-id as the last choice', () => {
    const req = { method: 'GET', headers: { 'x-request-id': 'e80fdbef-2b8f', cookie: 'SECRET' } }
    const entry = entryOf({ req })
    expect(entry.request_id).toBe('e80fdbef-2b8f')
    expect(entry.metadata).toBeUndefined()
    expect(entryOf({ req, reqId: 1 })).toMatchObject({ request_id: '1' })
    expect(entryOf({ req: { ...req, id: 7 } })).toMatchObject({ request_id: '7' })
    for (const id of ['', 'token=SECRET', 'a b', 'é', 7, ['a'], 'x'.repeat(201)])
      expect(entryOf({ req: { ...req, headers: { 'x-request-id': id } } })).not.toHaveProperty('request_id')
  })

  test("keeps an id that differs from the request's", () => {
    expect(entryOf({ reqId: 'a', req: { id: 'b', method: 'GET' } })).toMatchObject({
      request_id: 'a',
      metadata: { req: { id: 'b' } },
    })
    expect(entryOf({ reqId: 1, req: { id: 1, method: 'GET' } }).metadata).toBeUndefined()
  })

  test.each(['req', 'res', 'request', 'response'])('does not send headers and bodies of %s', (key) => {
    const part = {
      method: 'GET',
      headers: { authorization: 'Bearer SECRET', cookie: 'SECRET' },
      rawHeaders: ['SECRET'],
      body: { password: 'SECRET' },
      rawBody: 'SECRET',
      trailers: { a: 'SECRET' },
      payload: { a: 'SECRET' },
    }
    expect(JSON.stringify(entryOf({ [key]: part }))).not.toContain('SECRET')
    // Even if another one of them is mapped.
    expect(JSON.stringify(entryOf({ req: { method: 'POST' }, res: { statusCode: 200 }, [key]: part }))).not.toContain(
      'SECRET',
    )
    expect(
      JSON.stringify(entryOf({ req: { method: 'POST' }, request: part, res: { statusCode: 200 }, response: part })),
    ).not.toContain('SECRET')
  })
})
