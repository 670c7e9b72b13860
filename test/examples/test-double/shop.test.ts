/** How an application tests what it logs, and how it fares while the log service is down. */
import { once } from 'node:events'
import pino from 'pino'
import { ingestStream } from 'pino-ingest'
import { createIngestService } from 'pino-ingest/service'
import type { IngestService } from 'pino-ingest/service'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { placeOrder } from './shop.js'

let service: IngestService
let stream: ReturnType<typeof ingestStream>
let logger: pino.Logger

beforeAll(async () => {
  service = await createIngestService() // a free port, in this process
  stream = ingestStream({
    url: service.url,
    apiKey: 'any',
    spool: false,
    batch: { intervalMs: 20 },
    retry: { minMs: 10 },
  })
  logger = pino({ level: 'debug' }, stream)
})
afterAll(async () => {
  stream.end()
  await once(stream, 'close')
  await service.close()
})
beforeEach(() => service.reset()) // entries, requests and faults of the test before

test('an order is logged with its customer', async () => {
  placeOrder(logger, { id: 1017, total: 42, customer: 'u-42' })
  const [stored] = await service.waitForEntries(({ entry }) => entry.message === 'order placed')
  expect(stored?.entry).toMatchObject({ level: 'info', user: { id: 'u-42' }, metadata: { orderId: 1017, total: 42 } })
})

test('an outage of the log service does not reach the application', async () => {
  service.faults.add({ kind: 'status', status: 503, times: 3 })
  expect(placeOrder(logger, { id: 1018, total: 7, customer: 'u-7' })).toBe(true)
  await service.waitForEntries(({ entry }) => entry.metadata?.['orderId'] === 1018)
  expect(service.requests.map(({ status }) => status)).toEqual([503, 503, 503, 200])
})

test('a refused order is an error with its reason', async () => {
  placeOrder(logger, { id: 1019, total: -1, customer: 'u-42' })
  await service.waitForEntries(1)
  expect(service.entries({ level: 'error', q: 'negative' }).items).toHaveLength(1)
  expect(service.rejected().items).toEqual([]) // nothing that the real service would have rejected
})
