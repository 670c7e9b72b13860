/**
 * One shop in each framework: `node shop.mjs FRAMEWORK`. Requests to `/fails/…` wait until two have arrived, and then throw, at once or
 * later. The reply to a failed request has the reference of its error.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { addBreadcrumb, captureError, flushOnSignal, ingestOptions, requestErrors, requestScope } from 'pino-ingest'

const HOST = '127.0.0.1'
const logger = pino(
  ingestOptions({ level: 'debug', transport: { target: 'pino-ingest', options: { service: 'shop' } } }),
)
flushOnSignal(logger)

/** @type {(() => void)[]} */
let waiting = []
/** @param {string} id @returns {Promise<void>} */
function bothArrived(id) {
  return new Promise((resolve) => {
    waiting.push(resolve)
    addBreadcrumb({ message: `added ${id}` })
    if (waiting.length < 2) return
    for (const go of waiting) go()
    waiting = []
  })
}

/** @param {string} id @returns {never} */
function fail(id) {
  throw new RangeError(`order ${id} has no price`)
}

/** @param {string} id */
async function failLater(id) {
  await bothArrived(id)
  logger.debug(`looked for ${id}`)
  await delay(1)
  return fail(id)
}

/** @param {string} text */
function note(text) {
  addBreadcrumb({ message: `noted ${text}` })
  logger.debug(`took ${text}`)
}

const reply = (/** @type {string} */ reference) => ({ reference })

/** @type {Readonly<Record<string, () => Promise<number>>>} The port of each. */
const FRAMEWORKS = {
  async express() {
    const { default: express } = await import('express')
    const { pinoHttp } = await import('pino-http')
    const app = express()
    app.use(requestScope(), pinoHttp(ingestOptions({ logger })), express.json())
    app.get('/fails/:id', (request) => failLater(request.params.id))
    app.post('/orders', (request) => {
      note(request.body.id)
      fail(request.body.id)
    })
    app.get('/handled', (request, response) => {
      const error = new Error('handled')
      response.err = error
      response.status(500).json(reply(captureError(request.log, error)))
    })
    app.get('/refused', () => {
      throw Object.assign(new Error('refused'), { status: 403 })
    })
    app.use(requestErrors())
    app.use((error, _request, response, _next) => {
      response.status(error.status ?? 500).json(reply(response.locals.eventId))
    })
    return listen((done) => app.listen(0, HOST, done))
  },
  async fastify() {
    const { default: fastify } = await import('fastify')
    const app = fastify({ loggerInstance: logger })
    app.register(requestScope())
    app.get('/fails/:id', (request) => failLater(request.params.id))
    app.post('/orders', (request) => {
      note(request.body.id)
      fail(request.body.id)
    })
    app.get('/handled', (request, response) =>
      response.code(500).send(reply(captureError(request.log, new Error('handled')))),
    )
    app.get('/refused', () => {
      throw Object.assign(new Error('refused'), { statusCode: 403 })
    })
    app.setErrorHandler((error, request, response) =>
      error.statusCode < 500 ? response.send(error) : response.code(500).send(reply(captureError(request.log, error))),
    )
    await app.listen({ host: HOST, port: 0 })
    return app.server.address().port
  },
  async koa() {
    const { default: Koa } = await import('koa')
    const { default: koaPino } = await import('koa-pino-logger')
    const app = new Koa()
    app.silent = true
    app.use(requestScope())
    app.use(async (context, next) => {
      try {
        await next()
      } catch (error) {
        context.res.err = error
        context.status = error.status ?? 500
        context.body = reply(captureError(context.log, error))
      }
    })
    app.use(koaPino(ingestOptions({ logger })))
    app.use(async (context) => {
      if (context.path.startsWith('/fails/')) return failLater(context.path.slice('/fails/'.length))
      if (context.path === '/refused') context.throw(403, 'refused')
      if (context.path === '/handled') fail('handled')
      let body = ''
      for await (const chunk of context.req) body += chunk
      const { id } = JSON.parse(body)
      note(id)
      return fail(id)
    })
    return listen((done) => app.listen(0, HOST, done))
  },
  async hono() {
    const { serve } = await import('@hono/node-server')
    const { Hono } = await import('hono')
    const { HTTPException } = await import('hono/http-exception')
    const { requestId } = await import('hono/request-id')
    const { pinoLogger } = await import('hono-pino')
    const app = new Hono()
    app.use(requestId(), pinoLogger({ pino: logger }), requestScope())
    app.get('/fails/:id', async (context) => failLater(context.req.param('id')))
    app.post('/orders', async (context) => {
      const { id } = await context.req.json()
      note(id)
      return fail(id)
    })
    app.get('/handled', () => fail('handled'))
    app.get('/refused', () => {
      throw new HTTPException(403, { message: 'refused' })
    })
    app.onError((error, context) => {
      if (error instanceof HTTPException) return error.getResponse()
      return context.json(reply(captureError(context.var.logger, error)), 500)
    })
    return new Promise((resolve) => serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => resolve(port)))
  },
  async nest() {
    await import('reflect-metadata')
    const common = await import('@nestjs/common')
    const { NestFactory } = await import('@nestjs/core')
    const { Logger, LoggerErrorInterceptor, LoggerModule } = await import('nestjs-pino')
    class Orders {
      /** @param {string} id */
      async fails(id) {
        return failLater(id)
      }
      /** @param {{ id: string }} body */
      create(body) {
        note(body.id)
        fail(body.id)
      }
      handled() {
        fail('handled')
      }
      refused() {
        throw new common.ForbiddenException('refused')
      }
      async onApplicationShutdown() {
        await delay(1)
        logger.info('shop is closed')
      }
    }
    const decorate = (name, method, parameter) => {
      method(Orders.prototype, name, Object.getOwnPropertyDescriptor(Orders.prototype, name))
      parameter?.(Orders.prototype, name, 0)
    }
    decorate('fails', common.Get('fails/:id'), common.Param('id'))
    decorate('create', common.Post('orders'), common.Body())
    decorate('handled', common.Get('handled'))
    decorate('refused', common.Get('refused'))
    common.Controller()(Orders)
    function Shop() {}
    common.Module({
      imports: [LoggerModule.forRoot({ pinoHttp: ingestOptions({ logger }) })],
      controllers: [Orders],
    })(Shop)
    const app = await NestFactory.create(Shop, { bufferLogs: true })
    app.use(requestScope())
    app.useLogger(app.get(Logger))
    app.useGlobalInterceptors(new LoggerErrorInterceptor())
    app.enableShutdownHooks()
    class ReferenceFilter {
      catch(error, host) {
        const http = host.switchToHttp()
        const response = http.getResponse()
        if (error instanceof common.HttpException) response.status(error.getStatus()).json({})
        else response.status(500).json(reply(captureError(http.getRequest().log, error)))
      }
    }
    common.Catch()(ReferenceFilter)
    app.useGlobalFilters(new ReferenceFilter())
    await app.listen(0, HOST)
    return app.getHttpServer().address().port
  },
}

/** @param {(done: () => void) => import('node:http').Server} start @returns {Promise<number>} */
function listen(start) {
  return new Promise((resolve) => {
    const server = start(() => resolve(server.address().port))
  })
}

process.stdout.write(`${await FRAMEWORKS[process.argv[2]]()}\n`)
