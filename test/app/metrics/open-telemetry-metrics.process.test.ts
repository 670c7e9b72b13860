/** The same numbers in OpenTelemetry's own SDK, and the compatibility of its types with ours. */
import { metrics as api } from '@opentelemetry/api'
import type { Meter, ObservableCounter } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import type { MetricData } from '@opentelemetry/sdk-metrics'
import { afterEach, describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import { FAMILIES } from '../../../src/app/metrics/metric-families.js'
import { ingestMetrics } from '../../../src/index.js'
import type { IngestMetrics, IngestOptions, MetricsInstrument, MetricsMeter } from '../../../src/index.js'
import { VERSION } from '../../../src/version.js'
import { started } from '../../service/support.js'
import { loggerFor } from './metrics-apps.js'

const KEY = 'metrics-key-91b2'
const soon = { timeout: 50_000, interval: 50 }
const options = (url: string): IngestOptions => ({
  url,
  apiKey: KEY,
  spool: false,
  logTo: 'silent',
  retry: { maxMs: 50 },
})

/** Collects on demand. */
class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

function provider(temporality = AggregationTemporality.CUMULATIVE): {
  provider: MeterProvider
  data: () => Promise<Map<string, MetricData>>
  scopes: () => Promise<unknown[]>
} {
  const reader = new Reader({ aggregationTemporalitySelector: () => temporality })
  const made = new MeterProvider({ readers: [reader] })
  onTestFinished(() => made.shutdown())
  const collect = async (): Promise<{ scope: object; metrics: MetricData[] }[]> => {
    const { resourceMetrics, errors } = await reader.collect()
    expect(errors).toEqual([])
    return resourceMetrics.scopeMetrics
  }
  return {
    provider: made,
    data: async () =>
      new Map((await collect()).flatMap(({ metrics }) => metrics.map((one) => [one.descriptor.name, one] as const))),
    scopes: async () => (await collect()).map(({ scope }) => scope),
  }
}

function valueOf(data: ReadonlyMap<string, MetricData>, name: string, attributes: object): unknown {
  return data
    .get(name)
    ?.dataPoints.find((point) => JSON.stringify(sorted(point.attributes)) === JSON.stringify(sorted(attributes)))?.value
}

function sorted(attributes: object): [string, unknown][] {
  return Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

afterEach(() => api.disable())

test('the numbers are those of the account, with units, kinds and labels', async () => {
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'reject-containing', text: 'refuse me' })
  const { logger } = loggerFor('stream', options(service.url))
  const { provider: own, data } = provider()
  const metrics = ingestMetrics(logger, { labels: { app: 'shop' } })
  expect(metrics.openTelemetry(own.getMeter('app'))).toBe(true)
  const log = { app: 'shop', 'pino_ingest.kind': 'log' }
  expect(valueOf(await data(), 'pino_ingest.entries.received', log)).toBe(0)
  for (let n = 0; n < 20; n += 1) logger.info({ n }, 'take me')
  for (let n = 0; n < 3; n += 1) logger.info({ n }, 'refuse me')
  for (let n = 0; n < 5; n += 1) logger.debug({ n }, 'leave me out')
  await vi.waitFor(() => expect(metrics.account).toMatchObject({ received: 28, pending: 0 }), soon)
  const found = await data()
  const names = ['received', 'accepted', 'rejected', 'filtered', 'pending']
  expect(names.map((name) => valueOf(found, `pino_ingest.entries.${name}`, log))).toEqual([28, 20, 3, 5, 0])
  expect(valueOf(found, 'pino_ingest.entries.dropped', { ...log, 'pino_ingest.drop.reason': 'buffer' })).toBe(0)
  expect(valueOf(found, 'pino_ingest.problems', { app: 'shop', 'error.type': 'AUTH' })).toBe(0)
  expect([...found.keys()].toSorted()).toEqual(FAMILIES.map(({ openTelemetry }) => openTelemetry).toSorted())
  expect(found.get('pino_ingest.entries.received')).toMatchObject({
    isMonotonic: true,
    descriptor: { unit: '{entry}', description: 'Entries that the application logged.' },
  })
  expect(found.get('pino_ingest.entries.pending')).toMatchObject({ isMonotonic: false })
})

describe('the meter', () => {
  test("is that of the registered provider, with this package's name and version", async () => {
    const service = await started({ apiKeys: [KEY] })
    const { logger } = loggerFor('target', options(service.url))
    const metrics = ingestMetrics(logger)
    expect(metrics.openTelemetry()).toBe(false)
    const { provider: global, data, scopes } = provider()
    api.setGlobalMeterProvider(global)
    expect(metrics.openTelemetry()).toBe(true)
    logger.info('order placed')
    await vi.waitFor(
      async () => expect(valueOf(await data(), 'pino_ingest.entries.accepted', { 'pino_ingest.kind': 'log' })).toBe(1),
      soon,
    )
    expect(await scopes()).toMatchObject([{ name: 'pino-ingest', version: VERSION }])
  })

  test('is observed once if it is passed twice, and accepts the same labels once, until the first is closed', async () => {
    const service = await started({ apiKeys: [KEY] })
    const { provider: own, data } = provider()
    const meter = own.getMeter('app')
    const { logger } = loggerFor('stream', options(service.url))
    const metricsOf = (labels: Record<string, string>): IngestMetrics => ingestMetrics(logger, { labels })
    const [first, second, third] = [
      metricsOf({ app: 'one', of: 'x' }),
      metricsOf({ of: 'x', app: 'one' }),
      metricsOf({ app: 'two' }),
    ]
    expect([first, third, first].map((one) => one.openTelemetry(meter))).toEqual([true, true, true])
    expect(() => second.openTelemetry(meter)).toThrow('[["app","one"],["of","x"]]')
    expect((await data()).get('pino_ingest.streams.closed')?.dataPoints).toHaveLength(2)
    first.close()
    expect(second.openTelemetry(meter)).toBe(true)
  })

  test('receives nothing after close, and no other meter is used', async () => {
    const service = await started({ apiKeys: [KEY] })
    const { logger } = loggerFor('stream', options(service.url))
    const { provider: own, data } = provider(AggregationTemporality.DELTA) // with CUMULATIVE the SDK would keep the last values
    const metrics = ingestMetrics(logger)
    metrics.openTelemetry(own.getMeter('app'))
    const points = async (): Promise<number> =>
      [...(await data()).values()].reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
    expect(await points()).toBeGreaterThan(FAMILIES.length)
    metrics.close()
    expect(await points()).toBe(0)
    expect(metrics.openTelemetry(own.getMeter('app'))).toBe(false)
  })
})

test("OpenTelemetry's own types extend ours", () => {
  expectTypeOf<Meter>().toExtend<MetricsMeter>()
  expectTypeOf<ObservableCounter>().toExtend<MetricsInstrument>()
  expectTypeOf<object>().not.toExtend<MetricsMeter>()
})
