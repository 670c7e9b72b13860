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
  test.each([{}, Object.create(null) as object, pino({ enabled: false }, { write() {} }), pino.multistream([])])(
    'rejects a logger without this transport, %#',
    (logger) => {
      expect(refusal(() => ingestMetrics(logger))).toContain('ingestStream()')
    },
  )

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

  test.each<[unknown, string]>([
    ...['', '7up', 'a-b', 'ü', '__name__', 'a\n'].map(
      (name) => [{ [name]: 'x' }, JSON.stringify(name)] satisfies [object, string],
    ),
    ...['kind', 'reason', 'code', 'le', 'quantile'].map(
      (name) => [{ [name]: 'x' }, `label ${name}`] satisfies [object, string],
    ),
    [{ app: 7 }, '7'],
    [{ app: ['x'] }, '["x"]'],
    ['app', '"app"'],
    [null, 'null'],
  ])('%j is rejected', (labels, shown) => expect(refused(labels)).toContain(shown))
})

test.each([
  [{ label: {} }, 'ingestMetrics() has no option label; did you mean labels?'],
  [{ prefix: 'x' }, 'ingestMetrics() has no option prefix'],
])('the option %j', (options, words) => {
  expect(refusal(() => ingestMetrics(stream(), options as never))).toBe(words)
})
