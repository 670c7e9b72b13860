/** The arguments that `ingestMetrics()` rejects, and the messages. */
import pino from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { IngestError, ingestMetrics, ingestStream } from '../../../src/index.js'
import type { IngestMetricsOptions } from '../../../src/index.js'
import { ended } from './metrics-apps.js'

function refusal(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    expect(error).toBeInstanceOf(IngestError)
    expect((error as IngestError).code).toBe('CONFIG')
    return (error as IngestError).message
  }
  throw new Error('it was taken')
}

function stream(): ReturnType<typeof ingestStream> {
  const made = ingestStream({ url: 'http://127.0.0.1:9/api/v1', apiKey: 'k-1', spool: false, enabled: false })
  onTestFinished(() => ended(made))
  return made
}

describe('the logger', () => {
  test.each([
    {},
    [],
    Object.create(null) as object,
    pino({ enabled: false }, { write() {} }),
    process.stdout,
    pino.multistream([]),
  ])('rejects a logger without this transport, %#', (logger) => {
    expect(refusal(() => ingestMetrics(logger))).toContain('ingestStream()')
  })

  test('accepts a logger, a child, a stream and a multistream', () => {
    const own = stream()
    const logger = pino(own)
    for (const one of [
      logger,
      logger.child({}),
      own,
      pino.multistream([own, { stream: own }]),
      pino({}, pino.multistream(own)),
    ]) {
      const metrics = ingestMetrics(one)
      expect(metrics.prometheus()).toContain('\npino_ingest_streams_closed 0\n')
      metrics.close()
    }
  })
})

describe('labels', () => {
  const refused = (labels: unknown): string =>
    refusal(() => ingestMetrics(stream(), { labels } as IngestMetricsOptions))

  test.each(['', '7up', 'a-b', 'a.b', 'ü', 'a b', '__name__', 'a\n'])('the name %j', (name) => {
    expect(refused({ [name]: 'x' })).toContain(JSON.stringify(name))
  })

  test.each(['kind', 'reason', 'code', 'le', 'quantile'])('the name %s is reserved', (name) => {
    expect(refused({ [name]: 'x' })).toContain(`label ${name}`)
  })

  test.each([
    [7, '7'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{}, '{}'],
    [['x'], '["x"]'],
  ])('the value %j', (value, shown) => {
    expect(refused({ app: value })).toContain(shown)
  })

  test.each([
    ['app', '"app"'],
    [null, 'null'],
    [['app'], '["app"]'],
    [7, '7'],
  ])('%j as labels', (labels, shown) => {
    expect(refused(labels)).toContain(shown)
  })

  test('changes after the call have no effect', () => {
    const labels: Record<string, string> = { app: 'one' }
    const metrics = ingestMetrics(stream(), { labels })
    labels['app'] = 'two'
    labels['a-b'] = 'three'
    expect(metrics.prometheus()).toContain('pino_ingest_streams_closed{app="one"} 0\n')
  })
})

test.each([
  [{ label: {} }, 'ingestMetrics() has no option label; did you mean labels?'],
  [{ prefix: 'x' }, 'ingestMetrics() has no option prefix'],
])('the option %j', (options, words) => {
  expect(refusal(() => ingestMetrics(stream(), options as never))).toBe(words)
})
