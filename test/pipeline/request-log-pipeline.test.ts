/** Request logs have their own pipeline and account. */
import { describe, expect, test, vi } from 'vitest'
import { piped } from './create-pipeline.js'

const REQUEST = { method: 'GET', url: '/orders/7' }
const done = (id: number): object => ({
  req: { id, ...REQUEST },
  res: { statusCode: 200, route: '/orders/:id' },
  responseTime: 12,
  msg: 'request completed',
})

test('each finished request is a request log in addition to its entry', async () => {
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

test('with `only` the records are not sent as entries; those below the level are request logs, too', async () => {
  const { write, arrived, service, pipeline } = await piped({ requestLogs: { only: true }, sendLevel: 'warn' })
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

describe('ignored paths', () => {
  const ignore = ['/health', '/internal/*']
  const get = (url: string): object => ({ ...done(1), req: { id: 1, method: 'GET', url } })
  const urls = ['/health?full=1', '/internal/jobs/7', '/healthy', '/internal', '/api/health']

  test.each([false, true])('are not request logs, but their records are entries (only: %s)', async (only) => {
    const { write, arrived, service, pipeline } = await piped({ requestLogs: { only, ignore } })
    write(...urls.map(get))
    expect((await arrived()).map(({ request }) => request?.url)).toEqual(only ? urls.slice(0, 2) : urls)
    await vi.waitFor(() => expect(service.requestLogs().items).toHaveLength(3), { timeout: 30_000 })
    expect(service.requestLogs().items.map(({ request }) => request.path)).toEqual(urls.slice(2).toReversed())
    expect(pipeline.snapshot).toMatchObject({
      balances: true,
      requestLogs: { received: 5, accepted: 3, filtered: 2, balances: true },
    })
  })

  test.each([false, true])("are both records of Fastify's requests (only: %s)", async (only) => {
    const { write, arrived, service, reported, pipeline } = await piped({ requestLogs: { only, ignore } })
    for (let n = 0; n < 60; n += 1)
      write(
        { reqId: `req-${n}`, req: { method: 'GET', url: '/health' }, msg: 'incoming request' },
        { reqId: `req-${n}`, res: { statusCode: 500 }, responseTime: 1, msg: 'request completed' },
      )
    write({ ...done(1), beside: true })
    expect((await arrived()).filter(({ request }) => request?.path === '/health')).toHaveLength(120)
    await vi.waitFor(() => expect(service.requestLogs().items).toHaveLength(1), { timeout: 30_000 })
    expect(pipeline.snapshot.requestLogs).toMatchObject({ received: 61, accepted: 1, filtered: 60, balances: true })
    expect(reported.filter(({ name }) => name === 'ingest:problem')).toEqual([])
  })
})

test('arrive while entries are dropped because the buffer is full', async () => {
  const { write, service, pipeline } = await piped({
    requestLogs: { only: true },
    maxBufferBytes: 1024 * 1024,
    maxEntryBytes: 4_096,
  })
  service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest' })
  for (let n = 0; n < 600; n += 1) write({ pad: 'x'.repeat(3_000), msg: 'filling' })
  expect(pipeline.snapshot.dropped.buffer).toBeGreaterThan(0)
  for (let id = 0; id < 100; id += 1) write(done(id))
  await vi.waitFor(() => expect(service.requestLogs({ limit: 200 }).items).toHaveLength(100), { timeout: 30_000 })
  expect(pipeline.snapshot.balances).toBe(true)
})

test('sends the entries to a service without the endpoint', async () => {
  const { write, service, pipeline } = await piped({ requestLogs: true, batch: { intervalMs: 10 } })
  service.faults.add({ kind: 'status', status: 404, endpoint: 'requests' })
  write(done(1), done(2))
  await vi.waitFor(() => expect(service.arrived).toBe(2), { timeout: 30_000 })
  expect(pipeline.snapshot.requestLogs).toMatchObject({ received: 2, accepted: 0, pending: 2, balances: true })
})

describe('records that look like requests and give no request log', () => {
  const problemsOf = (reported: Awaited<ReturnType<typeof piped>>['reported']): string[] =>
    reported
      .filter(({ name }) => name === 'ingest:problem')
      .map(({ payload }) => (payload as { message: string }).message)
  const renamed = { rid: 1, q: REQUEST, s: { statusCode: 200 }, took: 12, msg: 'done' }

  test.each<[string, object]>([
    ["pino-http's under other keys", renamed],
    ['with other serializers', { q: { verb: 'GET' }, s: { status: 204 }, msg: 'done' }],
    ["Fastify's second with another label of the id", { rid: 'req-1', res: { statusCode: 200 }, responseTime: 1 }],
    ['by their message', { rid: 1, took: 3, msg: 'request completed' }],
    ['by their duration', { rid: 1, responseTime: '3 ms', msg: 'done' }],
  ])('%s: 100 are reported once', async (_, record) => {
    const { write, arrived, reported, service } = await piped({ requestLogs: true })
    for (let n = 0; n < 99; n += 1) write(record, { msg: 'inside' })
    expect(problemsOf(reported)).toEqual([])
    for (let n = 0; n < 201; n += 1) write(record)
    await arrived()
    expect(service.requestLogs().items).toEqual([])
    expect(problemsOf(reported)).toEqual([expect.stringMatching(/^100 .*customAttributeKeys/)])
  })

  test('with their names configured they are request logs', async () => {
    const customAttributeKeys = { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' }
    const { write, arrived, reported, service } = await piped({ requestLogs: true, pino: { customAttributeKeys } })
    for (let n = 0; n < 150; n += 1) write(renamed)
    await arrived()
    expect(service.requestLogs({ limit: 200 }).items).toHaveLength(150)
    expect(problemsOf(reported)).toEqual([])
  })

  test('reports nothing between request logs, for other records, or with requestLogs disabled', async () => {
    const failed = { err: { type: 'E', message: 'm', stack: 'E: m\n    at f', statusCode: 404 }, msg: 'failed' }
    const mixed = await piped({ requestLogs: true })
    for (let n = 0; n < 5; n += 1) mixed.write(...Array.from({ length: 99 }, () => renamed), done(n))
    const other = await piped({ requestLogs: true })
    other.write(...Array.from({ length: 150 }, () => [failed, { status: 'done' }, { status: 200, ms: 3 }]).flat())
    const off = await piped()
    off.write(...Array.from({ length: 150 }, () => renamed))
    for (const { arrived, reported } of [mixed, other, off]) {
      await arrived()
      expect(problemsOf(reported)).toEqual([])
    }
  })
})
