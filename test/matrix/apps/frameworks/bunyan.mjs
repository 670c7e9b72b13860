import bunyan from 'bunyan'
import express from 'express'
import { charge, declined, jane, port } from './shop.mjs'

const logger = bunyan.createLogger({
  name: 'bunyan-shop',
  serializers: bunyan.stdSerializers,
})
const app = express()
app.use((req, res, next) => {
  const start = performance.now()
  req.log = logger.child({ req_id: req.headers['x-request-id'] })
  res.once('close', () => req.log.info({ req, res, responseTime: performance.now() - start }, 'request finished'))
  next()
})
app.get('/orders/13', () => charge())
app.get('/orders/:id', (req, res) => {
  req.log.info({ req, user: jane }, 'order read')
  res.json({ id: req.params.id })
})
app.use((err, req, _res, next) => {
  req.log.error({ err, req }, 'request failed')
  next(err)
})
app.listen(port, '127.0.0.1', () => {
  logger.info({ orders: 3 }, 'shop is open')
  logger.warn('stock is low')
  logger.error(declined(), 'payment failed')
})
