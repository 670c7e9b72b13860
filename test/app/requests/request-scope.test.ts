/** `requestScope()` and `requestErrors()` without their frameworks: types, and cases that servers seldom produce. */
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, Socket } from 'node:net'
import type { INestApplication } from '@nestjs/common'
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type { Hono } from 'hono'
import type Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import {
  addBreadcrumb,
  captureError,
  ingestOptions,
  requestErrors,
  requestScope,
  withScope,
} from '../../../src/index.js'
import { findResponseLevel } from '../../../src/app/logger/response-level.js'
import { lines } from '../lines.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

/** Compiled only: the frameworks' own types accept the functions. */
export function useAll(express: Express, app: FastifyInstance, koa: Koa, hono: Hono, nest: INestApplication): void {
  express.use(requestScope(), requestErrors())
  express.use('/shop', requestErrors())
  void app.register(requestScope())
  koa.use(requestScope()).use((context) => void context.status)
  hono.use(requestScope())
  hono.use('/shop/*', requestScope())
  nest.use(requestScope())
}

function createLogger(): { readonly logger: pino.Logger; readonly out: ReturnType<typeof lines> } {
  const out = lines()
  return { logger: pino(ingestOptions({ transport: false, level: 'debug' }), out.stream), out }
}

/** Runs `work` in a request, as Express does. */
function inRequest(request: object, work: () => void, response: object = {}): void {
  requestScope()({ headers: {}, ...request }, response, work)
}

describe('requestScope()', () => {
  test('adds the id, also one that is set later, and the trace to each record', () => {
    const { logger, out } = createLogger()
    const request: Record<string, unknown> = { headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } }
    requestScope()(request as never, {}, () => {
      logger.info('before')
      request['id'] = 7
      logger.info('after')
    })
    logger.info('outside')
    const [before, after, outside] = out.records()
    expect(before).toMatchObject({ trace_id: TRACE, request_id: expect.stringMatching(/^[\da-f-]{36}$/) as string })
    expect(after).toMatchObject({ trace_id: TRACE, request_id: '7' })
    expect(outside).not.toHaveProperty('request_id')
  })

  test('an error has the request and an id, which captureError() returns without logging it again', () => {
    const { logger, out } = createLogger()
    const error = new Error('declined')
    inRequest({ method: 'GET', url: '/7', originalUrl: '/shop/7' }, () => {
      logger.error(error)
      expect(captureError(logger, error)).toBe(out.last()['event_id'])
      expect(captureError(logger, new Error('other'))).not.toBe(out.records()[0]?.['event_id'])
    })
    expect(out.records()).toMatchObject([
      { msg: 'declined', req: { method: 'GET', url: '/shop/7' }, event_id: expect.any(String) as string },
      { msg: 'other' },
    ])
  })

  test('keeps the ids and the request of the record', () => {
    const { logger, out } = createLogger()
    const error = new Error('own')
    inRequest({ method: 'GET', url: '/' }, () => {
      logger.error({ err: error, event_id: 'mine', req: { id: 'own' } })
      expect(captureError(logger, error)).toBe('mine')
    })
    expect(out.records()).toMatchObject([{ event_id: 'mine', req: { id: 'own' } }])
  })

  test('nested scopes share the request, other scopes do not', () => {
    const { logger, out } = createLogger()
    inRequest({ method: 'GET', url: '/' }, () => {
      addBreadcrumb({ message: 'first' })
      withScope({ user_id: 'u' }, () => logger.error(new Error('the request')))
      withScope({ session_id: 's' }, () => withScope({ session_id: 'job' }, () => logger.error(new Error('a job'))))
    })
    const [own, job] = out.records()
    expect(own).toMatchObject({ user_id: 'u', req: { url: '/' }, breadcrumbs: [{ message: 'first' }] })
    expect(job).not.toHaveProperty('req')
  })

  test('the end of the request has what was added in it, and never that of another request', () => {
    const { logger, out } = createLogger()
    const response = {}
    const end = (): void => logger.info({ res: response }, 'request completed')
    inRequest({ id: 'own' }, () => withScope({ user_id: 'u' }, end), response)
    inRequest({ id: 'other' }, end)
    expect(out.records()).toMatchObject([{ request_id: 'own', user_id: 'u' }, { request_id: 'own' }])
  })

  test('a request_id that is set in the request replaces its id', () => {
    const { logger, out } = createLogger()
    const error = new Error('declined')
    const response = { statusCode: 500, err: error }
    inRequest(
      { method: 'GET', url: '/' },
      () => {
        addBreadcrumb({ message: 'first' })
        withScope({ request_id: 'own', user_id: 'u' }, () => {
          const id = captureError(logger, error)
          expect(findResponseLevel({}, response)).toBe('warn')
          expect(captureError(logger, error)).toBe(id)
          logger.warn({ res: response }, 'request errored')
        })
      },
      response,
    )
    expect(out.records()).toMatchObject([
      { request_id: 'own', user_id: 'u', req: { url: '/' }, breadcrumbs: [{ message: 'first' }] },
      { request_id: 'own', user_id: 'u' },
    ])
  })

  test('an error that was logged below level error is logged as error at the end, with the same id', () => {
    const { logger, out } = createLogger()
    const error = new Error('declined')
    const response: { statusCode: number; err?: unknown } = { statusCode: 500 }
    inRequest(
      {},
      () => {
        requestErrors()(error, { headers: {} }, response, () => {})
        logger.info({ err: error }, 'handling')
        expect(findResponseLevel({}, response)).toBe('error')
        logger.error({ res: response, err: error }, 'request errored')
        expect(findResponseLevel({}, response)).toBe('warn')
        logger.warn({ err: error }, 'once more')
      },
      response,
    )
    const [first, end, more] = out.records()
    expect(first?.['event_id']).toMatch(/^[\da-f-]{36}$/)
    expect(end).toMatchObject({ level: 50, event_id: first?.['event_id'] })
    expect(more).not.toHaveProperty('event_id')
  })

  test('the end of a pipelined request has its own scope', async () => {
    const { logger, out } = createLogger()
    const [scope, log] = [requestScope(), pinoHttp(ingestOptions({ logger }))]
    const held: (() => void)[] = []
    const server = createServer((request, response) =>
      scope(request, response, () =>
        log(request, response, () => {
          const { url } = request
          held.push(() => response.end(url))
          if (held.length === 2) for (const go of held.toReversed()) go()
        }),
      ),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    const ids = out.records().map(({ req, request_id: id }) => [String((req as { id: number }).id), id])
    expect(ids).toHaveLength(2)
    for (const [id, scopeId] of ids) expect(scopeId).toBe(id)
  })
})

describe('requestErrors()', () => {
  const handle = (error: unknown, response: object): unknown => {
    let passed: unknown
    requestErrors()(error, { headers: {} }, response, (given) => (passed = given))
    return passed
  }

  test('passes the error on, and gives pino-http the error and the page its reference', () => {
    const { logger, out } = createLogger()
    for (const error of [new Error('declined'), 'a text']) {
      const response: { err?: unknown; locals?: Record<string, unknown> } = {}
      expect(handle(error, response)).toBe(error)
      expect(response.err).toBe(error)
      logger.error({ res: response, err: response.err }, 'request errored')
      expect(out.last()['event_id']).toBe(response.locals?.['eventId'])
      expect(response.locals?.['eventId']).toMatch(/^[\da-f-]{36}$/)
    }
  })

  test('keeps the facts and breadcrumbs of withScope() if there is no requestScope()', () => {
    const { logger, out } = createLogger()
    const error = new Error('declined')
    const response: { err?: unknown; locals?: Record<string, unknown> } = {}
    withScope({ request_id: 'r', user: { id: 'u' }, tags: ['t'] }, () => {
      addBreadcrumb({ message: 'first' })
      handle(error, response)
      addBreadcrumb({ message: 'later' })
    })
    logger.error({ res: response, err: response.err }, 'request errored')
    expect(out.last()).toMatchObject({
      request_id: 'r',
      user: { id: 'u' },
      tags: ['t'],
      breadcrumbs: [{ message: 'first' }, { message: 'later' }],
      event_id: response.locals?.['eventId'],
    })
  })

  const throwing = (): never => {
    throw new Error('unreadable')
  }
  const getter = { get: throwing, enumerable: true }
  test.each<[string, object, string]>([
    ['a frozen error', Object.freeze(new Error('frozen')), 'frozen'],
    ['a getter that throws', Object.defineProperty(new Error('getter'), 'code', getter), 'getter'],
    ['a proxy that throws', new Proxy(new Error('proxy'), { get: throwing }), '[unreadable]'],
    ['a frozen cause among errors', new AggregateError([Object.freeze(new Error('inner'))], 'many'), 'many'],
    ['a frozen object', Object.freeze({ message: 'no error' }), 'no error'],
  ])('pino-http logs %s, which its serializer cannot read', (_name, error, message) => {
    const { logger, out } = createLogger()
    const response: ServerResponse & { locals?: Record<string, unknown> } = new ServerResponse(
      new IncomingMessage(new Socket()),
    )
    response.statusCode = 500
    const request = Object.assign(new IncomingMessage(new Socket()), { id: 'r' })
    requestScope()(request, response, () =>
      pinoHttp(ingestOptions({ logger }))(request, response, () => {
        expect(handle(error, response)).toBe(error)
        response.emit('finish')
      }),
    )
    expect(out.records()).toMatchObject([{ level: 50, err: { message }, event_id: response.locals?.['eventId'] }])
    expect(findResponseLevel(request, response)).toBe('warn')
    expect(captureError(logger, error)).toBeTypeOf('string')
  })
})
