/** Request logs: a way and an account of their own. */
import { expect, test, vi } from 'vitest'
import { piped } from './create-pipeline.js'

const REQUEST = { method: 'GET', url: '/orders/7' }
const done = (id: number): object => ({
  req: { id, ...REQUEST },
  res: { statusCode: 200, route: '/orders/:id' },
  responseTime: 12,
  msg: 'request completed',
})

test('each finished request is one, beside its entry', async () => {
  const { write, arrived, service, pipeline } = await piped({ requestLogs: true })
  write(done(1), done(2), { msg: 'no request' })
  expect(await arrived()).toHaveLength(3)
  expect(service.requestLogs().items.map(({ request }) => [request.path, request.route])).toEqual([
    ['/orders/7', '/orders/:id'],
    ['/orders/7', '/orders/:id'],
  ])
  expect(pipeline.snapshot).toMatchObject({
    received: 3,
    accepted: 3,
    balances: true,
    requestLogs: { received: 2, accepted: 2, pending: 0, balances: true },
  })
})

test('with only, the records are no entries; those below the level count as well', async () => {
  const { write, arrived, service, pipeline } = await piped({ requestLogs: { only: true }, level: 'warn' })
  write(done(1), { level: 20, ...done(2) }, { level: 40, msg: 'warned' })
  expect((await arrived()).map(({ message }) => message)).toEqual(['warned'])
  expect(service.requestLogs().items).toHaveLength(2)
  expect(pipeline.snapshot).toMatchObject({
    received: 3,
    accepted: 1,
    filtered: 2,
    balances: true,
    requestLogs: { received: 2, accepted: 2, balances: true },
  })
})

test('they arrive while entries are dropped for lack of memory', async () => {
  const { write, service, pipeline } = await piped({
    requestLogs: { only: true },
    maxBufferBytes: 1024 * 1024,
    maxEntryBytes: 4_096,
  })
  service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest' })
  for (let n = 0; n < 600; n += 1) write({ pad: 'x'.repeat(3_000), msg: 'filling' })
  expect(pipeline.snapshot.dropped.buffer).toBeGreaterThan(0)
  for (let id = 0; id < 100; id += 1) write(done(id))
  await vi.waitFor(() => expect(service.requestLogs({ limit: 200 }).items).toHaveLength(100), { timeout: 10_000 })
  expect(pipeline.snapshot.balances).toBe(true)
})

test('a service without the endpoint gets the entries all the same', async () => {
  const { write, service, pipeline } = await piped({ requestLogs: true, batch: { intervalMs: 10 } })
  service.faults.add({ kind: 'status', status: 404, endpoint: 'requests' })
  write(done(1), done(2))
  await vi.waitFor(() => expect(service.arrived).toBe(2), { timeout: 10_000 })
  expect(pipeline.snapshot.requestLogs).toMatchObject({ received: 2, accepted: 0, pending: 2, balances: true })
})
