/** The records of real requests in Fastify and pino-http. */
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { pinoHttp } from 'pino-http'
import type { Options } from 'pino-http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TAG, takeAll } from './extract-lines.js'

/** Resolves when the reply has ended or can no longer arrive. */
function call(port: number, path: string, method = 'GET', headers: Record<string, string> = {}): Promise<void> {
  return new Promise((resolve) => {
    const request = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      response.resume().on('close', () => resolve())
    })
    request.on('error', () => resolve())
    request.end()
  })
}

/** The lines, once `count` of them contain `word`. */
async function linesWith(lines: readonly string[], word: string, count: number): Promise<readonly string[]> {
  while (lines.filter((line) => line.includes(word)).length < count) await turn()
  return lines
}

function fastifyApp(
  options: FastifyServerOptions = {},
  logger: object = {},
): { app: FastifyInstance; lines: string[]; port: () => number } {
  const lines: string[] = []
  const app = fastify({
    ...options,
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line.trimEnd()) }, ...logger },
  })
  onTestFinished(async () => app.close())
  return { app, lines, port: () => (app.server.address() as AddressInfo).port }
}

async function listening(app: FastifyInstance): Promise<void> {
  await app.listen({ port: 0, host: '127.0.0.1' })
}

describe('Fastify', () => {
  test('joins two records to one request log; all others remain log entries', async () => {
    const { app, lines, port } = fastifyApp()
    app.get('/users/:id', (request) => {
      request.log.info('inside')
      request.log.info({ req: { method: 'POST', url: '/other' } }, 'calls another service')
      return { ok: true }
    })
    app.get('/boom', () => Promise.reject(new Error('boom')))
    app.get('/bad', () => Promise.reject(Object.assign(new Error('bad'), { statusCode: 400 })))
    await listening(app)
    await call(port(), '/users/7?token=x')
    await call(port(), '/boom')
    await call(port(), '/bad')
    await call(port(), '/nowhere')
    await call(port(), '/users/8', 'HEAD')
    const { logs, left } = takeAll(await linesWith(lines, 'request completed', 5))
    expect(logs.map(({ method, path, status_code, request_id }) => [method, path, status_code, request_id])).toEqual([
      ['GET', '/users/7', 200, `${TAG}-req-1`],
      ['GET', '/boom', 500, `${TAG}-req-2`],
      ['GET', '/bad', 400, `${TAG}-req-3`],
      ['GET', '/nowhere', 404, `${TAG}-req-4`],
      ['HEAD', '/users/8', 200, `${TAG}-req-5`],
    ])
    for (const log of logs) {
      expect(log).toMatchObject({
        host: expect.any(String),
        environment: 'test',
        timestamp: expect.stringMatching(/Z$/),
      })
      expect(log.duration_ms).toBeGreaterThan(0)
      expect(log).not.toHaveProperty('route')
    }
    expect(left).toEqual([
      expect.stringContaining('Server listening'),
      'inside',
      'calls another service',
      'boom',
      'bad',
      'Route GET:/nowhere not found',
      'inside',
      'calls another service',
    ])
  })

  test('a repeated id, such as from a header, is another request', async () => {
    const { app, lines } = fastifyApp({ requestIdHeader: 'x-request-id' })
    app.get('/a', () => 'a')
    app.get('/b', () => 'b')
    for (const url of ['/a', '/b', '/a'])
      await app.inject({ url, headers: { 'x-request-id': '0b7c7a52-6a1e-4b1f-9a55-000000000001' } })
    const { logs } = takeAll(lines)
    expect(logs.map(({ path, request_id }) => [path, request_id])).toEqual(
      ['/a', '/b', '/a'].map((path) => [path, '0b7c7a52-6a1e-4b1f-9a55-000000000001']),
    )
  })

  test('a serializer of either record may add the pattern', async () => {
    const first = fastifyApp(
      {},
      {
        serializers: {
          req: (request: { method: string; url: string; routeOptions: { url?: string } }) => ({
            method: request.method,
            url: request.url,
            routeOptions: { url: request.routeOptions.url },
          }),
        },
      },
    )
    const second = fastifyApp(
      {},
      {
        serializers: {
          res: (reply: { statusCode: number; request?: { routeOptions: { url?: string } } }) => ({
            statusCode: reply.statusCode,
            route: reply.request?.routeOptions.url,
          }),
        },
      },
    )
    for (const { app, lines } of [first, second]) {
      app.get('/users/:id/*', () => '')
      await app.inject('/users/7/x')
      await app.inject('/nowhere')
      expect(takeAll(lines).logs.map(({ path, route }) => [path, route])).toEqual([
        ['/users/7/x', '/users/:id/*'],
        ['/nowhere', undefined],
      ])
    }
  })

  test('a request aborted by the client is not finished, and its record is not sent with `only`', async () => {
    const { app, lines, port } = fastifyApp()
    let isIn: (() => void) | undefined
    const inside = new Promise<void>((resolve) => (isIn = resolve))
    app.get('/slow', async (request) => {
      isIn?.()
      await new Promise<void>((resolve) => void request.raw.socket.once('close', () => resolve()))
      return 'too late'
    })
    await listening(app)
    const request = httpRequest({ port: port(), host: '127.0.0.1', path: '/slow', agent: false }).on('error', () => {})
    request.end()
    await inside
    request.destroy()
    await call(port(), '/after')
    const { logs, left } = takeAll(await linesWith(lines, '"reqId":"req-2","res":', 1))
    expect(logs.map(({ path, status_code }) => [path, status_code])).toEqual([['/after', 404]])
    expect(left).toEqual([expect.stringContaining('Server listening'), 'Route GET:/after not found'])
  })
})

interface PinoHttpApp {
  readonly lines: string[]
  readonly port: number
}

async function pinoHttpApp(options: Options, handle: RequestListener): Promise<PinoHttpApp> {
  const lines: string[] = []
  const log = pinoHttp(options, { write: (line: string) => void lines.push(line.trimEnd()) })
  const server = createServer((request, response) => {
    log(request, response)
    handle(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { lines, port: (server.address() as AddressInfo).port }
}

/** As Express leaves it on its request. */
type Routed = IncomingMessage & { route?: { path: string; stack: unknown[] } }

describe('pino-http', () => {
  test('one record is one request log, with the pattern of customProps; a failed request is also a log entry', async () => {
    const { lines, port } = await pinoHttpApp(
      { customProps: (request) => ({ route: (request as Routed).route }) },
      (request, response) => {
        if (request.url !== '/nowhere') (request as Routed).route = { path: '/users/:id', stack: [] }
        request.log.info('inside')
        if (request.url === '/users/5') response.statusCode = 500
        if (request.url === '/nowhere') response.statusCode = 404
        response.end('x')
      },
    )
    for (const path of ['/users/4?a=b', '/users/5', '/nowhere']) await call(port, path)
    const { logs, left } = takeAll(await linesWith(lines, '"responseTime":', 3))
    expect(
      logs.map(({ method, path, status_code, request_id, route }) => [method, path, status_code, request_id, route]),
    ).toEqual([
      ['GET', '/users/4', 200, `${TAG}-1`, '/users/:id'],
      ['GET', '/users/5', 500, `${TAG}-2`, '/users/:id'],
      ['GET', '/nowhere', 404, `${TAG}-3`, undefined],
    ])
    expect(left).toEqual(['inside', 'inside', 'request errored', 'inside'])
  })

  test('a response that the client does not await has a status, and remains a log entry', async () => {
    const { lines, port } = await pinoHttpApp({}, (_, response) => void response.write('half'))
    const request = httpRequest({ port, host: '127.0.0.1', path: '/half', agent: false }).on('error', () => {})
    request.end()
    await once(request, 'response')
    request.destroy()
    const written = await linesWith(lines, 'request aborted', 1)
    expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({ res: { statusCode: 200 } })
    expect(takeAll(written)).toEqual({ logs: [], left: ['request aborted'] })
    const parsedOnly = written.map((line) => line.replace('{', '{"tags":["\\u0061"],'))
    expect(takeAll(parsedOnly)).toEqual({ logs: [], left: ['request aborted'] })
  })
})
