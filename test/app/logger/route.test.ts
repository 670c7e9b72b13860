/** Real requests through pino-http and Fastify: their own records have the scope, breadcrumbs and route pattern. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import type { FastifyServerOptions } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import type { Options } from 'pino-http'
import { addBreadcrumb } from '../../../src/app/scope/scope-breadcrumbs.js'
import { ingestOptions } from '../../../src/app/logger/ingest-options.js'
import { findRoute } from '../../../src/app/logger/route.js'
import { withScope } from '../../../src/app/scope/scope.js'
import { lines } from '../lines.js'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function get(listener: RequestListener, path: string): Promise<void> {
  const server = createServer(listener)
  open.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).text()
}

/** Resolves with all records once there are `count`. */
async function records(out: ReturnType<typeof lines>, count: number): Promise<Record<string, unknown>[]> {
  while (out.records().length < count) await new Promise((resolve) => setImmediate(resolve))
  return out.records()
}

describe('pino-http', () => {
  const ways: readonly [string, (stream: NodeJS.WritableStream) => Options][] = [
    ['with a logger', (stream) => ({ logger: pino(ingestOptions({ transport: false }), stream) })],
    ['with options', (stream) => ({ ...ingestOptions({ transport: false }), stream }) as Options],
  ]
  test.each(ways)('%s: its records have the scope, the breadcrumbs and the route', async (way, options) => {
    const isError = way === 'with options' // the options set the level by the status
    const out = lines()
    const log = pinoHttp(options(out.stream))
    await get(
      (req, res) =>
        withScope({ request_id: 'r', user_id: 'u' }, () => {
          log(req, res)
          // Express leaves the request like this.
          Object.assign(req, { baseUrl: '/shop', route: { path: '/orders/:id' } })
          addBreadcrumb({ message: 'found' })
          res.statusCode = 500
          res.end('no')
        }),
      '/shop/orders/7?q=1',
    )
    const [record] = await records(out, 1)
    expect(record).toMatchObject({
      level: isError ? 50 : 30,
      msg: 'request errored',
      request_id: 'r',
      user_id: 'u',
      route: '/shop/orders/:id',
      req: { method: 'GET', url: '/shop/orders/7?q=1', headers: {}, id: 1 },
      res: { statusCode: 500 },
      err: {
        type: 'Error',
        message: 'failed with status code 500',
        stack: expect.stringContaining('\n    at ') as string,
      },
      responseTime: expect.any(Number) as number,
    })
    expect(record?.['breadcrumbs']).toEqual(isError ? [expect.objectContaining({ message: 'found' })] : undefined)
  })
})

describe('Fastify', () => {
  test('its records have their own shape, the scope and the route', async () => {
    const out = lines()
    const options = ingestOptions({ transport: false })
    const app = fastify({ logger: { ...options, stream: out.stream } } as FastifyServerOptions)
    app.addHook('preHandler', (request, _reply, done) => withScope({ request_id: `own-${request.id}` }, done))
    app.post('/orders/:id', async (request) => {
      addBreadcrumb({ message: 'looked' })
      request.log.info({ failure: new TypeError('inner') }, 'in the handler')
      throw new RangeError('no such order')
    })
    await app.inject({ method: 'POST', url: '/orders/7?q=1', payload: { a: 1 } })
    await app.inject('/nothing')
    const all = await records(out, 6)
    expect(all[0]).toMatchObject({
      msg: 'incoming request',
      reqId: 'req-1',
      req: { method: 'POST', url: '/orders/7?q=1', host: 'localhost:80', remoteAddress: '127.0.0.1' },
    })
    expect(all[1]).toMatchObject({
      msg: 'in the handler',
      reqId: 'req-1',
      request_id: 'own-req-1',
      failure: { type: 'TypeError', message: 'inner' },
    })
    expect(all[2]).toMatchObject({
      level: 50,
      msg: 'no such order',
      request_id: 'own-req-1',
      route: '/orders/:id',
      err: { type: 'RangeError' },
      res: { statusCode: 500 },
      breadcrumbs: [{ message: 'looked' }],
    })
    expect(all[3]).toMatchObject({
      msg: 'request completed',
      reqId: 'req-1',
      request_id: 'own-req-1',
      route: '/orders/:id',
      res: { statusCode: 500 },
    })
    expect(Object.keys(all[3]?.['res'] as object)).toEqual(['statusCode'])
    expect(all.at(-1)).toMatchObject({ msg: 'request completed', res: { statusCode: 404 } })
    expect(all.at(-1)).not.toHaveProperty('route')
    await app.close()
  })
})

describe('the route', () => {
  test.each<[string, unknown, string | undefined]>([
    ["of a router's root", { req: { route: { path: '/' }, baseUrl: '/shop' } }, '/shop'],
    [
      'of a router that was left by an error',
      { req: { route: { path: '/orders/:id' }, baseUrl: '', originalUrl: '/shop/v1/orders/7/?q=/x/y' } },
      '/shop/v1/orders/:id',
    ],
    ['of a URL that was rewritten', { req: { route: { path: '/a/b' }, baseUrl: '', originalUrl: '/x/y/z' } }, '/a/b'],
    ['of what pino made of a response', { statusCode: 200, raw: { req: { route: { path: '/a' } } } }, '/a'],
    ['that is an expression', { req: { route: { path: /a/ } } }, undefined],
    ['of all paths', { req: { route: { path: '/{*path}' }, baseUrl: '' } }, undefined],
    ['of all paths of Fastify', { request: { routeOptions: { url: '/*' } } }, undefined],
    [
      'of a getter that throws',
      {
        get req() {
          throw new Error('no')
        },
      },
      undefined,
    ],
  ])('%s', (_, response, route) => expect(findRoute(response)).toBe(route))
})
