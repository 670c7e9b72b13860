/** The logs of a shop: orders through several services, and their failures. */
import type { Breadcrumb, Level, LogEntry } from '../../src/protocol/log-entry.js'
import type { RequestLog } from '../../src/protocol/resources.js'

type Random = () => number

const CUSTOMERS = [
  { id: 'u-1', name: 'Ada Lovelace', email: 'ada@example.com' },
  { id: 'u-2', name: 'Grace Hopper', email: 'grace@example.com' },
  { id: 'u-3', name: 'Jane Doe', email: 'jane@example.com' },
  { id: 'u-4', name: 'Mary Somerville', email: 'mary@example.com' },
]
const AGENTS = ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'shop-app/5.2 (iOS 19.1)']
const ROUTES = [
  { method: 'GET', route: '/products', usualMs: 18 },
  { method: 'GET', route: '/products/:sku', usualMs: 25 },
  { method: 'GET', route: '/cart', usualMs: 12 },
  { method: 'DELETE', route: '/cart/items/:id', usualMs: 30 },
  { method: 'GET', route: '/orders/:id', usualMs: 45 },
] as const

const iso = (ms: number): string => new Date(ms).toISOString()
const hex = (random: Random, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
const oneOf = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** Creates an order: the shop calls inventory and payments in one trace. Includes request logs of the customer's earlier requests. */
export function orderTrace({
  atMs,
  order,
  random,
  isFailing,
}: {
  atMs: number
  order: number
  random: Random
  isFailing: boolean
}): {
  readonly logs: readonly LogEntry[]
  readonly requests: readonly RequestLog[]
} {
  const trace_id = hex(random, 32)
  const request_id = `req-${hex(random, 8)}`
  const user = oneOf(random, CUSTOMERS)
  const durationMs = Math.round(80 + random() ** 3 * (isFailing ? 2400 : 700))
  const count = 1 + (order % 4)
  const logs: LogEntry[] = []
  const log = (afterMs: number, service: string, level: Level, message: string, more: Partial<LogEntry>): void =>
    void logs.push({
      ...{ level, message, timestamp: iso(atMs + afterMs), service, request_id, user, session_id: `s-${user.id}` },
      trace: { trace_id, span_id: hex(random, 16) },
      ...more,
    })
  log(0, 'web-shop', 'debug', `cart of ${user.name} read from the cache`, { metadata: { items: count, cached: true } })
  log(12, 'inventory', 'info', `reserved mug ×${count} in warehouse ${oneOf(random, ['north', 'south'])}`, {
    metadata: { sku: 'mug-blue', quantity: count },
  })
  if (isFailing) log(durationMs - 20, 'payments', 'error', `payment of order ${order} failed`, declined(order))
  else
    log(30, 'payments', 'info', 'payment authorized', {
      metadata: { amountCents: 1299 * count, currency: 'EUR' },
      tags: ['payments'],
    })
  if (durationMs > 600)
    log(durationMs, 'web-shop', 'warn', `order took ${durationMs} ms, longer than 600 ms`, {
      perf: { duration_ms: durationMs, memory_mb: 212.4, db_queries: 14, cache_hits: 3 },
      tags: ['slow'],
    })
  const status_code = isFailing ? 502 : 201
  log(durationMs, 'web-shop', isFailing ? 'error' : 'info', isFailing ? 'request errored' : 'request completed', {
    request: {
      ...{ method: 'POST', path: '/orders', url: '/orders?voucher=SPRING', status_code, duration_ms: durationMs },
      ...{ ip: `203.0.113.${order % 250}`, user_agent: oneOf(random, AGENTS) },
    },
    metadata: { orderId: order },
  })
  const about = { host: 'shop-1', service: 'web-shop', environment: 'production' }
  const requests: RequestLog[] = [
    {
      ...{ method: 'POST', path: '/orders', route: '/orders', status_code, duration_ms: durationMs, request_id },
      ...{ timestamp: iso(atMs + durationMs), ...about },
    },
  ]
  for (let n = 0; n < 3; n += 1) {
    const { method, route, usualMs } = oneOf(random, ROUTES)
    const status = random() < 0.04 ? oneOf(random, [404, 404, 500]) : 200
    requests.push({
      ...{ method, route, path: route.replace(/:\w+/, String(order % 40)), status_code: status },
      duration_ms: Math.round(usualMs * (0.6 + random() ** 4 * 9) * 10) / 10,
      ...{ request_id: `req-${hex(random, 12)}`, timestamp: iso(atMs - n * 4000), ...about },
    })
  }
  return { logs, requests }
}

function declined(order: number): Partial<LogEntry> {
  return {
    tags: ['payments'],
    error: {
      type: 'GatewayError',
      message: `gateway answered 503 for order ${order}`,
      stack: `GatewayError: gateway answered 503 for order ${order}
    at charge (file:///srv/shop/src/payments/gateway.js:88:11)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async placeOrder (file:///srv/shop/src/orders/place.js:41:19)`,
    },
    metadata: { orderId: order, gateway: 'eu-2', attempt: 2 },
  }
}

export function noTotal(atMs: number, random: Random): LogEntry {
  const user = oneOf(random, CUSTOMERS)
  return {
    level: 'error',
    message: 'the cart cannot be shown',
    timestamp: iso(atMs),
    service: 'web-shop',
    user,
    error: {
      type: 'TypeError',
      message: "Cannot read properties of undefined (reading 'total')",
      stack: `TypeError: Cannot read properties of undefined (reading 'total')
    at totalOf (/srv/shop/src/cart/total.js:17:22)
    at Array.map (<anonymous>)
    at renderCart (/srv/shop/src/cart/page.js:52:30)
    at Layer.handleRequest (/srv/shop/node_modules/router/lib/layer.js:152:17)
    at next (/srv/shop/node_modules/router/lib/route.js:157:13)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`,
    },
    request: { method: 'GET', path: '/cart', status_code: 500, duration_ms: 14.2 },
  }
}

export function noCarrier(atMs: number): LogEntry {
  return {
    level: 'error',
    message: 'no carrier takes the parcel',
    timestamp: iso(atMs),
    service: 'shipping',
    fingerprint: 'no-carrier',
    error: {
      type: 'AggregateError',
      message: 'All promises were rejected',
      stack: `AggregateError: All promises were rejected
    at askCarriers (file:///srv/shop/src/shipping/offers.js:23:10)
[errors 0]: Error: NorthPost is closed
    at ask (file:///srv/shop/src/shipping/offers.js:20:11)
[errors 1]: Error: QuickShip timed out
    at ask (file:///srv/shop/src/shipping/offers.js:20:11)`,
    },
  }
}

export function poolExhausted(atMs: number): LogEntry {
  return {
    level: 'fatal',
    message: 'no database connection for 30 s: the shop stops',
    timestamp: iso(atMs),
    service: 'web-shop',
    error: {
      type: 'PoolExhaustedError',
      message: '20 of 20 connections are in use',
      stack:
        'PoolExhaustedError: 20 of 20 connections are in use\n    at Pool.acquire (/srv/shop/node_modules/pg-pool/index.js:45:11)',
    },
    notify: true,
    notify_channels: ['on-call', 'email'],
    source: 'src/db/pool.js:31',
    perf: { memory_mb: 1480.5 },
  }
}

/** Creates the entries of the other services in the trace of `cardDeclined`. */
export function aroundCardDeclined(atMs: number): readonly LogEntry[] {
  const one = (
    offsetMs: number,
    service: string,
    entry: Pick<LogEntry, 'level' | 'message'> & Partial<LogEntry>,
  ): LogEntry => ({
    timestamp: iso(atMs + offsetMs),
    service,
    request_id: 'req-rich',
    ...entry,
    trace: { trace_id: RICH_TRACE, ...entry.trace },
  })
  const root = '53995c3f42cd8ad8'
  const reservation = { span_id: 'b7ad6b7169203331', parent_span_id: root }
  const payment = { span_id: '00f067aa0ba902b7', parent_span_id: root }
  return [
    one(-1308, 'web-shop', {
      level: 'debug',
      message: 'cart of Jane Doe read from the database',
      perf: { db_queries: 3 },
    }),
    one(-1290, 'inventory', { level: 'info', message: 'reserved mug ×4 in warehouse north', trace: reservation }),
    one(-1284, 'payments', {
      level: 'info',
      message: 'payment started',
      metadata: { amountCents: 4896 },
      trace: payment,
    }),
    one(-40, 'inventory', { level: 'info', message: 'reservation released', trace: reservation }),
    one(25, 'web-shop', {
      level: 'warn',
      message: 'request completed',
      trace: { span_id: root },
      request: { method: 'POST', path: '/orders', status_code: 402, duration_ms: 1333 },
    }),
  ]
}

/** Creates the entry with all fields. */
export function cardDeclined(atMs: number): LogEntry {
  const crumb = (beforeMs: number, fields: Breadcrumb): Breadcrumb => ({ timestamp: iso(atMs - beforeMs), ...fields })
  return {
    level: 'error',
    message: 'the order of Jane Doe could not be paid',
    timestamp: iso(atMs),
    service: 'payments',
    environment: 'production',
    version: '2.7.0',
    user_id: 'u-3',
    user: { id: 'u-3', name: 'Jane Doe', email: 'jane@example.com' },
    session_id: 's-u-3',
    request_id: 'req-rich',
    action: 'order.pay',
    source: 'src/payments/pay.js:64',
    tags: ['payments', 'checkout', 'vip'],
    trace: { trace_id: RICH_TRACE, span_id: '00f067aa0ba902b7', parent_span_id: '53995c3f42cd8ad8' },
    request: {
      method: 'POST',
      url: 'https://shop.example.com/orders?voucher=SPRING',
      path: '/orders',
      status_code: 402,
      duration_ms: 1284.6,
      ip: '203.0.113.9',
      user_agent: AGENTS[0] as string,
    },
    perf: { duration_ms: 1284.6, memory_mb: 187.2, db_queries: 9, cache_hits: 4 },
    deploy: { commit: '41d0aa97c3be5f2d1e8a6b7c9d0e1f2a3b4c5d6e', branch: 'release/2.7', deployed_by: 'grace' },
    error: {
      type: 'CardDeclinedError',
      message: 'card declined: limit reached',
      stack: `CardDeclinedError: card declined: limit reached
    at charge (file:///srv/shop/src/payments/charge.js:31:11)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async pay (file:///srv/shop/src/payments/pay.js:64:18)
    at async placeOrder (file:///srv/shop/src/orders/place.js:41:19)
    at async Layer.handleRequest (/srv/shop/node_modules/router/lib/layer.js:152:17)
    at async next (/srv/shop/node_modules/router/lib/route.js:157:13)
    at async /srv/shop/node_modules/pino-http/logger.js:204:5
caused by: HttpError: 402 Payment Required
    at Gateway.post (/srv/shop/node_modules/@acme/gateway/dist/client.js:118:13)
    at async charge (file:///srv/shop/src/payments/charge.js:24:20)`,
    },
    breadcrumbs: [
      crumb(9210, { type: 'navigation', category: 'ui', message: 'opened the cart', level: 'info' }),
      crumb(7034, {
        category: 'cart',
        message: 'voucher applied',
        level: 'info',
        data: { voucher: 'SPRING', discountCents: 300 },
      }),
      crumb(1310, { category: 'log', message: 'payment started', level: 'debug' }),
      crumb(1260, {
        type: 'http',
        category: 'http',
        message: 'POST https://gateway.example.com/v2/charges',
        level: 'warn',
        data: { status_code: 402, duration_ms: 1180 },
      }),
      crumb(60, { category: 'log', message: 'the gateway refused, and will not be asked again', level: 'warn' }),
    ],
    metadata: {
      event_id: 'evt-card-declined',
      orderId: 4711,
      cart: {
        currency: 'EUR',
        totalCents: 5196,
        items: [{ sku: 'mug-blue', quantity: 4, price: { cents: 1299, tax: 0.19 } }],
      },
      retryable: false,
      gatewayRequestId: null,
      note: 'A longer text that somebody wrote into a field, to see how the tree shows what does not fit into one line of it. '
        .repeat(4)
        .trim(),
    },
  }
}

export const RICH_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
