/**
 * What a fleet has in JetStream: a stream of batches that wait, with a consumer for each kind, a stream of rejected entries, and a key-value
 * bucket that the forwarders share. Pure: as the configurations that the server takes.
 */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import type { BatchKind, StreamNames } from './message.js'

const SECOND_NS = 1_000_000_000
const MINUTE_NS = 60 * SECOND_NS

/** A batch whose acknowledgement was lost is sent again within this time, unless the process ends. */
const DUPLICATE_WINDOW_MS = 10 * 60_000
/** A forwarder that holds a batch extends this, so it only ends for one that has died. */
export const ACK_WAIT_MS = 30_000
/** After this time the server ends a request of messages that is not filled. */
export const PULL_EXPIRES_MS = 5_000
/** Forwarders times their concurrency. Beyond it JetStream gives out no more batches. */
export const MAX_ACK_PENDING = 8_192

export interface StreamSizes {
  /** Copies of each message: 1, 3 or 5. */
  readonly replicas: number
  /** Bytes of all batches that wait. JetStream reserves them on each server. */
  readonly maxBytes: number
  /** Bytes of all rejected entries; the oldest are deleted. */
  readonly maxDeadBytes: number
  /** Bytes of what the forwarders share; the oldest keys are deleted. */
  readonly maxStateBytes: number
}

export type StreamSettings = Pick<
  StreamConfig,
  'name' | 'subjects' | 'retention' | 'storage' | 'discard' | 'num_replicas' | 'max_bytes'
> &
  Partial<StreamConfig>

/** A work queue: a message is deleted when it is acknowledged. When it is full, publishers keep their batches. */
export function toQueueConfig(names: StreamNames, { replicas, maxBytes }: StreamSizes): StreamSettings {
  return {
    name: names.stream,
    subjects: [names.subjects.logs, names.subjects.requests],
    retention: 'workqueue',
    storage: 'file',
    discard: 'new',
    num_replicas: replicas,
    max_bytes: maxBytes,
    duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
    // A purge takes all batches at once. Single messages are deleted by acknowledgements and by forwarders.
    deny_purge: true,
  }
}

export function toDeadConfig(names: StreamNames, { replicas, maxDeadBytes }: StreamSizes): StreamSettings {
  return {
    name: names.deadStream,
    subjects: [`${names.deadSubject}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    num_replicas: replicas,
    max_bytes: maxDeadBytes,
    duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
  }
}

/** A key-value bucket, as the NATS command line and other clients know it. @see ADR-8 of NATS */
export function toBucketConfig({ bucket }: StreamNames, { replicas, maxStateBytes }: StreamSizes): StreamSettings {
  return {
    name: `KV_${bucket}`,
    subjects: [`$KV.${bucket}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    num_replicas: replicas,
    max_bytes: maxStateBytes,
    max_msgs_per_subject: 1,
    max_age: 7 * 24 * 60 * MINUTE_NS,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_direct: true,
  }
}

export function toConsumerConfig(names: StreamNames, kind: BatchKind): Partial<ConsumerConfig> {
  return {
    durable_name: names.consumers[kind],
    filter_subject: names.subjects[kind],
    ack_policy: 'explicit',
    deliver_policy: 'all',
    ack_wait: ACK_WAIT_MS * 1_000_000,
    max_deliver: -1,
    max_ack_pending: MAX_ACK_PENDING,
  }
}
