/** Counters of a forwarder, and its metrics for Prometheus. */
import type { ConsumerInfo } from '@nats-io/jetstream'
import type { PrometheusFamily } from '../app/metrics/metric-families.js'
import type { Outcome } from '../batch/outcome.js'
import type { BatchKind } from '../nats/message.js'

/** Counters for one kind of batches. */
export class ForwardStats {
  /** `forwarded`: accepted by the log service. `rejected`: by the log service. */
  readonly entries = { forwarded: 0, rejected: 0, duplicate: 0, redelivered: 0 }
  /** `invalid`: messages that are not batches, stored as dead letters. */
  readonly batches = { forwarded: 0, duplicate: 0, redelivered: 0, released: 0, invalid: 0 }
  readonly requests: Record<Outcome['kind'], number> = {
    delivered: 0,
    refused: 0,
    retryable: 0,
    'endpoint-rejected': 0,
    abandoned: 0,
  }
  /** Milliseconds since the Unix epoch. */
  lastSuccessAtMs: number | undefined
}

export interface KindState {
  readonly kind: BatchKind
  readonly stats: ForwardStats
  readonly inFlight: number
  readonly limit: number
  /** Undefined if the consumer is not known. */
  readonly info: ConsumerInfo | undefined
}

export interface ForwardState {
  readonly kinds: readonly KindState[]
  /** As in `/healthz`. */
  readonly isReady: boolean
  /** Undefined if the queue is not known. */
  readonly oldestUnsentMs: number | undefined
}

type Samples = PrometheusFamily<ForwardState>['samples']

const ofKind =
  (value: (state: KindState) => number | undefined): Samples =>
  ({ kinds }) =>
    kinds.map((one) => ({ labels: { kind: one.kind }, value: value(one) }))

const byOutcome =
  (counts: (stats: ForwardStats) => Readonly<Record<string, number>>): Samples =>
  ({ kinds }) =>
    kinds.flatMap(({ kind, stats }) =>
      Object.entries(counts(stats)).map(([outcome, value]) => ({ labels: { kind, outcome }, value })),
    )

/** Gauges, and counters, whose names end with `_total`. */
const TABLE: readonly (readonly [name: string, help: string, samples: Samples])[] = [
  [
    'ack_pending',
    'Batches that forwarders have received but not acknowledged.',
    ofKind(({ info }) => info?.num_ack_pending),
  ],
  [
    'batches_total',
    'Batches by outcome: forwarded, duplicate (delivered before, not sent again), redelivered (received again), released (returned to the queue), invalid (the message is not a batch, and is now a dead letter).',
    byOutcome((stats) => stats.batches),
  ],
  ['concurrency_limit', 'Batches that may be in flight at once.', ofKind((one) => one.limit)],
  [
    'entries_total',
    'Entries by outcome: forwarded (the log service accepted them), rejected (now dead letters), duplicate, redelivered.',
    byOutcome((stats) => stats.entries),
  ],
  [
    'in_flight',
    'Batches that are being sent, or wait for a free slot or for their next attempt.',
    ofKind((one) => one.inFlight),
  ],
  ['lag', 'Batches in the queue that no forwarder has received.', ofKind(({ info }) => info?.num_pending)],
  [
    'last_success_timestamp_seconds',
    'Unix time at which the log service last accepted a batch from this forwarder, initially 0.',
    ofKind(({ stats }) => (stats.lastSuccessAtMs ?? 0) / 1000),
  ],
  [
    'oldest_unsent_seconds',
    'Age of the oldest batch in the queue that is not acknowledged.',
    ({ oldestUnsentMs: ms }) => [{ labels: {}, value: ms === undefined ? undefined : ms / 1000 }],
  ],
  [
    'ready',
    '1 if connected to NATS and both consumers answer, 0 if not, or if the log service refuses everything.',
    ({ isReady }) => [{ labels: {}, value: Number(isReady) }],
  ],
  ['requests_total', 'Requests to the log service by outcome.', byOutcome((stats) => stats.requests)],
]

export const FORWARD_FAMILIES: readonly PrometheusFamily<ForwardState>[] = TABLE.map(([name, help, samples]) => ({
  prometheus: `pino_ingest_forward_${name}`,
  kind: name.endsWith('_total') ? 'counter' : 'gauge',
  help,
  samples,
}))
