/** Errors as data, in the shape of pino's own serializer, including errors on which that serializer fails. */
import { once } from 'node:events'
import { Agent as HttpAgent, createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import pino from 'pino'
import { serializeError } from '../../src/record/error-serializer.js'
import { ingestOptions } from '../../src/app/logger/ingest-options.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { RECEIVED_AT, createMappingOptions } from './record-lines.js'

const { stdSerializers } = pino

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown
}

class OrderError extends Error {
  readonly code = 'E_ORDER'
  readonly order = { id: 7 }
}

describe('errors that pino can serialize', () => {
  test.each<[string, Error]>([
    ['an error', new TypeError('t')],
    ['of a class', new OrderError('o')],
    ['with causes', new Error('a', { cause: new OrderError('b', { cause: new TypeError('c') }) })],
    ['of several', new AggregateError([new TypeError('a'), new OrderError('b')], 'all')],
    [
      'with errors among its properties',
      Object.assign(new Error('x'), { inner: new TypeError('i'), list: [1], nil: null }),
    ],
    ["without a prototype's name", Object.assign(Object.create(Error.prototype) as Error, { message: 'bare' })],
    ['of another realm', runInNewContext('Object.assign(new RangeError("far"), { code: "E_FAR" })') as Error],
  ])('%s gives the same result', (_, error) => {
    expect(json(serializeError(error))).toEqual(json(stdSerializers.errWithCause(error)))
  })

  test.each([undefined, null, 'text', 5, { message: 'm' }, [new Error('x')]])(
    'does not change %j, which is not an error',
    (value) => {
      expect(serializeError(value)).toBe(value)
    },
  )
})

describe('errors that pino cannot serialize', () => {
  test('frozen errors, circular causes, and getters that throw', () => {
    expect(json(serializeError(Object.freeze(new OrderError('o'))))).toMatchObject({
      type: 'OrderError',
      message: 'o',
      code: 'E_ORDER',
    })
    const [a, b] = [new Error('a'), new TypeError('b')]
    a.cause = b
    b.cause = a
    expect(json(serializeError(a))).toMatchObject({
      message: 'a',
      cause: { type: 'TypeError', message: 'b', cause: { type: 'Error', message: 'a' } },
    })
    const get = (): never => {
      throw new Error('no')
    }
    const members = ['stack', 'cause', 'errors', 'name'].map((name) => [name, { get }] as const)
    const hostile = Object.defineProperties(new Error('h'), Object.fromEntries(members))
    expect(json(serializeError(hostile))).toEqual({
      type: 'Error',
      message: 'h',
      stack: '[unreadable]',
      errors: '[unreadable]',
      cause: '[unreadable]',
    })
  })

  test('causes that are not errors, and causes returned by a function', () => {
    expect(json(serializeError(new Error('x', { cause: { code: 5 } })))).toMatchObject({ cause: { code: 5 } })
    expect(json(serializeError(new Error('x', { cause: 'why' })))).toMatchObject({ cause: 'why' })
    const verror = Object.assign(new Error('x'), { cause: () => new TypeError('asked') })
    expect(json(serializeError(verror))).toMatchObject({ cause: { type: 'TypeError', message: 'asked' } })
  })

  test('ignores a toJSON of the error, and converts other messages to text', () => {
    const error = Object.assign(new Error('axios'), { toJSON: () => ({ nothing: true }), code: 'E' })
    expect(json(serializeError(error))).toMatchObject({
      message: 'axios',
      code: 'E',
      stack: expect.stringContaining('axios') as string,
    })
    expect(json(serializeError(Object.assign(new Error(), { message: { a: 1 } })))).toMatchObject({
      message: '[object Object]',
    })
  })

  test('limits a graph of errors', () => {
    const web = Array.from({ length: 300 }, (_, index) => new Error(`e${index}`))
    for (const [index, error] of web.entries())
      Object.assign(error, { all: undefined, next: web[index + 1], first: web[0] }, { errors: web })
    expect(JSON.stringify(serializeError(web[0])).length).toBeLessThan(100 * 100_000)
    const chain = Array.from({ length: 5_000 }, (_, index) => index).reduce(
      (cause: Error | undefined, n) => new Error(String(n), { cause }),
      undefined,
    )
    expect(json(serializeError(chain))).toMatchObject({ message: '4999' })
  })
})

test('serializes an error with any properties, without changing it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything({ maxDepth: 2 })), fc.string(), (properties, message) => {
      const error = Object.freeze(Object.assign(new Error(message), properties))
      const plain = serializeError(error) as Record<string, unknown>
      // A property `__proto__` changes the prototype, so the type is not always `Error`.
      expect(plain['type']).toBeTypeOf('string')
      expect(plain['message']).toBeTypeOf('string')
    }),
  )
})

describe('errors of HTTP clients', () => {
  const BODY = { card: '4242424242424242', cvv: 'cvv-123' }
  const HEADERS = { authorization: 'Bearer sk_live_1', 'x-internal': 'hdr-secret' }
  const SECRET = /4242424242424242|cvv-123|sk_live_1|hdr-secret|reply-secret|ck-1|_events|_readableState/

  async function declining(): Promise<string> {
    const server = createServer((incoming, response) => {
      incoming
        .resume()
        .on('end', () =>
          response
            .writeHead(402, { 'content-type': 'application/json', 'set-cookie': 'sid=ck-1' })
            .end('{"ref":"reply-secret"}'),
        )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay`
  }

  /** The line that pino writes, and the error in its entry. */
  function logged(error: object, key = 'err'): { line: string; kept: unknown; note: unknown } {
    let line = ''
    pino(ingestOptions({ base: null, transport: false }), { write: (text) => void (line += text) }).error(
      { [key]: error },
      'm',
    )
    const entry = JSON.parse(mapByParsing(line, createMappingOptions(), RECEIVED_AT).json) as LogEntry
    return { line, kept: entry.metadata?.['error'], note: entry.metadata?.['pino_ingest'] }
  }

  test('of fetch, with request and response added by the application', async () => {
    const url = await declining()
    const sent = new Request(url, { method: 'POST', headers: HEADERS, body: JSON.stringify(BODY) })
    const response = await fetch(sent.clone())
    const { line, kept } = logged(Object.assign(new Error('declined'), { request: sent, response, json: BODY }))
    expect(line).not.toMatch(SECRET)
    expect(kept).toEqual({ method: 'POST', url, status: 402 })
  })

  test('of node:http, with agent, socket and streams, at little cost', async () => {
    const url = await declining()
    const agent = new HttpAgent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const sent = httpRequest(url, { method: 'POST', headers: HEADERS, agent }).end(JSON.stringify(BODY))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    const config = { url, method: 'post', headers: HEADERS, data: BODY, httpAgent: agent }
    const error = Object.assign(new Error('declined'), {
      isAxiosError: true,
      code: 'ERR_BAD_REQUEST',
      config,
      request: sent,
      response: { status: 402, config, request: sent, data: {} },
    })
    const { line, kept, note } = logged(error)
    expect(line).not.toMatch(SECRET)
    expect(line.length).toBeLessThan(1_500 + String(error.stack).length)
    expect(kept).toEqual({ isAxiosError: true, code: 'ERR_BAD_REQUEST', method: 'post', url, status: 402 })
    expect(note).toEqual({ omitted_http_members: 3 })
    expect(logged(Object.assign(new Error('declined'), { req: sent, res: response })).kept).toMatchObject({
      method: 'POST',
      status: 402,
    })
  })

  test("unreadable members, and an application's own", () => {
    const refusing = {
      get headers(): object {
        throw new Error('no')
      },
      get url(): string {
        throw new Error('no')
      },
    }
    expect(
      logged(Object.assign(new Error('x'), { config: refusing, request: { url: '/a', method: 'GET', headers: {} } }))
        .kept,
    ).toEqual({ method: 'GET', url: '/a' })
    expect(logged(Object.assign(new Error('x'), { data: { orderId: 7 }, response: 'declined' })).kept).toEqual({
      data: { orderId: 7 },
      response: 'declined',
    })
  })
})
