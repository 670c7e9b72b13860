/** The Prometheus text. */
import { expect, test } from 'vitest'
import type { MetricsState } from '../../../src/app/metrics/metric-families.js'
import { FAMILIES } from '../../../src/app/metrics/metric-families.js'
import { formatPrometheusText } from '../../../src/app/metrics/prometheus-text.js'
import { Account } from '../../../src/diagnostics/account.js'

const empty: MetricsState = {
  account: new Account().snapshot(),
  reportedAtMs: undefined,
  problems: new Map(),
  closedStreams: 0,
}

test('writes exactly this text', () => {
  const some = FAMILIES.filter(({ prometheus }) => /dropped|pending|timestamp/.test(prometheus))
  const account = {
    ...new Account().snapshot(),
    pending: 3,
    dropped: { buffer: 2, shutdown: 0, spool: 0, age: 0, damaged: 0 },
  }
  expect(
    formatPrometheusText(some, { ...empty, account, reportedAtMs: 1_763_770_000_125 }, { zone: 'b', app: 'a "b"\\\n' }),
  ).toBe(`\
# HELP pino_ingest_entries_dropped_total Entries dropped at a limit, or lost with a damaged disk.
# TYPE pino_ingest_entries_dropped_total counter
pino_ingest_entries_dropped_total{app="a \\"b\\"\\\\\\n",kind="log",reason="buffer",zone="b"} 2
pino_ingest_entries_dropped_total{app="a \\"b\\"\\\\\\n",kind="log",reason="shutdown",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"\\\\\\n",kind="log",reason="spool",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"\\\\\\n",kind="log",reason="age",zone="b"} 0
pino_ingest_entries_dropped_total{app="a \\"b\\"\\\\\\n",kind="log",reason="damaged",zone="b"} 0
# HELP pino_ingest_entries_pending Entries received or recovered, and not yet accepted, rejected or dropped.
# TYPE pino_ingest_entries_pending gauge
pino_ingest_entries_pending{app="a \\"b\\"\\\\\\n",kind="log",zone="b"} 3
# HELP pino_ingest_stats_timestamp_seconds Unix time at which the transport last reported its account; absent before the first report.
# TYPE pino_ingest_stats_timestamp_seconds gauge
pino_ingest_stats_timestamp_seconds{app="a \\"b\\"\\\\\\n",zone="b"} 1763770000.125
`)
})
