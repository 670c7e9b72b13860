import express from 'express'
import expressWinston from 'express-winston'
import winston from 'winston'
import { charge, declined, jane, port } from './shop.mjs'

const logger = winston.createLogger({
  format: winston.format.combine(winston.format.errors({ stack: true, cause: true }), winston.format.timestamp(), winston.format.json()),
  transports: [new winston.transports.Console()],
})
const app = express()
app.use((request, _response, next) => {
  const [, traceId, spanId] = request.headers.traceparent.split('-')
  request.ids = { requestId: request.headers['x-request-id'], traceId, spanId }
  request.log = logger.child(request.ids)
  next()
})
app.use(expressWinston.logger({ winstonInstance: logger, metaField: null, dynamicMeta: (request) => request.ids }))
app.get('/orders/13', () => charge())
app.get('/orders/:id', (request, response) => {
  request.log.info('order read', { user: jane })
  response.json({ id: request.params.id })
})
app.use((error, request, _response, next) => {
  request.log.error('request failed', error)
  next(error)
})
app.listen(port, '127.0.0.1', () => {
  logger.info('shop is open', { orders: 3 })
  logger.warn('stock is low')
  logger.error(declined())
})
