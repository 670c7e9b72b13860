/**
 * A shop with Express and pino-http. Start it with `npx pino-ingest dev -- node app.mjs`, and open
 * http://127.0.0.1:3000/orders/13, which fails. The page shows the event ID, and your feedback is attached to that event.
 */
import express from 'express'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import { flushOnSignal, ingestOptions, requestErrors, requestScope, sendFeedback } from 'pino-ingest'
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
app.use(requestScope(), pinoHttp(ingestOptions({ logger })), express.urlencoded({ extended: false }))

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

app.use(requestErrors())
app.use((_error, _request, response, _next) => {
  response.status(500).send(errorPage(response.locals.eventId))
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
