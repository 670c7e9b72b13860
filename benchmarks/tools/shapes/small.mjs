/** Lines of an application: from a number and a message to wide and nested metadata, and sometimes a payload. */
import { chance, hex, oneOf, pick, special, text, traceIds, uuid } from './vary.mjs'

/** @typedef {import('../shapes.mjs').Call} Call */

const MESSAGES = [
  () => 'order placed',
  (/** @type {number} */ n) => `order ${100_000 + n} placed`,
  (/** @type {number} */ n) => `cache refreshed in ${pick(n, 11, 900)} ms`,
  (/** @type {number} */ n) =>
    `user ${pick(n, 12, 50_000)} signed in from 10.${pick(n, 13, 250)}.4.${pick(n, 14, 250)}`,
  () => 'job finished',
  (/** @type {number} */ n) => `sent mail ${uuid(n, 15)} to ${pick(n, 16, 30)} recipients`,
  (/** @type {number} */ n) => text(n, 17, 4 + pick(n, 18, 20)),
  (/** @type {number} */ n) =>
    `GET /internal/stock?sku=${hex(n, 19, 8)}&page=${pick(n, 20, 40)} took ${pick(n, 21, 90)} ms`,
  (/** @type {number} */ n) => `import of ${special(n, 22)} started`,
]
const MODULES = ['checkout', 'stock', 'mail', 'sessions', 'jobs/nightly']
/** Each key has values of one kind, as in an application. */
const KEYS = /** @type {const} */ ([
  ...keys('count', 'orderId customerId quantity attempt durationMs partition offset shard rows port workerId bytes'),
  ...keys('amount', 'total discount score ratio'),
  ...keys('flag', 'cached retried isTrial'),
  ...keys('time', 'expiresAt createdAt updatedAt'),
  ...keys('word', 'region warehouse carrier queue topic plan variant locale state previousState currency channel'),
  ...keys('id', 'sku sessionKey etag cartId shipmentId'),
  ...keys('text', 'reason note title'),
  ...keys('maybe', 'coupon parentId'),
])

/** @param {number} n @returns {Call} */
export function small(n) {
  const kind = pick(n, 1, 100)
  const level = chance(n, 2, 5) ? 'warn' : 'info'
  const message = `[shop] ${oneOf(n, 3, MESSAGES)(n)}`
  const bindings = bindingsOf(n)
  return { level, object: objectOf(n, kind), message, ...(bindings && { bindings }) }
}

/** Half of an application's loggers are children. @param {number} n */
function bindingsOf(n) {
  if (chance(n, 4, 50)) return undefined
  return {
    module: oneOf(n, 5, MODULES),
    ...(chance(n, 6, 60) && { reqId: chance(n, 7, 50) ? `req-${(n % 46_656).toString(36)}` : uuid(n, 8) }),
    ...(chance(n, 9, 20) && { tenant: `tenant-${pick(n, 10, 200)}` }),
  }
}

/** @param {number} n @param {number} kind @returns {Record<string, unknown>} */
function objectOf(n, kind) {
  const trace = chance(n, 30, 30) ? traceIds(n) : {}
  if (kind < 10) return { ...trace }
  if (kind < 60) return { ...fields(n, 1 + pick(n, 31, 3)), ...trace }
  if (kind < 80) return { ...fields(n, 3 + pick(n, 32, 7)), ...trace }
  if (kind < 94) return { ...fields(n, 1 + pick(n, 33, 3)), order: order(n, 1 + pick(n, 34, 3)), ...trace }
  if (kind < 99) return { ...fields(n, 12 + pick(n, 35, 29)), ...trace }
  return { ...trace, payload: order(n, 12 + pick(n, 36, 30)) }
}

/** @typedef {'count' | 'amount' | 'flag' | 'time' | 'word' | 'id' | 'text' | 'maybe'} Kind */

/** @param {Kind} kind @param {string} names @returns {(readonly [string, Kind])[]} */
function keys(kind, names) {
  return names.split(' ').map((name) => [name, kind])
}

/** @param {number} n @param {number} count */
function fields(n, count) {
  const first = pick(n, 40, KEYS.length)
  // Coprime with the number of keys, so the kinds alternate.
  const step = 7
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const [key, kind] = /** @type {readonly [string, Kind]} */ (KEYS[(first + at * step) % KEYS.length])
      return [key, value(n, kind, 50 + at)]
    }),
  )
}

/** @param {number} n @param {Kind} kind @param {number} salt @returns {unknown} */
function value(n, kind, salt) {
  switch (kind) {
    case 'count':
      return pick(n, salt, 1_000_000)
    case 'amount':
      return pick(n, salt, 100_000) / 100
    case 'flag':
      return chance(n, salt, 50)
    case 'time':
      return new Date(Date.UTC(2026, 10, 21) - pick(n, salt, 1e9)).toISOString()
    case 'word':
      return oneOf(n, salt, ['eur', 'open', 'eu-west-1', 'priority', 'web', 'de'])
    case 'id':
      return hex(n, salt, 12)
    case 'text':
      return text(n, salt, 1 + pick(n, salt + 100, 10))
    case 'maybe':
      return chance(n, salt, 50) ? null : hex(n, salt, 8)
  }
}

/** @param {number} n @param {number} items */
function order(n, items) {
  return {
    id: 100_000 + n,
    customer: {
      id: pick(n, 140, 90_000),
      name: chance(n, 141, 10) ? special(n, 142) : 'Jane Doe',
      vip: chance(n, 143, 5),
    },
    items: Array.from({ length: items }, (_, at) => ({
      sku: hex(n, 150 + at, 10),
      quantity: 1 + pick(n, 160 + at, 5),
      price: pick(n, 170 + at, 20_000) / 100,
      [chance(n, 179, 10) ? 'options' : 'attributes']: chance(n, 180 + at, 30)
        ? { color: 'red', gift: true, note: text(n, 190 + at, 6) }
        : {},
    })),
    tags: ['web', oneOf(n, 200, ['new', 'returning'])],
  }
}
