/** Three shapes of record, written by pino itself; what varies in production varies here, so that no cache looks too good. */
import pino from 'pino'
import { LineSplitter } from '../../dist/esm/record/line-splitter.js'

/**
 * @typedef {'small' | 'http' | 'error'} Shape
 * @typedef {{ level: 'debug' | 'info' | 'warn' | 'error', object: Record<string, unknown>, message: string }} Call one call of a logger
 * @typedef {{ text: string, start: number, end: number }} Line a record as a range of its chunk
 */

/** @type {Readonly<Record<Shape, { make: (n: number) => Call, meaning: string }>>} */
export const SHAPES = {
  small: { make: small, meaning: 'a number and a message' },
  http: { make: http, meaning: 'a request as pino-http writes it' },
  error: { make: error, meaning: 'an error with its stack' },
}

/** In production neither is the machine's own. */
export const BASE = { pid: 4242, hostname: 'web-1' }

const START_MS = Date.UTC(2026, 10, 21)
/** 5,000 records a second. */
const RECORDS_PER_MS = 5
/** thread-stream hands over what has gathered: little when it keeps up, at most its ring of 4 MiB when it does not. */
const CHUNK_BYTES = [64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024]

/** @param {number} n @returns {Call} */
function small(n) {
  return { level: n % 20 === 7 ? 'warn' : 'info', object: { orderId: 100_000 + n }, message: 'order placed' }
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT']
const ROUTES = ['orders', 'customers', 'carts', 'invoices']
const STATUSES = [200, 200, 200, 201, 304, 404]

/** @param {number} n @returns {Call} */
function http(n) {
  return {
    level: 'info',
    object: {
      req: {
        id: n + 1,
        method: METHODS[n % 5],
        url: `/api/${ROUTES[n % 4]}/${10_000 + ((n * 7919) % 90_000)}?page=${n % 9}`,
        headers: {
          host: 'shop.example.com',
          connection: 'keep-alive',
          accept: 'application/json',
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:${120 + (n % 20)}.0) Gecko/20100101 Firefox/${120 + (n % 20)}.0`,
        },
        remoteAddress: `10.0.${n % 16}.${n % 251}`,
        remotePort: 32_768 + ((n * 31) % 28_000),
      },
      res: {
        statusCode: STATUSES[n % 6],
        headers: { 'content-type': 'application/json', 'content-length': `${200 + ((n * 17) % 1800)}` },
      },
      responseTime: 1 + ((n * 13) % 240),
    },
    message: 'request completed',
  }
}

const FRAMES = [
  'at PaymentGateway.charge (/srv/app/src/payment/gateway.js:%:17)',
  'at async Checkout.pay (/srv/app/src/checkout/checkout.js:%:22)',
  'at async Checkout.complete (/srv/app/src/checkout/checkout.js:%:5)',
  'at async postOrder (/srv/app/src/routes/orders.js:%:20)',
  'at async Object.withTransaction (/srv/app/src/database/transaction.js:%:18)',
  'at async handle (/srv/app/node_modules/router/lib/layer.js:%:9)',
  'at async next (/srv/app/node_modules/router/lib/route.js:%:13)',
  'at async Route.dispatch (/srv/app/node_modules/router/lib/route.js:%:3)',
  'at async authenticate (/srv/app/src/middleware/authenticate.js:%:7)',
  'at async requestContext (/srv/app/src/middleware/request-context.js:%:11)',
  'at async rateLimit (/srv/app/src/middleware/rate-limit.js:%:5)',
  'at async Server.onRequest (/srv/app/src/server.js:%:14)',
  'at async process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
]

/** @param {number} n @returns {Call} */
function error(n) {
  const err = Object.assign(new TypeError(`card ${1000 + (n % 9000)} was declined by "issuer ${n % 40}"`), {
    code: 'E_DECLINED',
    attempt: n % 3,
  })
  const frames = FRAMES.map((frame, depth) => frame.replace('%', String(20 + ((n * (depth + 3)) % 400))))
  err.stack = [`TypeError: ${err.message}`, ...frames].join('\n    ')
  return { level: 'error', object: { err, orderId: 100_000 + n }, message: 'payment failed' }
}

/**
 * 200 requests at once: each logs ten debug lines beside the others', one in ten fails, and all end.
 *
 * @type {readonly Call[]}
 */
export const REQUESTS = [
  ...Array.from(
    { length: 10 * 200 },
    (_, n) =>
      /** @type {Call} */ ({
        level: 'debug',
        object: { reqId: `req-${n % 200}`, step: Math.floor(n / 200), table: 'orders' },
        message: 'row read from the database',
      }),
  ),
  ...Array.from({ length: 200 }, (_, id) =>
    id % 10 === 0
      ? { ...error(id), object: { reqId: `req-${id}`, ...error(id).object } }
      : { ...small(id), object: { reqId: `req-${id}`, ...small(id).object } },
  ),
]

/**
 * The records as the worker gets them: flat strings, cut anywhere.
 *
 * @param {Shape} shape @param {number} records @returns {string[]}
 */
export function chunksOf(shape, records) {
  let written = ''
  let n = 0
  const timestamp = () => `,"time":${START_MS + Math.floor(n / RECORDS_PER_MS)}`
  const logger = pino(
    { base: BASE, timestamp },
    {
      write: (line) => {
        written += line
      },
    },
  )
  for (; n < records; n += 1) {
    const { level, object, message } = SHAPES[shape].make(n)
    logger[level](object, message)
  }
  const bytes = Buffer.from(written)
  const chunks = []
  for (let at = 0; at < bytes.length;) {
    const size = /** @type {number} */ (CHUNK_BYTES[chunks.length % CHUNK_BYTES.length])
    chunks.push(bytes.toString('utf8', at, at + size))
    at += size
  }
  return chunks
}

/** @param {readonly string[]} chunks @returns {Line[]} */
export function linesOf(chunks) {
  /** @type {Line[]} */
  const lines = []
  const splitter = new LineSplitter((text, start, end) => lines.push({ text, start, end }))
  for (const chunk of chunks) splitter.write(chunk)
  splitter.end()
  return lines
}
