/** Groups requests that failed with a status by route. */
import { expect, it } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { findFailedRoute } from '../../../src/service/store/failed-route.js'
import { computeFingerprint } from '../../../src/service/store/group-fingerprint.js'
import { entryOf } from '../support.js'

const STACK = 'Error: failed with status code 500\n    at onResFinished (/app/node_modules/pino-http/logger.js:115:39)'
/** Creates an entry like the one that pino-http logs for a reply with status 500. */
const failed = (method: string, url: string, fields: Partial<LogEntry> = {}): LogEntry =>
  entryOf({
    level: 'error',
    message: 'request errored',
    error: { type: 'Error', message: 'failed with status code 500', stack: STACK },
    request: { method, url, path: url.split('?')[0] ?? '' },
    ...fields,
  })

it.each([
  [failed('GET', '/orders/1017?page=2'), 'GET /orders/*'],
  [failed('POST', '/api/v1/users/u-42/carts/5f3a9c1e07b2'), 'POST /api/v1/users/*/carts/*'],
  [failed('GET', '/files/0190b2f0-7a61-7bbb-8d5a-111111111111'), 'GET /files/*'],
  [failed('GET', '/orders/1', { metadata: { route: '/orders/:id' } }), 'GET /orders/:id'],
  [failed('GET', '/', { request: { url: 'https://shop.example.com/orders/9?a' } }), '/orders/*'],
  [failed('GET', '/', { request: { method: 'GET' } }), undefined],
  [failed('GET', '/orders', { error: { message: 'failed with status code 500 of upstream' } }), undefined],
  [entryOf({ request: { path: '/orders' } }), undefined],
])('%#', (entry, route) => {
  expect(findFailedRoute(entry)).toBe(route)
})

it('creates one group per route and status', () => {
  const of = (...entries: LogEntry[]) => new Set(entries.map(computeFingerprint)).size
  expect(of(failed('GET', '/orders/1'), failed('GET', '/orders/2?a=b'))).toBe(1)
  expect(of(failed('GET', '/orders/1'), failed('POST', '/orders/1'), failed('GET', '/users/1'))).toBe(3)
  const badGateway = { error: { type: 'Error', message: 'failed with status code 502', stack: STACK } }
  expect(of(failed('GET', '/orders/1'), failed('GET', '/orders/1', badGateway))).toBe(2)
  expect(computeFingerprint(failed('GET', '/orders/1', { fingerprint: 'own' }))).toBe('own')
})
