import { ecsFormat } from '@elastic/ecs-pino-format'
import express from 'express'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const logger = pino(withIngest(ecsFormat({ convertReqRes: true })))
const app = express()
app.use(pinoHttp({ logger, genReqId: (request) => request.headers['x-request-id'] }))
app.get('/orders/13', () => charge())
app.get('/orders/:id', (request, response) => {
  request.log.info({ user: jane }, 'order read')
  response.json({ id: request.params.id })
})
app.use((error, request, _response, next) => {
  request.log.error(error, 'request failed')
  next(error)
})
app.listen(port, '127.0.0.1', () => open(logger))
