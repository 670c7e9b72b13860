/**
 * Server configurations of a fleet's streams and consumers: a stream of queued batches with a consumer for each kind, a dead-letter stream,
 * and a key-value bucket shared by the forwarders. Pure.
 */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import type { BatchKind, StreamNames } from './message.js'

const SECOND_NS = 1_000_000_000
const MINUTE_NS = 60 * SECOND_NS

/** A running publisher retries a batch whose acknowledgement was lost within this time. */
const DUPLICATE_WINDOW_MS = 10 * 60_000
/** A forwarder extends it while it holds a batch. It expires only if the forwarder has died or lost its connection. */
export const ACK_WAIT_MS = 30_000
/** The server ends an unfilled pull request after this time. */
export const PULL_EXPIRES_MS = 5_000
/** Limit of unacknowledged batches of all forwarders together. At the limit JetStream delivers no more. */
export const MAX_ACK_PENDING = 8_192

export interface StreamSizes {
  /** Copies of each message: 1, 3 or 5. */
  readonly replicas: number
  /** Limit of all queued batches. JetStream reserves it on each server. */
  readonly maxBytes: number
  /** Limit of all rejected entries; the oldest are deleted first. */
  readonly maxDeadBytes: number
  /** Limit of the shared bucket; the oldest keys are deleted first. */
  readonly maxStateBytes: number
}

export type StreamSettings = Pick<
  StreamConfig,
  'name' | 'subjects' | 'retention' | 'storage' | 'discard' | 'num_replicas' | 'max_bytes'
> &
  Partial<StreamConfig>

/** A work queue: an acknowledged message is deleted. A full queue rejects new messages, and publishers keep their batches. */
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
    // A purge by mistake would delete every batch. Acknowledgements and forwarders delete single messages.
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

/** A key-value bucket compatible with the NATS CLI and other clients. @see ADR-8 of NATS */
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
