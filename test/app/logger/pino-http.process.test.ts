/** `ingestOptions()` for pino-http, with Express: the level follows the status, and the error is the thrown one. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import type { Options } from 'pino-http'
import { ingestOptions } from '../../../src/app/logger/ingest-options.js'
import { lines } from '../lines.js'

type Request = IncomingMessage
type Response = ServerResponse & { readonly locals: Record<string, string> }
type Next = (error?: unknown) => void
type Handler = (request: Request, response: Response, next: Next) => void
type ErrorHandler = (error: Error, request: Request, response: Response, next: Next) => void

/** The part of Express that the tests use; Express ships no types. */
interface Express {
  use(handler: Handler): void
  use(handler: ErrorHandler): void
  get(path: string, handler: Handler): void
  listen(port: number, host: string): Server
}

const express = createRequire(import.meta.url)('express') as () => Express

const declined = Object.assign(
  new RangeError('card declined', { cause: Object.assign(new Error('timeout'), { code: 'E_TIMEOUT' }) }),
  {
    code: 'E_CARD',
  },
)
const OUTPUT = process.env['NODE_ENV']

interface Logged {
  readonly level: number
  readonly res: { readonly statusCode: number }
  readonly err?: { readonly message: string; readonly cause?: { readonly code: string } }
}

/** One list of records per request. */
async function requestAll(options: Options, paths: readonly string[]): Promise<Logged[]> {
  const records: Logged[] = []
  const stream = { write: (text: string) => void records.push(JSON.parse(text) as Logged) }
  const app = express()
  app.use(options.logger === undefined ? pinoHttp(options, stream) : pinoHttp(options))
  await send(app, paths)
  return records
}

async function send(app: Express, paths: readonly string[]): Promise<void> {
  process.env['NODE_ENV'] = 'test' // otherwise Express prints errors
  onTestFinished(() => void (process.env['NODE_ENV'] = OUTPUT))
  app.get('/ok', (_request, response) => void response.end('ok'))
  app.get('/fails', () => {
    throw declined
  })
  app.get('/refused', () => {
    throw Object.assign(new Error('refused'), { status: 403 })
  })
  app.get('/broken', (_request, response) => {
    response.write('half')
    throw declined
  })
  app.use((error: Error, _request: Request, response: Response, next: Next) => {
    response.err = error
    next(error)
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  for (const path of paths)
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
      .then((response) => response.text())
      .catch(() => {})
}

const PATHS = ['/ok', '/nowhere', '/refused', '/fails', '/broken']
const EXPECTED = [
  { level: 30, res: { statusCode: 200 } },
  { level: 40, res: { statusCode: 404 } },
  { level: 40, res: { statusCode: 403 }, err: { message: 'refused' } },
  {
    level: 50,
    res: { statusCode: 500 },
    err: { message: 'card declined', code: 'E_CARD', cause: { code: 'E_TIMEOUT' } },
  },
  { level: 50, res: { statusCode: 200 }, err: { message: 'card declined' } },
]

test("sets the level by the status, and logs the handler's error with its causes", async () => {
  const records = await requestAll(ingestOptions({ transport: false, autoLogging: true }), PATHS)
  expect(records).toMatchObject(EXPECTED)
})

test('does the same for an existing logger, and keeps its options', async () => {
  const records: unknown[] = []
  const stream = { write: (text: string) => void records.push(JSON.parse(text)) }
  const formatters = { log: (record: object) => ({ ...record, own: 1 }) }
  const logger = pino(ingestOptions({ transport: false, formatters }), stream)
  const options = ingestOptions({ logger, quietReqLogger: true })
  expect(options).not.toHaveProperty('transport')
  await requestAll(options, PATHS)
  expect(records).toMatchObject(
    EXPECTED.map((expected) => ({ ...expected, own: 1, reqId: expect.any(Number) as number })),
  )
})

test("uses the error serializers of an existing logger, also for errors that are not pino-http's", () => {
  const hide = (error: unknown): object => ({ hidden: error instanceof Error })
  for (const create of [
    pino,
    (options: object, stream: NodeJS.WritableStream) => pino(ingestOptions({ transport: false, ...options }), stream),
  ]) {
    const out = lines()
    const logger = create({ serializers: { err: hide, error: hide } }, out.stream)
    const http = pinoHttp(ingestOptions({ logger })).logger
    http.error({ err: declined, error: declined })
    expect(out.last()).toMatchObject({ err: { hidden: true }, error: { hidden: true } })
    const own = ingestOptions({ logger, serializers: { error: () => 'own', err: () => 'own' } })
    pinoHttp(own).logger.error({ err: declined, error: declined })
    expect(out.last()).toMatchObject({ err: 'own', error: 'own' })
  }
  const out = lines()
  pinoHttp(ingestOptions({ logger: pino(out.stream) })).logger.error({ err: declined, error: declined })
  expect(out.last()).toMatchObject({ err: { cause: { code: 'E_TIMEOUT' } }, error: { cause: { code: 'E_TIMEOUT' } } })
})

test('pino-http accepts the result, and the types check its options', () => {
  expectTypeOf(ingestOptions()).toExtend<Options>()
  const options = ingestOptions({
    transport: false,
    genReqId: (request: IncomingMessage) => String(request.headers['x-request-id']),
    customProps: (_request: Request, response: Response) => ({ route: response.locals['route'] }),
    customLogLevel: (_request: IncomingMessage, _response: ServerResponse, error) =>
      error === undefined ? 'silent' : 'warn',
    customAttributeKeys: { req: 'request' },
  })
  expect(pinoHttp(options)).toBeTypeOf('function')
  // @ts-expect-error there is no such option
  ingestOptions({ customLogLevle: () => 'info' })
})
