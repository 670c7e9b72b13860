/**
 * A shop with Fastify. Start it with `npx pino-ingest dev -- node app.mjs`, and open
 * http://127.0.0.1:3000/orders/13, which fails. The page shows the event ID, and your feedback is attached to that event.
 */
import Fastify from 'fastify'
import pino from 'pino'
import { captureError, flushOnSignal, ingestOptions, requestScope, sendFeedback } from 'pino-ingest'
import { errorPage } from '../error-page.mjs'

// Logs from debug, sends from info. Debug records before an error are attached to it as breadcrumbs.
const logger = pino(
  ingestOptions({
    level: 'debug',
    transport: { target: 'pino-ingest', options: { service: 'shop', requestLogs: true } },
  }),
)
flushOnSignal(logger)

const app = Fastify({ loggerInstance: logger })
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
  done(null, Object.fromEntries(new URLSearchParams(body)))
})
app.register(requestScope())

app.get('/orders/:id', async (request) => {
  const { id } = request.params
  request.log.debug({ table: 'orders', id }, 'order read')
  if (id === '13') throw new RangeError('order 13 has no price')
  return { id, total: 42 }
})

app.post('/feedback', async (request) => {
  const { event_id, comments, email } = request.body
  await sendFeedback({ event_id, comments, ...(email && { email }) })
  return 'Thank you.'
})

app.setErrorHandler((error, request, reply) => {
  const eventId = captureError(request.log, error)
  return reply.code(500).type('text/html').send(errorPage(eventId))
})

console.log(await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }))
