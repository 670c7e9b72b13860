/**
 * Sends entries at a steady rate from its own process, to not delay the measuring process.
 *
 * Arguments as JSON: url, count, perSecond, from. Reports to its parent when all are acknowledged, with the delay of the last.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const { url, count, perSecond, from } = JSON.parse(process.argv[2])
const BATCH = 100
const LEVELS = ['debug', 'info', 'info', 'info', 'info', 'info', 'warn', 'error']
const SERVICES = ['web-shop', 'payments', 'inventory', 'shipping']

const startedAt = performance.now()
const pending = []
for (let sent = 0; sent < count; sent += BATCH) {
  const aheadMs = startedAt + (sent / perSecond) * 1000 - performance.now()
  if (aheadMs > 0) await sleep(aheadMs)
  pending.push(send(from + sent))
}
await Promise.all(pending)
process.send({ tookMs: performance.now() - startedAt })
process.disconnect()

async function send(first) {
  const logs = Array.from({ length: BATCH }, (_, index) => entryOf(first + index))
  const response = await fetch(`${url}/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'writer' },
    body: JSON.stringify({ batch_id: `batch-${first}`, logs }),
  })
  if (response.status !== 200) throw new Error(`a batch was answered ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

/** Creates a realistic entry: most have a request or some metadata, few have an error. */
function entryOf(n) {
  const level = LEVELS[n % LEVELS.length]
  return {
    level,
    message: `request ${n} of customer ${n % 97} was handled by worker ${n % 4}`,
    timestamp: new Date().toISOString(),
    service: SERVICES[n % SERVICES.length],
    environment: 'production',
    version: '2.7.0',
    tags: n % 5 === 0 ? ['slow', 'checkout'] : ['checkout'],
    request_id: `req-${n}`,
    trace: { trace_id: `trace-${n >> 2}` },
    request: {
      method: 'GET',
      path: `/orders/${n % 1000}`,
      status_code: level === 'error' ? 500 : 200,
      duration_ms: n % 300,
    },
    metadata: { orderId: n, cart: { items: n % 7, currency: 'EUR' } },
    ...(level === 'error' && {
      error: {
        type: 'TypeError',
        message: `cannot read order ${n}`,
        stack: `TypeError: cannot read order ${n}\n    at load (/srv/app/orders.js:${n % 90}:7)\n    at handle (/srv/app/server.js:12:3)`,
      },
    }),
  }
}
