/** Formats the metrics of a forwarder for Prometheus. Pure. */
import { escapeHelp, escapeValue, formatNumber } from '../app/metrics/prometheus-text.js'
import type { BatchKind } from '../nats/message.js'
import type { ForwardStats } from './forward-stats.js'
import type { QueueState } from './forwarder.js'

export interface KindState {
  readonly kind: BatchKind
  readonly stats: ForwardStats
  readonly inFlight: number
  readonly limit: number
  /** Undefined if the consumer is not known. */
  readonly lag: number | undefined
  readonly ackPending: number | undefined
}

export interface ForwardState {
  readonly kinds: readonly KindState[]
  readonly queue: QueueState
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number | undefined
}

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: (state: ForwardState) => readonly Sample[]
}

const ofKind =
  (value: (state: KindState) => number | undefined) =>
  ({ kinds }: ForwardState): Sample[] =>
    kinds.map((one) => ({ labels: { kind: one.kind }, value: value(one) }))

const byLabel =
  (label: string, values: (stats: ForwardStats) => Readonly<Record<string, number>>) =>
  ({ kinds }: ForwardState): Sample[] =>
    kinds.flatMap(({ kind, stats }) =>
      Object.entries(values(stats)).map(([name, value]) => ({ labels: { kind, [label]: name }, value })),
    )

const ofQueue =
  (value: (queue: QueueState) => number | undefined) =>
  ({ queue }: ForwardState): Sample[] => [{ labels: {}, value: value(queue) }]

export const FORWARD_FAMILIES: readonly Family[] = [
  {
    name: 'pino_ingest_forward_ack_pending',
    type: 'gauge',
    help: 'Batches that forwarders have received but not acknowledged.',
    samples: ofKind((one) => one.ackPending),
  },
  {
    name: 'pino_ingest_forward_batches_total',
    type: 'counter',
    help: 'Batches by outcome: forwarded, duplicate (delivered before, not sent again), redelivered (received again), released (returned to the queue), invalid (the message is not a batch, and is now a dead letter).',
    samples: byLabel('outcome', (stats) => stats.batches),
  },
  {
    name: 'pino_ingest_forward_concurrency_limit',
    type: 'gauge',
    help: 'Batches that may be in flight at once.',
    samples: ofKind((one) => one.limit),
  },
  {
    name: 'pino_ingest_forward_connected',
    type: 'gauge',
    help: '1 if there is a connection to NATS.',
    samples: ofQueue((queue) => Number(queue.isConnected)),
  },
  {
    name: 'pino_ingest_forward_entries_total',
    type: 'counter',
    help: 'Entries by outcome: forwarded (the service accepted them), rejected (now dead letters), duplicate, redelivered.',
    samples: byLabel('outcome', (stats) => stats.entries),
  },
  {
    name: 'pino_ingest_forward_in_flight',
    type: 'gauge',
    help: 'Batches that are being sent to the service, or wait for a free slot.',
    samples: ofKind((one) => one.inFlight),
  },
  {
    name: 'pino_ingest_forward_lag',
    type: 'gauge',
    help: 'Batches in the queue that no forwarder has received.',
    samples: ofKind((one) => one.lag),
  },
  {
    name: 'pino_ingest_forward_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the service last accepted a batch from this forwarder, initially 0.',
    samples: ofKind(({ stats }) => (stats.lastSuccessAtMs ?? 0) / 1000),
  },
  {
    name: 'pino_ingest_forward_oldest_unsent_seconds',
    type: 'gauge',
    help: 'Age of the oldest batch in the queue that is not acknowledged.',
    samples: ofQueue(({ oldestUnsentMs }) => (oldestUnsentMs === undefined ? undefined : oldestUnsentMs / 1000)),
  },
  {
    name: 'pino_ingest_forward_ready',
    type: 'gauge',
    help: '1 if connected and the consumers exist.',
    samples: ofQueue((queue) => Number(queue.isReady)),
  },
  {
    name: 'pino_ingest_forward_requests_total',
    type: 'counter',
    help: 'Requests to the service by outcome.',
    samples: byLabel('outcome', (stats) => stats.requests),
  },
]

/** Omits samples without a value. */
export function formatForwardMetrics(state: ForwardState): string {
  return FORWARD_FAMILIES.map(({ name, type, help, samples }) => {
    const lines = samples(state).flatMap(({ labels, value }) =>
      value === undefined ? [] : [`${name}${formatLabels(labels)} ${formatNumber(value)}\n`],
    )
    return lines.length === 0 ? '' : `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
  }).join('')
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
