/** A short day at the shop: what its customers ask for, and the status that each of them gets. */
import { startSpan, traceparentOf } from './trace.mjs'

const AT_ONCE = 4

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
  ...times(2, order('ada', 'mug', 'broken'), 502),
  ...times(2, get('/shipping-offers'), 500),
  ...times(2, get('/labels/gift-card'), 502),
  ...times(6, get('/products'), 200),
]

/** @returns how many requests were sent, and those that were not answered as they should have been, in words */
export async function driveTraffic(shopUrl) {
  const waiting = [...DAY]
  const surprises = []
  const customer = async () => {
    for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
      const { method, path, body, status } = request
      const response = await fetch(shopUrl + path, {
        method,
        headers: { 'user-agent': 'shop-web/3.1', 'traceparent': traceparentOf(startSpan()) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      await response.arrayBuffer()
      if (response.status !== status) surprises.push(`${method} ${path} was answered ${response.status}, not ${status}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, customer))
  return { count: DAY.length, surprises }
}
