/** Express and pino-http; also with `node -r ./otel-tracing.cjs`. The reply contains the span id for the comparison. */
const { trace } = require('@opentelemetry/api')
const express = require('express')
const pino = require('pino')
const pinoHttp = require('pino-http')

import('./shop.mjs').then(({ charge, jane, open, port, withIngest }) => {
  const logger = pino(withIngest())
  const app = express()
  app.use(pinoHttp({ logger, genReqId: (request) => request.headers['x-request-id'] }))
  app.get('/orders/13', () => charge())
  app.get('/orders/:id', (request, response) => {
    request.log.info({ user: jane }, 'order read')
    response.json({ id: request.params.id, span_id: trace.getActiveSpan()?.spanContext().spanId })
  })
  app.use((error, request, _response, next) => {
    request.log.error(error, 'request failed')
    next(error)
  })
  app.listen(port, '127.0.0.1', () => open(logger))
})
