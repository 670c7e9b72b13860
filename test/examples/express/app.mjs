/**
 * A shop with Express and pino-http. Start the local service (`npx pino-ingest dev`), then `node app.mjs`, and open
 * http://127.0.0.1:3000/orders/13, which fails. The page shows the event ID, and your feedback is attached to that event.
 */
import express from 'express'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import { captureError, flushOnSignal, ingestOptions, sendFeedback, withScope } from 'pino-ingest'
import { errorPage } from '../error-page.mjs'

// Logs from debug, sends from info. Debug records before an error are attached to it as breadcrumbs.
const logger = pino(
  ingestOptions({
    level: 'debug',
    transport: { target: 'pino-ingest', options: { service: 'shop', requestLogs: true } },
  }),
)
flushOnSignal(logger)

const app = express()
// The error handler logs the error with its ID, so pino-http logs status 500 only as a warning.
app.use(pinoHttp({ logger, customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'warn' : 'info') }))
app.use(express.urlencoded({ extended: false }))
app.use((request, _response, next) =>
  withScope({ request_id: String(request.id), traceparent: request.get('traceparent') }, next),
)

app.get('/orders/:id', async (request, response) => {
  const { id } = request.params
  request.log.debug({ table: 'orders', id }, 'order read')
  if (id === '13') throw new RangeError('order 13 has no price')
  response.json({ id, total: 42 })
})

app.post('/feedback', async (request, response) => {
  const { event_id, comments, email } = request.body
  await sendFeedback({ event_id, comments, ...(email && { email }) })
  response.send('Thank you.')
})

app.use((error, request, response, _next) => {
  const eventId = captureError(request.log, error)
  response.status(500).send(errorPage(eventId))
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
