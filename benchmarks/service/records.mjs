/**
 * The records of a shop in six hours: of 100 entries 60 are small, 25 about a request, and 15 errors with stack and
 * breadcrumbs. Deterministic by number, with values in random order as in production.
 */

/**
 * @typedef {import('../../src/protocol/log-entry.js').LogEntry} LogEntry
 * @typedef {import('../../src/protocol/resources.js').RequestLog} RequestLog
 */

const END_MS = Date.UTC(2026, 10, 21, 12)
const SPAN_MS = 6 * 3_600_000
const NAMES = 20
const TRACES = 5_000
const USERS = 2_000

/** @param {string} word @param {number} count @returns {string[]} */
const names = (word, count) => Array.from({ length: count }, (_, n) => `${word}-${n + 1}`)
const SERVICES = names('service', NAMES)
const TAGS = names('tag', NAMES)
const VERSIONS = Array.from({ length: NAMES }, (_, n) => `1.${n}.0`)
export const RELEASES = Array.from({ length: NAMES }, (_, n) => `rel_bench_${n}`)
const ENVIRONMENTS = ['production', 'production', 'production', 'staging', 'development']
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT']
const RESOURCES = ['orders', 'customers', 'carts', 'invoices', 'products', 'shipments', 'returns', 'prices']
const STATUSES = [200, 200, 200, 200, 200, 201, 304, 400, 404, 500]
const FAILURES = ['charge', 'refund', 'reserve', 'release', 'print', 'mail', 'render', 'parse', 'connect', 'authorize']
const MESSAGES = ['order placed', 'cart changed', 'mail queued', 'cache filled', 'stock synchronized']

/**
 * A pseudo-random integer below `below`, the same for the same `n` and `salt` (the mixing of MurmurHash3). @param
 * {number} n @param {number} salt @param {number} below
 */
function pick(n, salt, below) {
  let hash = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % below
}

/** @template T @param {readonly T[]} values @param {number} n @param {number} salt @returns {T} */
function one(values, n, salt) {
  return /** @type {T} */ (values[pick(n, salt, values.length)])
}

/** @param {number} n @param {number} count @returns {string} */
function time(n, count) {
  return new Date(END_MS - SPAN_MS + Math.floor((n / count) * SPAN_MS) + pick(n, 1, 500)).toISOString()
}

/** @param {number} n @returns {string} 32 hexadecimal digits */
export function traceId(n) {
  return [1, 2, 3, 4]
    .map((salt) =>
      pick(n, salt, 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')
}

/** @param {number} n @param {number} count of how many @returns {LogEntry} */
export function entry(n, count) {
  const share = pick(n, 2, 100)
  const version = pick(n, 3, NAMES)
  const common = {
    timestamp: time(n, count),
    service: one(SERVICES, n, 4),
    environment: one(ENVIRONMENTS, n, 5),
    version: /** @type {string} */ (VERSIONS[version]),
    release_id: /** @type {string} */ (RELEASES[version]),
    tags: pick(n, 6, 2) === 0 ? [one(TAGS, n, 7)] : [one(TAGS, n, 7), one(TAGS, n, 8)],
    trace: { trace_id: traceId(pick(n, 9, TRACES)), span_id: `span-${pick(n, 41, 6)}` },
  }
  if (share < 60) return { ...common, ...small(n) }
  return share < 85 ? { ...common, ...request(n) } : { ...common, ...error(n) }
}

/** @param {number} n @returns {Pick<LogEntry, 'level' | 'message' | 'metadata'>} */
function small(n) {
  const level = /** @type {const} */ (['debug', 'info', 'info', 'info', 'warn'])[pick(n, 10, 5)] ?? 'info'
  return { level, message: one(MESSAGES, n, 11), metadata: { event_id: `evt_${n}`, order_id: 100_000 + n, pid: 4242 } }
}

/** @param {number} n @returns {Partial<LogEntry> & Pick<LogEntry, 'level' | 'message'>} */
function request(n) {
  const path = `/api/${one(RESOURCES, n, 12)}/${10_000 + pick(n, 13, 90_000)}`
  return {
    level: 'info',
    message: 'request completed',
    request_id: `req-${n}`,
    user_id: `user-${pick(n, 14, USERS)}`,
    request: {
      method: one(METHODS, n, 15),
      url: `https://shop.example.com${path}?page=${n % 9}`,
      path,
      status_code: one(STATUSES, n, 16),
      duration_ms: pick(n, 17, 24_000) / 100,
      ip: `10.0.${n % 16}.${n % 251}`,
      user_agent: `Mozilla/5.0 (X11; Linux x86_64; rv:${120 + (n % 20)}.0) Gecko/20100101 Firefox/${120 + (n % 20)}.0`,
    },
    metadata: {
      event_id: `evt_${n}`,
      remote_port: 32_768 + pick(n, 18, 28_000),
      headers: { accept: 'application/json', 'content-type': 'application/json' },
    },
  }
}

const STACK = [
  'at async Checkout.pay (/srv/app/src/checkout/checkout.js:%:22)',
  'at async Checkout.complete (/srv/app/src/checkout/checkout.js:%:5)',
  'at async postOrder (/srv/app/src/routes/orders.js:%:20)',
  'at async Object.withTransaction (/srv/app/src/database/transaction.js:%:18)',
  'at async handle (/srv/app/node_modules/router/lib/layer.js:%:9)',
  'at async next (/srv/app/node_modules/router/lib/route.js:%:13)',
  'at async authenticate (/srv/app/src/middleware/authenticate.js:%:7)',
  'at async Server.onRequest (/srv/app/src/server.js:%:14)',
  'at async process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
]

/** @param {number} n @returns {Partial<LogEntry> & Pick<LogEntry, 'level' | 'message'>} */
function error(n) {
  const failure = one(FAILURES, n, 19)
  const message = `cannot ${failure} ${1000 + pick(n, 20, 9000)}: declined by "issuer ${pick(n, 21, 40)}"`
  const frames = [`at Gateway.${failure}${pick(n, 22, 10)} (/srv/app/src/${failure}/gateway.js:%:17)`, ...STACK]
  const stack = frames.map((frame, depth) => frame.replace('%', String(20 + pick(n, 23 + depth, 400))))
  return {
    level: pick(n, 40, 20) === 0 ? 'fatal' : 'error',
    message: `${failure} failed`,
    user_id: `user-${pick(n, 14, USERS)}`,
    error: { type: 'GatewayError', message, stack: [`GatewayError: ${message}`, ...stack].join('\n    ') },
    breadcrumbs: Array.from({ length: 10 }, (_, at) => ({
      type: 'log',
      category: 'checkout',
      message: `step ${at} of order ${100_000 + n}`,
      level: 'info',
      timestamp: time(n, 100_000),
      data: { step: at, order_id: 100_000 + n },
    })),
    metadata: { event_id: `evt_${n}`, order_id: 100_000 + n, attempt: n % 3, pid: 4242, hostname: 'web-1' },
  }
}

/** @param {number} n @param {number} count of how many @returns {RequestLog} */
export function requestLog(n, count) {
  const resource = one(RESOURCES, n, 12)
  return {
    method: one(METHODS, n, 15),
    path: `/api/${resource}/${10_000 + pick(n, 13, 90_000)}`,
    route: `/api/${resource}/:id`,
    status_code: one(STATUSES, n, 16),
    duration_ms: pick(n, 17, 240_000) / 1000,
    request_id: `req-${n}`,
    timestamp: time(n, count),
    service: one(SERVICES, n, 4),
    environment: one(ENVIRONMENTS, n, 5),
  }
}
