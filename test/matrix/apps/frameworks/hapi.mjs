import Hapi from '@hapi/hapi'
import hapiPino from 'hapi-pino'
import pino from 'pino'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const server = Hapi.server({ host: '127.0.0.1', port, debug: false })
server.route([
  { method: 'GET', path: '/orders/13', handler: () => charge() },
  {
    method: 'GET',
    path: '/orders/{id}',
    handler: (request) => {
      request.logger.info({ user: jane }, 'order read')
      return { id: request.params.id }
    },
  },
])
await server.register({
  plugin: hapiPino,
  options: {
    instance: pino(withIngest()),
    getChildBindings: (request) => ({ req: request, reqId: request.headers['x-request-id'] }),
  },
})
await server.start()
open(server.logger)
