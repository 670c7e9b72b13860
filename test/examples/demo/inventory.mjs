/** The inventory, with Fastify. Its logger is a child of the application's logger. */
import { randomUUID } from 'node:crypto'
import { fastify } from 'fastify'
import { startSpan } from './trace.mjs'

const LOW = 2

export function createInventory(logger) {
  const items = new Map([
    ['mug', { sku: 'mug', left: 40, refill: 40, size: { width: 9, height: 11 } }],
    ['poster', { sku: 'poster', left: 3, size: { width: 50, height: 70 } }],
    ['gift-card', { sku: 'gift-card', left: 0 }],
  ])
  const app = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    childLoggerFactory: (parent, bindings, options, request) =>
      parent.child({ ...bindings, ...startSpan(request.headers.traceparent) }, options),
  })

  app.get('/stock', () => [...items.values()])

  app.post('/stock/:sku/reserve', (request, reply) => {
    const item = items.get(request.params.sku)
    if (item.left === 0) return reply.code(409).send({ error: `${item.sku} is sold out` })
    item.left -= 1
    if (item.left <= LOW) request.log.warn({ sku: item.sku, left: item.left, tags: ['stock'] }, 'stock is low')
    if (item.left === 0 && item.refill !== undefined) {
      item.left = item.refill
      request.log.info({ sku: item.sku, left: item.left, tags: ['stock'] }, 'restocked')
    }
    return { sku: item.sku, left: item.left }
  })

  // A gift card has no size, which causes a TypeError. Fastify logs it and replies with 500.
  app.get('/stock/:sku/label', ({ params }) => {
    const { sku, size } = items.get(params.sku)
    return { sku, label: `${size.width} x ${size.height} cm` }
  })

  return app
}
