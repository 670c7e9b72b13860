/**
 * Logs the request as Cloud Logging's `httpRequest` and the trace as OpenTelemetry ids, which the configuration
 * renames.
 */
import { createGcpLoggingPinoConfig } from '@google-cloud/pino-logging-gcp-config'
import express from 'express'
import pino from 'pino'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const logger = pino(
  withIngest(
    createGcpLoggingPinoConfig({
      serviceContext: { service: 'gcp-shop', version: '1.2.3' },
      traceGoogleCloudProjectId: 'my-project',
    }),
  ),
 
)
const app = express()
app.use((request, response, next) => {
  const start = performance.now()
  const [, trace_id, span_id] = request.headers.traceparent.split('-')
  request.log = logger.child({ requestId: request.headers['x-request-id'] })
  request.ids = { trace_id, span_id, trace_flags: '01' }
  response.once('close', () => {
    const httpRequest = {
      requestMethod: request.method,
      requestUrl: `http://${request.headers.host}${request.originalUrl}`,
      status: response.statusCode,
      userAgent: request.headers['user-agent'],
      remoteIp: request.ip,
      latency: `${((performance.now() - start) / 1000).toFixed(6)}s`,
      protocol: `HTTP/${request.httpVersion}`,
    }
    request.log.info({ ...request.ids, httpRequest }, 'request completed')
  })
  next()
})
app.get('/orders/13', () => charge())
app.get('/orders/:id', (request, response) => {
  request.log.info({ ...request.ids, user: jane }, 'order read')
  response.json({ id: request.params.id })
})
app.use((error, request, _response, next) => {
  request.log.error({ ...request.ids, err: error }, 'request failed')
  next(error)
})
app.listen(port, '127.0.0.1', () => open(logger))
