/** The shop, with node:http and pino-http. It calls the inventory over HTTP within the same trace. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pinoHttp } from 'pino-http'
import { newEventId, sendFeedback } from 'pino-ingest'
import { pay } from './payments.mjs'
import { startSpan, traceparentOf } from './trace.mjs'

const CUSTOMERS = {
  ada: { id: 'u-1', name: 'Ada', email: 'ada@example.com' },
  grace: { id: 'u-2', name: 'Grace', email: 'grace@example.com' },
}

export function createShop(logger, inventoryUrl) {
  const logHttp = pinoHttp({
    logger,
    genReqId: () => randomUUID(),
    customLogLevel: levelOf,
    customProps: ({ span }) => span,
    customSuccessObject: (request, _response, logged) => ({ ...logged, route: routeOf(request) }),
    customErrorObject: (request, _response, _error, logged) => ({
      ...logged,
      route: routeOf(request),
      event_id: request.eventId,
    }),
  })
  const shop = { orders: new Map(), inventoryUrl }
  return createServer(async (request, response) => {
    request.span = startSpan(request.headers.traceparent)
    logHttp(request, response)
    try {
      const [status, body] = await route(shop, request)
      reply(response, status, body)
    } catch (error) {
      response.err = error // pino-http logs it together with the request
      request.eventId = newEventId() // shown to the customer as a reference
      reply(response, error.statusCode ?? 500, { error: error.message, eventId: request.eventId })
    }
  })
}

function levelOf(_request, { statusCode }) {
  if (statusCode >= 500) return 'error'
  return statusCode >= 400 ? 'warn' : 'info'
}

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function route(shop, request) {
  const { method, url } = request
  if (method === 'GET' && url === '/products') return listProducts(shop, request)
  if (method === 'POST' && url === '/orders') return placeOrder(shop, request)
  if (method === 'GET' && url.startsWith('/orders/')) return showOrder(shop, url.slice('/orders/'.length))
  if (method === 'POST' && url === '/feedback') return takeFeedback(request)
  if (method === 'GET' && url === '/shipping-offers') return askCarriers()
  if (method === 'GET' && url === '/reports/daily') return dailyReport(shop, request)
  if (method === 'GET' && url.startsWith('/labels/')) return printLabel(shop, request, url.slice('/labels/'.length))
  return [404, { error: 'no such page' }]
}

/** The route pattern, by which requests are grouped. */
function routeOf({ url }) {
  return url.replace(/^\/(orders|labels)\/.+/, (_, name) => `/${name}/${name === 'orders' ? ':id' : ':sku'}`)
}

async function listProducts(shop, request) {
  const { body } = await askInventory(shop, request, 'GET', '/stock')
  request.log.debug({ products: body.length, cache_hits: 2 }, 'prices read from the cache')
  return [200, body]
}

async function placeOrder(shop, request) {
  const { customer, sku, card } = await json(request)
  const log = request.log.child({ user: CUSTOMERS[customer], sku })
  const reserved = await askInventory(shop, request, 'POST', `/stock/${sku}/reserve`)
  if (reserved.status !== 200) return [reserved.status, reserved.body]
  const { paymentId } = await pay(card)
  const orderId = 1001 + shop.orders.size
  shop.orders.set(String(orderId), { orderId, sku, paymentId })
  log.audit({ action: 'order.placed', tags: ['orders'], orderId, paymentId }, 'order placed')
  return [201, { orderId }]
}

function showOrder(shop, orderId) {
  const order = shop.orders.get(orderId)
  return order === undefined ? [404, { error: `there is no order ${orderId}` }] : [200, order]
}

async function takeFeedback(request) {
  const { eventId, comments, name, email } = await json(request)
  await sendFeedback({ event_id: eventId, comments, name, email })
  return [202, {}]
}

/** Uses the first carrier that replies. None does, which causes an AggregateError. */
async function askCarriers() {
  const ask = async (carrier, trouble) => {
    throw new Error(`${carrier} ${trouble}`)
  }
  return [
    200,
    await Promise.any([ask('NorthPost', 'is closed'), ask('QuickShip', 'timed out'), ask('Pigeon', 'is asleep')]),
  ]
}

async function dailyReport(shop, request) {
  const startedAt = performance.now()
  await sleep(300)
  const durationMs = Math.round(performance.now() - startedAt)
  request.log.warn({ perf: { duration_ms: durationMs, db_queries: 42 }, tags: ['slow'] }, 'the daily report is slow')
  return [200, { orders: shop.orders.size }]
}

async function printLabel(shop, request, sku) {
  const { status, body } = await askInventory(shop, request, 'GET', `/stock/${sku}/label`)
  return status === 200 ? [200, body] : [502, { error: 'the inventory cannot print labels now' }]
}

async function askInventory({ inventoryUrl }, request, method, path) {
  const response = await fetch(inventoryUrl + path, { method, headers: { traceparent: traceparentOf(request.span) } })
  return { status: response.status, body: await response.json() }
}
