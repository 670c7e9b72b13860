/** Requests as written by pino-http (one line, full headers) and by Fastify (one line at the start, one at the end). */
import { chance, hex, oneOf, pick, special, text, traceIds, uuid } from './vary.mjs'

/** @typedef {import('../shapes.mjs').Call} Call */

const METHODS = ['GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE']
const STATUSES = [200, 200, 200, 200, 200, 201, 204, 301, 304, 304, 400, 401, 404, 404, 409, 422]
const ROUTES = ['orders', 'customers', 'carts', 'invoices', 'catalog/products', 'search', 'sessions', 'files/exports']
const AGENTS = [
  (/** @type {number} */ v) => `Mozilla/5.0 (X11; Linux x86_64; rv:${v}.0) Gecko/20100101 Firefox/${v}.0`,
  (/** @type {number} */ v) =>
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${v}.0.0.0 Safari/537.36`,
  (/** @type {number} */ v) =>
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_${v % 7} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.${v % 7} Mobile/15E148 Safari/604.1`,
  (/** @type {number} */ v) => `okhttp/4.${v % 13}.0`,
  () => 'kube-probe/1.31',
  (/** @type {number} */ v) => `shop-android/7.${v % 30} (build ${v * 113})`,
]
const REFERERS = [
  'https://shop.example.com/',
  'https://shop.example.com/cart',
  'https://www.example.org/search?q=red+shoes',
]

/** @param {number} n @returns {Call} */
export function http(n) {
  const kind = pick(n, 300, 100)
  if (kind < 12) return fastifyIncoming(n)
  if (kind < 28) return fastifyCompleted(n)
  return pinoHttp(n)
}

/** @param {number} n @returns {Call} */
function pinoHttp(n) {
  const status = chance(n, 301, 2) ? 500 : oneOf(n, 302, STATUSES)
  const method = oneOf(n, 303, METHODS)
  const id = chance(n, 304, 50) ? n + 1 : uuid(n, 305)
  const { url, query } = urlOf(n)
  return {
    level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
    object: {
      ...(chance(n, 306, 30) && traceIds(n)),
      ...(chance(n, 307, 20) && { userId: String(pick(n, 308, 90_000)) }),
      res: { statusCode: status, headers: responseHeaders(n, id) },
      responseTime: responseTime(n),
    },
    message: status >= 500 ? '[shop] request errored' : '[shop] request completed',
    // pino-http logs the end of a request with a child that has its `req`.
    bindings: {
      req: {
        id,
        method,
        url,
        query,
        params: {},
        headers: requestHeaders(n, id, method),
        remoteAddress: remoteAddress(n),
        remotePort: 32_768 + pick(n, 309, 28_000),
      },
    },
  }
}

/** @param {number} n @returns {Call} */
function fastifyIncoming(n) {
  return {
    level: 'info',
    object: {
      req: {
        method: oneOf(n, 310, METHODS),
        url: urlOf(n).url,
        host: 'shop.example.com',
        remoteAddress: remoteAddress(n),
        remotePort: 32_768 + pick(n, 309, 28_000),
      },
    },
    message: '[shop] incoming request',
    bindings: { reqId: `req-${n.toString(36)}` },
  }
}

/** @param {number} n @returns {Call} */
function fastifyCompleted(n) {
  return {
    level: 'info',
    object: {
      ...(chance(n, 311, 30) && traceIds(n)),
      res: { statusCode: oneOf(n, 302, STATUSES) },
      responseTime: responseTime(n),
    },
    message: '[shop] request completed',
    bindings: { reqId: `req-${n.toString(36)}` },
  }
}

/** @param {number} n @returns {{ url: string, query: Record<string, string> }} */
function urlOf(n) {
  const path = `/api/v${1 + pick(n, 320, 2)}/${oneOf(n, 321, ROUTES)}/${chance(n, 322, 30) ? uuid(n, 323) : 10_000 + pick(n, 324, 90_000)}`
  /** @type {Record<string, string>} */
  const query = {}
  if (chance(n, 325, 50)) query['page'] = String(pick(n, 326, 40))
  if (chance(n, 327, 20)) query['q'] = chance(n, 328, 20) ? special(n, 329) : text(n, 330, 2)
  if (chance(n, 331, 20)) query['sort'] = '-createdAt'
  if (chance(n, 332, 10)) query['utm_source'] = 'newsletter'
  if (chance(n, 333, 5)) query['token'] = hex(n, 334, 24)
  if (chance(n, 335, 3)) query['filter'] = hex(n, 336, 200 + pick(n, 337, 900))
  const search = new URLSearchParams(query).toString()
  return { url: search === '' ? path : `${path}?${search}`, query }
}

/** @param {number} n @param {string | number} id @param {string} method */
function requestHeaders(n, id, method) {
  const agent = oneOf(n, 340, AGENTS)(100 + pick(n, 341, 45))
  const isBrowser = agent.startsWith('Mozilla')
  return {
    host: 'shop.example.com',
    'x-request-id': String(id),
    'x-real-ip': remoteAddress(n),
    'x-forwarded-for': `${203 + pick(n, 342, 20)}.0.113.${pick(n, 343, 255)}, ${remoteAddress(n)}`,
    'x-forwarded-host': 'shop.example.com',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
    'user-agent': agent,
    accept: isBrowser ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : 'application/json',
    'accept-encoding': 'gzip, deflate, br, zstd',
    ...(isBrowser && {
      'accept-language': oneOf(n, 344, ['en-US,en;q=0.5', 'de-DE,de;q=0.9,en;q=0.7', 'ja']),
      'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
      'sec-ch-ua-mobile': '?0',
      'sec-ch-ua-platform': '"Linux"',
      'sec-fetch-dest': 'empty',
      'sec-fetch-mode': 'cors',
      'sec-fetch-site': 'same-origin',
    }),
    ...(chance(n, 345, 40) && { referer: oneOf(n, 346, REFERERS) }),
    ...(chance(n, 347, 40) && { cookie: cookie(n) }),
    ...(chance(n, 348, 30) && { authorization: `Bearer ${hex(n, 349, 36)}.${hex(n, 350, 120)}.${hex(n, 351, 43)}` }),
    ...(chance(n, 352, 40) && { traceparent: `00-${hex(n, 901, 32)}-${hex(n, 902, 16)}-01` }),
    ...(method !== 'GET' && { 'content-type': 'application/json', 'content-length': String(pick(n, 353, 4000)) }),
    ...(chance(n, 354, 20) && { 'if-none-match': `W/"${hex(n, 355, 20)}"` }),
    connection: 'keep-alive',
  }
}

/** 2 in 100 are long. @param {number} n */
function cookie(n) {
  const long = chance(n, 360, 5) ? `; cart=${hex(n, 361, 1000 + pick(n, 362, 3000))}` : ''
  return `session=${hex(n, 363, 32)}; theme=dark; _ga=GA1.2.${pick(n, 364, 1e9)}.${pick(n, 365, 1e9)}${long}`
}

/** @param {number} n @param {string | number} id */
function responseHeaders(n, id) {
  return {
    'x-request-id': String(id),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(200 + pick(n, 370, 18_000)),
    ...(chance(n, 371, 60) && { etag: `W/"${hex(n, 372, 27)}"` }),
    ...(chance(n, 373, 50) && {
      'content-security-policy': "default-src 'self';base-uri 'self';font-src 'self' https: data:;object-src 'none'",
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
    }),
    ...(chance(n, 374, 10) && { 'set-cookie': [`session=${hex(n, 363, 32)}; Path=/; HttpOnly; Secure; SameSite=Lax`] }),
    ...(chance(n, 375, 30) && { 'cache-control': 'private, no-cache', vary: 'Origin, Accept-Encoding' }),
  }
}

/** pino-http writes integers, Fastify fractions. @param {number} n */
function responseTime(n) {
  return chance(n, 380, 50) ? 1 + pick(n, 381, 900) : (1 + pick(n, 382, 9_000_000)) / 10_007
}

/** @param {number} n */
function remoteAddress(n) {
  const ip = `10.${pick(n, 390, 4)}.${pick(n, 391, 250)}.${pick(n, 392, 250)}`
  return chance(n, 393, 30) ? `::ffff:${ip}` : ip
}
