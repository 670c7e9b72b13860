/** Logs requests by hand, as in Elastic's documentation. */
import { createServer } from 'node:http'
import { ecsFormat } from '@elastic/ecs-pino-format'
import pino from 'pino'
import { charge, open, port, withIngest } from './shop.mjs'

const logger = pino(
  withIngest(ecsFormat({ convertReqRes: true, serviceName: 'ecs-shop', serviceVersion: '1.2.3' })),
 
)

const server = createServer((req, res) => {
  const start = process.hrtime.bigint()
  const [, traceId, spanId] = req.headers.traceparent.split('-')
  const log = logger.child({ 'trace.id': traceId, 'transaction.id': spanId, 'http.request.id': req.headers['x-request-id'] })
  res.once('close', () =>
    log.info({ req, res, 'event.duration': Number(process.hrtime.bigint() - start) }, 'handled request'),
  )
  const { pathname } = new URL(req.url, 'http://localhost')
  try {
    if (pathname === '/orders/13') charge()
    if (!pathname.startsWith('/orders/')) res.statusCode = 404
    else log.info({ 'user.id': 'u-42', 'user.email': 'jane@example.com', 'user.name': 'Jane' }, 'order read')
  } catch (error) {
    log.error(error, 'request failed')
    res.statusCode = 500
  }
  res.end()
})
server.listen(port, '127.0.0.1', () => open(logger))
