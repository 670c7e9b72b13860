import express from 'express'
import { pinoHttp } from 'pino-http'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const http = pinoHttp(
  withIngest({
    genReqId: (request) => request.headers['x-request-id'],
    customAttributeKeys: { req: 'httpReq', res: 'httpRes', responseTime: 'timeTaken' },
  }),
)
const app = express()
app.use(http)
app.get('/orders/13', () => charge())
app.get('/orders/:id', (request, response) => {
  request.log.info({ user: jane }, 'order read')
  response.json({ id: request.params.id })
})
app.use((error, request, _response, next) => {
  request.log.error(error, 'request failed')
  next(error)
})
app.listen(port, '127.0.0.1', () => open(http.logger))
