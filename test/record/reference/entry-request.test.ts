/** Requests as pino-http, Fastify and the entry itself write them; and what of them is never sent. */
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { Mapper } from '../../../src/record/mapper.js'
import { mapByParsing } from '../../../src/record/reference/reference-path.js'
import { RECEIVED_AT, corpus, createMappingOptions } from '../record-lines.js'

function entryOf(members: object): LogEntry {
  return entryOfLine(JSON.stringify({ level: 30, time: 1795219732486, ...members, msg: 'm' }))
}

function entryOfLine(line: string): LogEntry {
  const options = createMappingOptions()
  const entry = JSON.parse(new Mapper(options, -1, () => 0).map(line, 0, line.length).json) as LogEntry
  expect(entry).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
  return entry
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

  test('values of another type stay', () => {
    expect(entryOf({ req: { method: 5, url: { a: 1 }, remoteAddress: null }, res: { statusCode: 'x' } })).toMatchObject(
      {
        metadata: { req: { method: 5, url: { a: 1 }, remoteAddress: null }, res: { statusCode: 'x' } },
      },
    )
    expect(entryOf({ req: 'GET /', res: 5 }).metadata).toEqual({ req: 'GET /', res: 5 })
    expect(entryOf({ res: { statusCode: 200.5 } }).request).toBeUndefined()
    expect(entryOf({ res: { statusCode: '404' } }).request).toEqual({ status_code: 404 })
  })

  test('of a field that comes twice the last counts, and the entry has it once', () => {
    const line =
      '{"level":30,"time":1,"req":{"method":"A","url":"/a","remoteAddress":"1","method":"B","remoteAddress":"2"},"res":{"statusCode":1,"statusCode":2},"msg":"m"}'
    expect(entryOfLine(line).request).toEqual({ method: 'B', url: '/a', path: '/a', ip: '2', status_code: 2 })
    const json = new Mapper(createMappingOptions(), -1, () => 0).map(line, 0, line.length).json
    expect(json.match(/"(?:method|ip|status_code)":/g)).toHaveLength(3)
  })

  test("another id than the request's stays where it was", () => {
    expect(entryOf({ reqId: 'a', req: { id: 'b', method: 'GET' } })).toMatchObject({
      request_id: 'a',
      metadata: { req: { id: 'b' } },
    })
    expect(entryOf({ reqId: 1, req: { id: 1, method: 'GET' } }).metadata).toBeUndefined()
  })

  test.each(['req', 'res', 'request', 'response'])('headers and bodies of %s are not sent', (key) => {
    const part = {
      method: 'GET',
      headers: { authorization: 'Bearer SECRET', cookie: 'SECRET' },
      rawHeaders: ['SECRET'],
      body: { password: 'SECRET' },
      rawBody: 'SECRET',
      trailers: { a: 'SECRET' },
    }
    expect(JSON.stringify(entryOf({ [key]: part }))).not.toContain('SECRET')
    // Also where another of them is the one that is mapped.
    expect(JSON.stringify(entryOf({ req: { method: 'POST' }, res: { statusCode: 200 }, [key]: part }))).not.toContain(
      'SECRET',
    )
    expect(
      JSON.stringify(entryOf({ req: { method: 'POST' }, request: part, res: { statusCode: 200 }, response: part })),
    ).not.toContain('SECRET')
  })
})
