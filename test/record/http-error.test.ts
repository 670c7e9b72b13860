/**
 * Errors of HTTP clients: their request and response are not sent. `http-errors.ndjson` has them as pino wrote them,
 * by `logger.error(error)` and by `logger.error({ failure: error })`, created by the libraries themselves with a
 * local server.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject, LogEntry } from '../../src/protocol/log-entry.js'
import { Mapper } from '../../src/record/mapper.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { RECEIVED_AT, createMappingOptions } from './record-lines.js'
import { mapLine } from './map-line.js'

interface Recorded {
  readonly name: string
  readonly version: string
  readonly line: string
  readonly failure?: string
}

const recorded: readonly Recorded[] = readFileSync(new URL('../fixtures/http-errors.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)

/** Bodies, headers, cookies, keys, passwords and a URL parameter, and the internals of agents, sockets and streams. */
const SECRET = /4242424242424242|cvv-123|sk_live_1|ck-1|hdr-secret|pw-secret|aws-secret|tok-1|reply-secret/
const INTERNAL = /_events|_readableState|freeSockets|keepAlive|"(?:headers?|config|options|response|request)":[{["]/
const PAY = 'http://127.0.0.1:4320/pay?token=[scrubbed]&page=2'
const DOWN = 'http://127.0.0.1:4321/pay?token=[scrubbed]&page=2'

const KEPT: Record<string, JsonObject> = {
  'axios status': { code: 'ERR_BAD_REQUEST', status: 402, method: 'post', url: PAY },
  'axios network': { code: 'ECONNREFUSED', method: 'post', url: DOWN },
  'got status': { code: 'ERR_NON_2XX_3XX_RESPONSE', method: 'POST', url: PAY },
  'got network': { code: 'ECONNREFUSED', method: 'POST', url: DOWN },
  'superagent status': { status: 402, method: 'POST', url: PAY },
  'node-fetch network': { code: 'ECONNREFUSED', errno: 'ECONNREFUSED' },
  'node-fetch in an error of the application': { method: 'POST', url: PAY },
  'fetch network': {},
  'ky status': { method: 'POST' },
  'gaxios status': { code: 'card_declined', status: 402, method: 'POST' },
  'gaxios network': { code: 'ECONNREFUSED', method: 'POST' },
  'undici status': { code: 'UND_ERR_RESPONSE', statusCode: 402 },
  'undici retry': { code: 'UND_ERR_REQ_RETRY', statusCode: 402 },
  'aws v3 status': {
    $fault: 'client',
    $metadata: { httpStatusCode: 403, requestId: 'REQ1', attempts: 1, totalRetryDelay: 0 },
    Code: 'AccessDenied',
  },
  'aws v3 network': { code: 'ECONNREFUSED', errno: -111, syscall: 'connect', address: '127.0.0.1', port: 4321 },
  'stripe status': { code: 'card_declined', statusCode: 402, requestId: 'req_1' },
  'openai status': { code: 'card_declined', status: 402 },
  'body-parser': { status: 400, statusCode: 400, expose: true },
}

const options = createMappingOptions({ redactor: new Redactor({ patterns: [], keys: ['token'] }) })

/** Maps a line on both paths, which must agree. */
function jsonOf(line: string): string {
  const json = mapLine(new Mapper(options, -1, () => 0), line).json
  expect(JSON.parse(json)).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
  return json
}

function entryOf(members: object): LogEntry {
  return JSON.parse(jsonOf(JSON.stringify({ level: 50, time: 1795219732486, ...members, msg: 'm' }))) as LogEntry
}

function errorOf(properties: object): { kept: Json | undefined; omitted: unknown } {
  const { metadata = {} } = entryOf({ err: { type: 'Error', message: 'm', stack: 'Error: m', ...properties } })
  return {
    kept: metadata['error'],
    omitted: (metadata['pino_ingest'] as JsonObject | undefined)?.['omitted_http_members'],
  }
}

describe('as the libraries create them', () => {
  test('each recorded error has a row', () => {
    expect(recorded.map(({ name }) => name).toSorted()).toEqual(Object.keys(KEPT).toSorted())
  })

  test.each(recorded.map((one) => [one.name, one] as const))('%s', (name, { line }) => {
    const json = jsonOf(line)
    expect(json).not.toMatch(SECRET)
    const { error, metadata = {}, request } = JSON.parse(json) as LogEntry
    expect(JSON.stringify({ ...metadata, pino_ingest: undefined })).not.toMatch(INTERNAL)
    expect(metadata['error'] ?? {}).toMatchObject(KEPT[name] as JsonObject)
    // Message and stack are complete, and the request is not mistaken for one that the application handles.
    expect(error).toMatchObject({
      message: expect.any(String) as string,
      stack: expect.stringMatching(/^\w*Error|^AccessDenied/) as string,
    })
    expect(request).toBeUndefined()
    if (SECRET.test(line.replaceAll('tok-1', '')))
      expect((metadata['pino_ingest'] as JsonObject)['omitted_http_members']).toBeGreaterThan(0)
    expect(json.length).toBeLessThan(3_000)
  })

  const failures = recorded.flatMap(({ name, failure }) => (failure === undefined ? [] : [[name, failure] as const]))
  // Under `error` pino writes it by default without type, message and stack.
  test.each([
    ...failures.map(([name, line]) => [name, 'another key', line] as const),
    ...failures.map(([name, line]) => [name, '`error`', line.replace('"failure":', '"error":')] as const),
  ])('%s, under %s', (_, __, line) => {
    const json = jsonOf(line)
    expect(json).not.toMatch(SECRET)
    expect(json).not.toMatch(INTERNAL)
  })
})

describe('by shape', () => {
  const config = { url: 'https://api.test/pay', method: 'post', data: 'secret', headers: { 'x-internal': 'secret' } }

  test.each<[string, object, object, number]>([
    [
      'a config with a relative URL',
      { config: { baseURL: 'https://api.test/v1/', url: '/pay', data: 'secret' } },
      { url: 'https://api.test/v1/pay' },
      1,
    ],
    [
      'a request of node:http',
      { request: { method: 'GET', protocol: 'https:', host: 'api.test', path: '/x', _header: 'secret' } },
      { method: 'GET', url: 'https://api.test/x' },
      1,
    ],
    [
      'a response that carries its request',
      {
        response: { statusCode: 500, body: 'secret', request: { method: 'PUT', uri: { href: 'https://api.test/x' } } },
      },
      { status: 500, method: 'PUT', url: 'https://api.test/x' },
      1,
    ],
    ['a status and a body', { statusCode: 404, body: { a: 'secret' } }, { statusCode: 404 }, 1],
    ['a body as the error', { name: 'StatusCodeError', statusCode: 404, error: 'secret' }, { statusCode: 404 }, 1],
    [
      'what the HTTP parser read',
      { code: 'HPE_INVALID_METHOD', rawPacket: { type: 'Buffer', data: [115, 101] } },
      { code: 'HPE_INVALID_METHOD' },
      1,
    ],
    [
      'sockets and agents',
      { code: 'UND_ERR_SOCKET', socket: { remoteAddress: 'secret' }, agent: { secret: 1 } },
      { code: 'UND_ERR_SOCKET' },
      2,
    ],
    [
      'headers alone',
      { status: 429, headers: { 'retry-after': 'secret' }, error: { message: 'secret' } },
      { status: 429 },
      2,
    ],
    [
      'a reply deeper inside',
      {
        name: 'ResponseError',
        meta: { statusCode: 400, headers: {}, body: 'secret', meta: { request: { params: { body: 'secret' } } } },
      },
      { status: 400 },
      1,
    ],
    [
      'a reply in extensions',
      { extensions: { code: 'X', response: { url: 'https://api.test/x', status: 401, body: 'secret' } } },
      { extensions: { code: 'X', url: 'https://api.test/x', status: 401 } },
      1,
    ],
    [
      'replies in a list',
      { tries: [{ status: 503, headers: { a: 'secret' }, body: 'secret' }, 2] },
      { tries: ['[omitted]', 2], status: 503 },
      1,
    ],
    [
      'its own URL and status win',
      { config, url: 'https://own.test', status: 418 },
      { url: 'https://own.test', status: 418, method: 'post' },
      1,
    ],
  ])('%s', (_, properties, kept, omitted) => {
    expect(errorOf(properties)).toEqual({ kept, omitted })
  })

  test('in causes, aggregated errors, and nested errors', () => {
    const inner = {
      type: 'AxiosError',
      message: 'i',
      stack: 'AxiosError: i\n    at f (/app/a.js:1:2)',
      config,
      response: { status: 500, data: 'secret' },
    }
    const facts = { method: 'post', url: 'https://api.test/pay', status: 500 }
    const named = { type: 'AxiosError', message: 'i' }
    expect(errorOf({ cause: inner, aggregateErrors: [inner], original: { retry: inner } })).toEqual({
      kept: {
        cause: { ...named, ...facts },
        aggregateErrors: [{ ...named, ...facts }],
        original: { retry: { ...named, stack: inner.stack, ...facts } },
      },
      omitted: 6,
    })
  })

  test('an error anywhere in a record', () => {
    const inner = { message: 'i', stack: 'Error: i', config }
    const { metadata } = entryOf({
      job: { id: 1, failed: [inner] },
      list: [inner],
      err: { type: 'E', message: 'e', stack: 'E: e' },
    })
    const kept = { message: 'i', stack: 'Error: i', method: 'post', url: 'https://api.test/pay' }
    expect(metadata).toEqual({ pino_ingest: { omitted_http_members: 2 }, job: { id: 1, failed: [kept] }, list: [kept] })
  })

  test('in the record itself, as other loggers write it', () => {
    const { metadata, error } = entryOf({
      stack: 'AxiosError: m\n    at f (/app/a.js:1:2)',
      isAxiosError: true,
      config,
      response: { status: 402, data: 'secret' },
    })
    expect(error).toMatchObject({ stack: expect.stringContaining('AxiosError') as string })
    expect(metadata).toMatchObject({ isAxiosError: true, method: 'post', url: 'https://api.test/pay', status: 402 })
    expect(JSON.stringify(metadata)).not.toContain('secret')
  })
})

describe("keeps an application's own data", () => {
  test.each<[string, object]>([
    ['data', { data: { orderId: 7 } }],
    ['a response in words', { response: 'declined' }],
    ['options of another kind', { options: { retries: 3, path: '/tmp/a.csv', json: true } }],
    ['a configuration', { config: { url: 'postgres://db/shop', pool: 4 } }],
    [
      'what a framework answers',
      { status: 400, options: {}, response: { statusCode: 400, message: ['name is missing'], error: 'Bad Request' } },
    ],
    [
      'what boom answers',
      { isBoom: true, data: { orderId: 7 }, output: { statusCode: 400, payload: { message: 'no' } } },
    ],
    ['the head of a table', { headers: ['id', 'name'], text: 'a;b', result: 5 }],
  ])('%s', (_, properties) => {
    expect(errorOf(properties)).toEqual({ kept: properties, omitted: undefined })
  })

  test.each<[string, object]>([
    ['a request that is not an error', { job: { options: { method: 'POST', url: '/x', body: 'b' }, id: 7 } }],
    ['headers', { table: { headers: { accept: '*/*' }, rows: 2 } }],
    ['data under `error`', { error: { status: 422, url: '/orders', data: { a: 1 }, result: { b: 2 } } }],
  ])('%s', (_, members) => {
    expect(entryOf(members).metadata).toEqual(members)
  })

  test('the request that the application handles', () => {
    const { request, metadata } = entryOf({
      req: { id: 1, method: 'GET', url: '/orders', headers: {} },
      res: { statusCode: 500 },
      err: { type: 'E', message: 'e', stack: 'E: e', config: { url: '/pay', method: 'post', data: 'secret' } },
    })
    expect(request).toMatchObject({ method: 'GET', url: '/orders', status_code: 500 })
    expect(metadata).toEqual({ pino_ingest: { omitted_http_members: 1 }, error: { method: 'post', url: '/pay' } })
  })
})
