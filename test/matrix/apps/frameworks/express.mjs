import express from 'express'
import { pinoHttp } from 'pino-http'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const http = pinoHttp(withIngest({ genReqId: (request) => request.headers['x-request-id'] }))
const app = express()
app.use(http)

app.get('/orders/13', () => charge())
app.get('/orders/:id', (request, response) => {
  request.log.info({ user: jane }, 'order read')
  response.json({ id: request.params.id })
})

// As documented for ingestOptions().
if (process.env.WAY === 'ingestOptions()')
  app.use((error, _request, response, next) => {
    response.err = error
    next(error)
  })

app.listen(port, '127.0.0.1', () => open(http.logger))
