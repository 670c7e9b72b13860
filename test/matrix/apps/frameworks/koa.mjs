import Koa from 'koa'
import koaPino from 'koa-pino-logger'
import { charge, jane, open, port, withIngest } from './shop.mjs'

const logger = koaPino(withIngest({ genReqId: (request) => request.headers['x-request-id'] }))
const app = new Koa()
app.silent = true
app.use(logger)
app.use((context) => {
  if (context.path === '/orders/13') charge()
  if (!context.path.startsWith('/orders/')) return
  context.log.info({ user: jane }, 'order read')
  context.body = { id: context.path.slice('/orders/'.length) }
})
app.listen(port, '127.0.0.1', () => open(logger.logger))
