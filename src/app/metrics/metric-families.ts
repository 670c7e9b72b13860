/**
 * All metrics. The Prometheus text, the OpenTelemetry instruments and the table in docs/metrics.md are generated from them. Names
 * follow Prometheus' best practices (base units, `_total`) and OpenTelemetry's (dots, units in braces).
 */
import type { AccountSnapshot } from '../../diagnostics/account.js'
import type { IngestErrorCode } from '../../shared/errors.js'

/** The state that all metrics are computed from. */
export interface MetricsState {
  /** Sum over all transports; zeros before the first report. */
  readonly account: AccountSnapshot
  /** Time of the latest report, in milliseconds since the Unix epoch. */
  readonly reportedAtMs: number | undefined
  readonly problems: ReadonlyMap<IngestErrorCode, number>
  readonly closedStreams: number
}

/** A `counter` only increases; a `sum` may decrease and can be added over processes; a `gauge` cannot be added. */
export type MetricKind = 'counter' | 'sum' | 'gauge'

/** This package's labels, with the names of the OpenTelemetry attributes. */
export const LABELS = { kind: 'pino_ingest.kind', reason: 'pino_ingest.drop.reason', code: 'error.type' } as const

export type LabelName = keyof typeof LABELS

export interface Sample {
  readonly labels: Readonly<Partial<Record<LabelName, string>>>
  readonly value: number
}

/** What the Prometheus text contains. Samples without a value are omitted. */
export interface PrometheusFamily<State> {
  readonly prometheus: string
  readonly kind: MetricKind
  /** A sentence without a line break. */
  readonly help: string
  readonly samples: (
    state: State,
  ) => readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number | undefined }[]
}

export interface MetricFamily extends PrometheusFamily<MetricsState> {
  readonly openTelemetry: string
  /** Unit in UCUM, as OpenTelemetry requires. */
  readonly unit: string
  readonly labels: readonly LabelName[]
  readonly samples: (state: MetricsState) => readonly Sample[]
}

/**
 * Codes that the transport reports. Their counters start at zero, because a counter that first appears with 1 shows no
 * increase.
 */
const REPORTED_CODES: readonly IngestErrorCode[] = [
  'AUTH',
  'CONFIG',
  'MISDIRECTED',
  'RATE_LIMITED',
  'REJECTED',
  'SPOOL',
  'UNAVAILABLE',
]

/** The account of `log` entries, and with `requestLogs` that of `request` logs. */
function accounts({
  account,
}: MetricsState): readonly (readonly [kind: string, account: Omit<AccountSnapshot, 'requestLogs'>])[] {
  return account.requestLogs === undefined
    ? [['log', account]]
    : [
        ['log', account],
        ['request', account.requestLogs],
      ]
}

type Counted = 'received' | 'recovered' | 'generated' | 'accepted' | 'rejected' | 'filtered' | 'pending'

function createEntryFamily(name: Counted, help: string): MetricFamily {
  const isPending = name === 'pending'
  return {
    prometheus: `pino_ingest_entries_${name}${isPending ? '' : '_total'}`,
    openTelemetry: `pino_ingest.entries.${name}`,
    kind: isPending ? 'sum' : 'counter',
    unit: '{entry}',
    help,
    labels: ['kind'],
    samples: (state) => accounts(state).map(([kind, account]) => ({ labels: { kind }, value: account[name] })),
  }
}

/** Sorted by the name in Prometheus. */
export const FAMILIES: readonly MetricFamily[] = [
  createEntryFamily('accepted', 'Entries that the log service accepted.'),
  {
    prometheus: 'pino_ingest_entries_dropped_total',
    openTelemetry: 'pino_ingest.entries.dropped',
    kind: 'counter',
    unit: '{entry}',
    help: 'Entries dropped at a limit, or lost with a damaged disk.',
    labels: ['kind', 'reason'],
    samples: (state) =>
      accounts(state).flatMap(([kind, { dropped }]) =>
        Object.entries(dropped).map(([reason, value]) => ({ labels: { kind, reason }, value })),
      ),
  },
  createEntryFamily('filtered', 'Entries filtered as configured: by level, sampling, de-duplication or beforeSend.'),
  createEntryFamily('generated', 'Entries that the transport wrote itself: notices of drops, summaries of repeats.'),
  createEntryFamily('pending', 'Entries received or recovered, and not yet accepted, rejected or dropped.'),
  createEntryFamily('received', 'Entries that the application logged.'),
  createEntryFamily('recovered', 'Entries recovered from an earlier process.'),
  createEntryFamily('rejected', 'Entries that the log service rejected.'),
  {
    prometheus: 'pino_ingest_problems_total',
    openTelemetry: 'pino_ingest.problems',
    kind: 'counter',
    unit: '{problem}',
    help: 'Problems that the transport reported, at most one per code per second.',
    labels: ['code'],
    samples: ({ problems }) =>
      [...new Set([...REPORTED_CODES, ...problems.keys()])].map((code) => ({
        labels: { code },
        value: problems.get(code) ?? 0,
      })),
  },
  {
    prometheus: 'pino_ingest_stats_timestamp_seconds',
    openTelemetry: 'pino_ingest.stats.timestamp',
    kind: 'gauge',
    unit: 's',
    help: 'Unix time at which the transport last reported its account; absent before the first report.',
    labels: [],
    samples: ({ reportedAtMs: toldAtMs }) => (toldAtMs === undefined ? [] : [{ labels: {}, value: toldAtMs / 1000 }]),
  },
  {
    prometheus: 'pino_ingest_streams_closed',
    openTelemetry: 'pino_ingest.streams.closed',
    kind: 'sum',
    unit: '{stream}',
    help: 'Streams to the transport that were closed or ended, and accept no more records.',
    labels: [],
    samples: ({ closedStreams }) => [{ labels: {}, value: closedStreams }],
  },
]
