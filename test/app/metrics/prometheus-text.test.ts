/** The Prometheus text, read back by the tests' own parser. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MetricFamily, MetricsState } from '../../../src/app/metrics/metric-families.js'
import { FAMILIES } from '../../../src/app/metrics/metric-families.js'
import { formatNumber, formatPrometheusText } from '../../../src/app/metrics/prometheus-text.js'
import { Account } from '../../../src/diagnostics/account.js'
import { parsePrometheus, sampleOf } from './prometheus-parser.js'

const empty: MetricsState = {
  account: new Account().snapshot(),
  reportedAtMs: undefined,
  problems: new Map(),
  closedStreams: 0,
}

function familyOf(help: string, value = 1): MetricFamily {
  return {
    prometheus: 'x_total',
    openTelemetry: 'x',
    kind: 'counter',
    unit: '1',
    help,
    labels: [],
    samples: () => [{ labels: {}, value }],
  }
}

/** Mostly characters that have a meaning in the format. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\\', '"', '\n', '\r', 'n', '{', '}', ',', '=', '#', ' ', 'é', '𝄞') }),
)
const labelName = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,8}$/)

describe('a parser reads the values that were written', () => {
  test('labels', () => {
    fc.assert(
      fc.property(fc.dictionary(labelName, text, { noNullPrototype: true }), (labels) => {
        const families = parsePrometheus(formatPrometheusText([familyOf('h', 7)], empty, labels))
        expect(sampleOf(families, 'x_total', labels)).toBe(7)
      }),
      { numRuns: 500 },
    )
  })

  test('help', () => {
    fc.assert(
      fc.property(text, (help) => {
        expect(parsePrometheus(formatPrometheusText([familyOf(help)], empty, {})).get('x_total')).toMatchObject({
          help,
          type: 'counter',
        })
      }),
      { numRuns: 500 },
    )
  })

  test('numbers', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const read = sampleOf(parsePrometheus(formatPrometheusText([familyOf('h', value)], empty, {})), 'x_total')
        expect(read === value).toBe(true)
      }),
    )
    expect([formatNumber(Infinity), formatNumber(-Infinity), formatNumber(NaN), formatNumber(1e21)]).toEqual([
      '+Inf',
      '-Inf',
      'NaN',
      '1e+21',
    ])
  })
})

test('writes exactly this text', () => {
  const some = FAMILIES.filter(({ prometheus }) => /dropped|pending|timestamp/.test(prometheus))
  const account = {
    ...new Account().snapshot(),
    pending: 3,
    dropped: { buffer: 2, shutdown: 0, spool: 0, age: 0, damaged: 0 },
  }
  expect(
    formatPrometheusText(some, { ...empty, account, reportedAtMs: 1_763_770_000_125 }, { zone: 'b', app: 'a "b"' }),
  ).toBe(`\
# HELP pino_ingest_entries_dropped_total Entries dropped at a limit, or lost with a damaged disk.
# TYPE pino_ingest_entries_dropped_total counter
pino_ingest_entries_dropped_total{app="a \\"b\\"",kind="log",reason="buffer",zone="b"} 2
pino_ingest_entries_dropped_total{app="a \\"b\\"",kind="log",reason="shutdown",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"",kind="log",reason="spool",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"",kind="log",reason="age",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"",kind="log",reason="damaged",zone="b"} 0
# HELP pino_ingest_entries_pending Entries received or recovered, and not yet accepted, rejected or dropped.
# TYPE pino_ingest_entries_pending gauge
pino_ingest_entries_pending{app="a \\"b\\"",kind="log",zone="b"} 3
# HELP pino_ingest_stats_timestamp_seconds Unix time at which the transport last reported its account; absent before the first report.
# TYPE pino_ingest_stats_timestamp_seconds gauge
pino_ingest_stats_timestamp_seconds{app="a \\"b\\"",zone="b"} 1763770000.125
`)
})

describe('the families', () => {
  test('have valid Prometheus names, sorted, each once', () => {
    const names = FAMILIES.map(({ prometheus }) => prometheus)
    expect(names).toEqual([...new Set(names)].toSorted((one, other) => (one < other ? -1 : 1)))
    for (const { prometheus, kind, unit } of FAMILIES) {
      expect(prometheus).toMatch(/^pino_ingest_[a-z_]+$/)
      expect(prometheus.endsWith('_total')).toBe(kind === 'counter')
      expect(prometheus.includes('_seconds')).toBe(unit === 's')
    }
  })

  test('have valid OpenTelemetry names, each once', () => {
    const names = FAMILIES.map(({ openTelemetry }) => openTelemetry)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^pino_ingest\.[a-z_]+(?:\.[a-z_]+)*$/)
  })

  test('have exactly their declared labels', () => {
    const { requestLogs, ...account } = { ...new Account().snapshot(), requestLogs: new Account().snapshot() }
    for (const { samples, labels, prometheus } of FAMILIES) {
      const found = samples({ ...empty, account: { ...account, requestLogs }, reportedAtMs: 0 }).map((sample) =>
        Object.keys(sample.labels).toSorted(),
      )
      expect({ prometheus, found: new Set(found.map(String)) }).toEqual({
        prometheus,
        found: new Set([labels.toSorted().join(',')]),
      })
    }
  })
})
