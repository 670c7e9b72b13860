import Fastify from 'fastify'
import pino from 'pino'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const options = withIngest({ level: 'info' })
const app = Fastify({
  ...(process.env.WAY === 'ingestOptions()' ? { loggerInstance: pino(options) } : { logger: options }),
  requestIdHeader: 'x-request-id',
})
app.setChildLoggerFactory((logger, bindings, childOptions, request) =>
  logger.child({ ...bindings, traceparent: request.headers.traceparent }, childOptions),
)

app.get('/orders/13', () => charge())
app.get('/orders/:id', async (request) => {
  request.log.info({ user: jane }, 'order read')
  return { id: request.params.id }
})

await app.listen({ host: '127.0.0.1', port })
open(app.log)
