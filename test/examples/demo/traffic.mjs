/** Requests of the customers with their expected status: a short day, then a slow evening. */
import { startSpan, traceparentOf } from './trace.mjs'

const AT_ONCE = 4
const EVERY_MS = 1_000

const order = (customer, sku, card = 'good') => ({ method: 'POST', path: '/orders', body: { customer, sku, card } })
const get = (path) => ({ method: 'GET', path })
const times = (count, request, status) => Array.from({ length: count }, () => ({ ...request, status }))

const DAY = [
  ...times(6, get('/products'), 200),
  ...times(8, order('ada', 'mug'), 201),
  ...times(2, order('grace', 'poster'), 201),
  ...times(4, get('/orders/1001'), 200),
  ...times(2, order('grace', 'gift-card'), 409),
  ...times(3, get('/orders/9999'), 404),
  ...times(1, get('/reports/daily'), 200),
  ...times(2, order('grace', 'mug', 'no-funds'), 402),
  ...times(1, { ...order('ada', 'mug', 'broken'), says: 'I paid twice, and have no mug.' }, 502),
  ...times(1, order('ada', 'mug', 'broken'), 502),
  ...times(2, get('/shipping-offers'), 500),
  ...times(2, get('/labels/gift-card'), 502),
  ...times(6, get('/products'), 200),
]

const EVENING = [
  ...times(3, order('ada', 'mug'), 201),
  ...times(1, get('/products'), 200),
  ...times(2, order('grace', 'mug'), 201),
  ...times(1, get('/orders/1001'), 200),
  ...times(1, order('grace', 'mug', 'no-funds'), 402),
  ...times(2, order('ada', 'mug'), 201),
  ...times(1, order('grace', 'gift-card'), 409),
  ...times(1, order('ada', 'mug', 'broken'), 502),
]

/** @returns the number of requests, and descriptions of unexpected replies */
export async function driveTraffic(shopUrl) {
  const waiting = [...DAY]
  const surprises = []
  let count = 0
  const customer = async () => {
    for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
      count += 1
      const { eventId } = await sendRequest(shopUrl, request, surprises)
      if (request.says !== undefined) waiting.push(feedback(eventId, request.says))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, customer))
  return { count, surprises }
}

/** Sends one request per second. @returns function that stops it and returns descriptions of failures */
export function startSlowTraffic(shopUrl) {
  const surprises = []
  const underWay = new Set()
  let next = 0
  const timer = setInterval(() => {
    const request = EVENING[next % EVENING.length]
    next += 1
    const sent = sendRequest(shopUrl, request, surprises)
      .catch((error) => void surprises.push(`${request.method} ${request.path} was not answered: ${error.message}`))
      .finally(() => underWay.delete(sent))
    underWay.add(sent)
  }, EVERY_MS)
  return async () => {
    clearInterval(timer)
    await Promise.all(underWay)
    return [...new Set(surprises)]
  }
}

function feedback(eventId, comments) {
  return {
    method: 'POST',
    path: '/feedback',
    body: { eventId, comments, name: 'Ada', email: 'ada@example.com' },
    status: 202,
  }
}

async function sendRequest(shopUrl, { method, path, body, status }, surprises) {
  const response = await fetch(shopUrl + path, {
    method,
    headers: { 'user-agent': 'shop-web/3.1', traceparent: traceparentOf(startSpan()) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (response.status !== status) surprises.push(`${method} ${path} was answered ${response.status}, not ${status}`)
  return answer
}
