import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { pinoLogger } from 'hono-pino'
import { requestId } from 'hono/request-id'
import pino from 'pino'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const logger = pino(withIngest())
const app = new Hono()
app.use(requestId())
app.use(pinoLogger({ pino: logger }))
app.get('/orders/13', () => charge())
app.get('/orders/:id', (context) => {
  context.var.logger.info({ user: jane }, 'order read')
  return context.json({ id: context.req.param('id') })
})
app.onError((error, context) => {
  context.var.logger.error(error)
  return context.text('Internal Server Error', 500)
})
serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () => open(logger))
