/**
 * The requests to each shop of `apps/frameworks`: an order, one whose handler throws, and a page that does not exist.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

export const USER_AGENT = 'matrix-browser/1.0'
/** Values of headers that must not be sent. */
export const SECRETS = /** @type {const} */ (['b-4711', 'c-4711', 'h-4711'])
/** Value of a parameter that must not be sent. */
export const TOKEN = 'q-4711'
const PATHS = /** @type {const} */ ([
  [`/orders/7?page=2&token=${TOKEN}`, 200],
  ['/orders/13', 500],
  ['/nowhere', 404],
])

/**
 * @typedef {object} Visit
 * @property {string} path without the query
 * @property {number} status
 * @property {string} requestId sent as `x-request-id`
 * @property {string} traceId sent in `traceparent`
 * @property {string | undefined} spanId of the server's span, if the reply names it
 * @property {number} from time of sending, in ms since the epoch
 */

/**
 * Throws if the server does not listen or replies with another status. @param {string} base @returns
 * {Promise<Visit[]>}
 */
export async function visit(base) {
  /** @type {Visit[]} */
  const visits = []
  for (const [url, status] of PATHS) {
    const { headers, ...ids } = identified()
    const from = Date.now()
    const response = await fetch(base + url, { headers })
    const text = await response.text()
    if (response.status !== status) throw new Error(`${url} was answered with ${response.status}`)
    const spanId = /"span_id":"(\w+)"/.exec(text)?.[1]
    visits.push({ path: url.split('?')[0] ?? '', status, ...ids, spanId, from })
  }
  // A server logs the end of a request after the reply.
  await sleep(200)
  return visits
}

function identified() {
  const requestId = randomUUID()
  const traceId = randomBytes(16).toString('hex')
  const headers = {
    'user-agent': USER_AGENT,
    authorization: 'Bearer b-4711',
    cookie: 'sid=c-4711',
    'x-internal': 'h-4711',
    'x-request-id': requestId,
    traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
  }
  return { headers, requestId, traceId }
}
