/** Without a framework, and with pino's own serializers; `KEYS` are other keys and levels. */
import { createServer } from 'node:http'
import pino from 'pino'
import { charge, destination, jane, open, port, slowBody, withIngest } from './shop.mjs'

const { req, res } = pino.stdSerializers
const logger = pino(withIngest({ serializers: { req, res }, ...JSON.parse(process.env.KEYS ?? '{}') }), destination)

const server = createServer((request, response) => {
  const start = performance.now()
  const { 'x-request-id': reqId, traceparent } = request.headers
  const log = logger.child({ reqId, traceparent })
  response.once('close', () =>
    log.info({ req: request, res: response, responseTime: performance.now() - start }, 'request completed'),
  )
  const { pathname } = new URL(request.url, 'http://localhost')
  try {
    if (pathname === '/orders/13') charge()
    if (pathname === '/orders/slow') return slowBody().pipe(response)
    if (!pathname.startsWith('/orders/')) response.statusCode = 404
    else log.info({ user: jane }, 'order read')
  } catch (error) {
    log.error(error, 'request failed')
    response.statusCode = 500
  }
  response.end()
})
server.listen(port, '127.0.0.1', () => {
  open(logger)
  logger.audit?.('at audit')
})
