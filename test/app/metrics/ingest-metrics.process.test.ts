/** Metrics of real transports with a real service: the numbers match the outcome of the records. */
import pino from 'pino'
import { Counter, Registry } from 'prom-client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ingestMetricsWithClock } from '../../../src/app/metrics/ingest-metrics.js'
import { FAMILIES } from '../../../src/app/metrics/metric-families.js'
import { flush, ingestMetrics, ingestStream } from '../../../src/index.js'
import type { IngestMetrics, IngestOptions } from '../../../src/index.js'
import { FakeClock } from '../../fake-clock.js'
import { runApp } from '../../process/run-app.js'
import { started } from '../../service/support.js'
import { BUILT, ended, loggerFor } from './metrics-apps.js'
import { parsePrometheus, sampleOf } from './prometheus-parser.js'

const KEY = 'metrics-key-8a20'
const REASONS = ['buffer', 'shutdown', 'spool', 'age', 'damaged']
const soon = { timeout: 30_000, interval: 20 }
const options = (url: string): IngestOptions => ({
  url,
  apiKey: KEY,
  spool: false,
  logTo: 'silent',
  retry: { maxMs: 50 },
})

type Counts = Record<
  'received' | 'recovered' | 'generated' | 'accepted' | 'rejected' | 'filtered' | 'dropped' | 'pending',
  number
>

function countsIn(metrics: IngestMetrics, kind = 'log'): Counts {
  const families = parsePrometheus(metrics.prometheus())
  const entries = (name: string, labels = {}): number =>
    sampleOf(families, `pino_ingest_entries_${name}`, { kind, ...labels })
  return {
    received: entries('received_total'),
    recovered: entries('recovered_total'),
    generated: entries('generated_total'),
    accepted: entries('accepted_total'),
    rejected: entries('rejected_total'),
    filtered: entries('filtered_total'),
    dropped: REASONS.reduce((sum, reason) => sum + entries('dropped_total', { reason }), 0),
    pending: entries('pending'),
  }
}

function closedStreams(metrics: IngestMetrics): number {
  return sampleOf(parsePrometheus(metrics.prometheus()), 'pino_ingest_streams_closed')
}

function times(counts: Partial<Counts>, factor: number): Partial<Counts> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * factor]))
}

const WAYS = [
  ['target', 1],
  ['targets', 2],
  ['pipeline', 1],
  ['stream', 1],
  ['multistream', 2],
] as const

test('in each mode: accepted, rejected, filtered; pending in an outage, then accepted; closed', async () => {
  await Promise.all(WAYS.map(countThroughOutage))
})

async function countThroughOutage([way, copies]: (typeof WAYS)[number]): Promise<void> {
  const service = await started({ apiKeys: [KEY] })
  const accept = service.faults.add({ kind: 'reject-containing', text: 'refuse me' })
  const { logger, streams } = loggerFor(way, options(service.url))
  const metrics = ingestMetrics(logger.child({ part: 'web' }))
  const expectSoon = (counts: Partial<Counts>): Promise<void> =>
    vi.waitFor(() => expect({ way, ...countsIn(metrics) }).toMatchObject(times(counts, copies)), soon)
  expect(countsIn(metrics)).toMatchObject({ received: 0, pending: 0 })
  for (let n = 0; n < 20; n += 1) logger.info({ n }, 'take me')
  for (let n = 0; n < 3; n += 1) logger.warn({ n }, 'refuse me')
  for (let n = 0; n < 5; n += 1) logger.debug({ n }, 'leave me out')
  const first = { received: 28, accepted: 20, rejected: 3, filtered: 5, pending: 0, dropped: 0 }
  await expectSoon(first)
  accept()
  const mend = service.faults.add({ kind: 'status', status: 503 })
  for (let n = 0; n < 4; n += 1) logger.info({ n }, 'wait')
  await expectSoon({ ...first, received: 32, pending: 4 })
  mend()
  const last = { ...first, received: 32, accepted: 24 }
  await expectSoon(last)
  expect(metrics.account).toMatchObject({ ...times({ received: 32, accepted: 24 }, copies), balances: true })
  expect(closedStreams(metrics)).toBe(0)
  await Promise.all(streams.map(ended))
  expect(closedStreams(metrics)).toBe(streams.length)
  expect(countsIn(metrics)).toMatchObject(times(last, copies))
}

test('drops entries when the buffer is full while others wait, and the account balances', async () => {
  const service = await started({ apiKeys: [KEY] })
  const mend = service.faults.add({ kind: 'status', status: 503 })
  const { logger } = loggerFor('target', { ...options(service.url), maxBufferBytes: 1024 ** 2 })
  const metrics = ingestMetrics(logger, { labels: {} })
  for (let n = 0; n < 30; n += 1) logger.info({ n, filling: 'x'.repeat(100_000) }, 'large')
  await vi.waitFor(() => expect(countsIn(metrics).received).toBe(30), soon)
  const { dropped, pending, generated } = countsIn(metrics)
  expect(dropped).toBeGreaterThan(0)
  expect(pending).toBeGreaterThan(0)
  expect(dropped + pending).toBe(30 + generated)
  expect(metrics.account?.dropped.buffer).toBe(dropped)
  mend()
  await vi.waitFor(() => expect(countsIn(metrics).pending).toBe(0), soon)
  const later = countsIn(metrics)
  expect(later.accepted + later.dropped).toBe(30 + later.generated)
  expect(later.generated).toBeGreaterThanOrEqual(1) // the drop notice
})

test('counts entries recovered from an earlier process before this one logs', async () => {
  const service = await started({ apiKeys: [KEY] })
  const mend = service.faults.add({ kind: 'status', status: 503 })
  const own = { url: service.url, apiKey: KEY, logTo: 'silent' } as const
  await runApp({ mode: 'target', options: { ...own, shutdownTimeoutMs: 200 }, count: 250, end: 'exit' })
  mend()
  const metrics = ingestMetrics(loggerFor('target', own).logger)
  await vi.waitFor(
    () => expect(countsIn(metrics)).toMatchObject({ received: 0, recovered: 250, accepted: 250, pending: 0 }),
    soon,
  )
})

test('request logs have their own samples if they are enabled', async () => {
  const service = await started({ apiKeys: [KEY] })
  const { logger } = loggerFor('stream', { ...options(service.url), requestLogs: true })
  const metrics = ingestMetrics(logger)
  expect(() => countsIn(metrics, 'request')).toThrow('["kind","request"]')
  logger.info(
    { req: { id: 7, method: 'GET', url: '/' }, res: { statusCode: 200 }, responseTime: 12 },
    'request completed',
  )
  logger.info('another')
  await flush(logger)
  await vi.waitFor(() => expect(countsIn(metrics, 'request')).toMatchObject({ received: 1, accepted: 1 }), soon)
  expect(countsIn(metrics)).toMatchObject({ received: 2, accepted: 2 })
})

test('counts problems by code, starting at zero', async () => {
  const service = await started({ apiKeys: ['another'] })
  const { logger, streams } = loggerFor('stream', { ...options(service.url), shutdownTimeoutMs: 0 })
  const metrics = ingestMetrics(logger, { labels: { app: 'shop' } })
  const problems = (code: string): number =>
    sampleOf(parsePrometheus(metrics.prometheus()), 'pino_ingest_problems_total', { app: 'shop', code })
  expect([problems('AUTH'), problems('UNAVAILABLE')]).toEqual([0, 0])
  logger.info('with the wrong key')
  await vi.waitFor(() => expect([problems('AUTH'), problems('UNAVAILABLE')]).toEqual([1, 0]), soon)
  await Promise.all(streams.map(ended))
})

test('a registry of prom-client has them beside its own, in both formats', async () => {
  const service = await started({ apiKeys: [KEY] })
  const { logger } = loggerFor('stream', options(service.url))
  for (const [at, contentType] of [Registry.PROMETHEUS_CONTENT_TYPE, Registry.OPENMETRICS_CONTENT_TYPE].entries()) {
    const registry = new Registry()
    registry.setContentType(contentType as typeof registry.contentType)
    const metrics = ingestMetrics(logger, { labels: { app: 'shop' } })
    metrics.register(registry)
    registry.clear()
    registry.setDefaultLabels({ zone: 'b' })
    new Counter({ name: 'orders_total', help: 'Orders.', registers: [registry] }).inc(3)
    metrics.register(registry)
    expect(() => metrics.register(registry)).toThrow('pino_ingest_')
    expect(() => ingestMetrics(logger).register(registry)).toThrow('pino_ingest_')
    logger.info('order placed')
    await vi.waitFor(() => expect(metrics.account).toMatchObject({ accepted: at + 1 }), soon)
    const lines = (await registry.metrics()).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'orders_total{zone="b"} 3',
        `pino_ingest_entries_accepted_total{app="shop",kind="log",zone="b"} ${at + 1}`,
        'pino_ingest_problems_total{app="shop",code="AUTH",zone="b"} 0',
      ]),
    )
    const families = lines.flatMap((line) => /^# TYPE (\w+?)(?:_total)? /.exec(line)?.[1] ?? [])
    expect(families).toEqual(['orders', ...FAMILIES.map(({ prometheus }) => prometheus.replace(/_total$/, ''))])
    metrics.close()
    metrics.register(registry)
    expect((await registry.getMetricsAsJSON()).length).toBe(1)
  }
})

test('keeps the last report of a killed worker, and counts its stream as closed', async () => {
  const service = await started({ apiKeys: [KEY] })
  const transport = pino.transport({ target: BUILT, options: options(service.url) })
  const metrics = ingestMetrics(transport as object)
  pino(transport).info('told')
  await vi.waitFor(() => expect(countsIn(metrics).accepted).toBe(1), soon)
  const failed = new Promise((resolve) => transport.once('error', resolve))
  await (transport as unknown as { worker: { terminate(): Promise<number> } }).worker.terminate()
  await failed
  expect(countsIn(metrics)).toMatchObject({ received: 1, accepted: 1 })
  expect(closedStreams(metrics)).toBe(1)
})

describe('events', () => {
  function toldStream(): { stream: ReturnType<typeof ingestStream>; metrics: IngestMetrics; clock: FakeClock } {
    const clock = new FakeClock(Date.UTC(2026, 0, 1))
    const stream = ingestStream({ url: 'http://127.0.0.1:9/api/v1', apiKey: KEY, spool: false, enabled: false })
    onTestFinished(() => ended(stream))
    return { stream, metrics: ingestMetricsWithClock(clock, stream, {}), clock }
  }

  test('has a timestamp; before the first there is no timestamp and no account', async () => {
    const { stream, metrics, clock } = toldStream()
    const reported = (): number =>
      sampleOf(parsePrometheus(metrics.prometheus()), 'pino_ingest_stats_timestamp_seconds')
    expect(metrics.account).toBeUndefined()
    expect(reported).toThrow('no pino_ingest_stats')
    await clock.advance(1_500)
    stream.write('{"level":30}\n')
    expect(reported()).toBe(Date.UTC(2026, 0, 1) / 1000 + 1.5)
    expect(metrics.account).toMatchObject({ received: 0 })
  })
})
