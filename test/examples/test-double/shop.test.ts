/** How an application tests what it logs, and how it fares while the log service is down. */
import { once } from 'node:events'
import pino from 'pino'
import { ingestStream } from 'pino-ingest'
import { createIngestService } from 'pino-ingest/service'
import type { IngestService } from 'pino-ingest/service'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

// The code under test: it takes the logger that it is given
function placeOrder(logger: pino.Logger, orderId: number): void {
  logger.info({ orderId, user: { id: 'u-42' } }, 'order placed')
}

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
    retry: { maxMs: 10 },
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
  placeOrder(logger, 1017)
  const [stored] = await service.waitForEntries(({ entry }) => entry.message === 'order placed')
  expect(stored?.entry).toMatchObject({ level: 'info', user: { id: 'u-42' }, metadata: { orderId: 1017 } })
  expect(service.rejected().items).toEqual([]) // nothing that the log service would have rejected
})

test('an outage of the log service does not reach the application', async () => {
  service.faults.add({ kind: 'status', status: 503, times: 3 })
  placeOrder(logger, 1018)
  await service.waitForEntries(1)
  expect(service.requests.map(({ status }) => status)).toEqual([503, 503, 503, 200])
})
