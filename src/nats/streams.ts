/**
 * Server configurations of a fleet's streams and consumers: a stream of queued batches with a consumer for each kind, a dead-letter stream,
 * and a key-value bucket shared by the forwarders. Pure.
 */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import type { BatchKind, StreamNames } from './message.js'

const MINUTE_NS = 60_000_000_000

/** A running publisher retries a batch whose acknowledgement was lost within this time. */
const DUPLICATE_WINDOW_NS = 10 * MINUTE_NS
/** A forwarder extends it while it holds a batch. It expires only if the forwarder has died or lost its connection. */
export const ACK_WAIT_MS = 30_000

/** Sizes that are left out are not compared with those of existing streams. */
export interface StreamSizes {
  /** Copies of each message: 1, 3 or 5. */
  readonly replicas?: number | undefined
  /** Limit of all queued batches. JetStream reserves it on each server. */
  readonly maxBytes?: number | undefined
  /** Limit of all rejected entries; the oldest are deleted first. */
  readonly maxDeadBytes?: number | undefined
  /** Limit of the shared bucket; the oldest keys are deleted first. */
  readonly maxStateBytes?: number | undefined
}

type ToConfig = (names: StreamNames, sizes: StreamSizes) => Partial<StreamConfig> & Pick<StreamConfig, 'name'>

/** A work queue: an acknowledged message is deleted. A full queue rejects new messages, and publishers keep their batches. */
export const toQueueConfig: ToConfig = (names, { replicas, maxBytes }) => ({
  name: names.stream,
  subjects: Object.values(names.subjects),
  retention: 'workqueue',
  discard: 'new',
  duplicate_window: DUPLICATE_WINDOW_NS,
  max_age: 0,
  // Such a limit deletes the oldest batches, despite `discard`.
  max_msgs_per_subject: -1,
  // A purge by mistake would delete every batch. Acknowledgements delete single messages.
  deny_purge: true,
  ...toCommonSettings(replicas, maxBytes),
})

/** How long dead letters are kept is the operator's choice. */
export const toDeadConfig: ToConfig = (names, { replicas, maxDeadBytes }) => ({
  name: names.deadStream,
  subjects: [`${names.deadSubject}.>`],
  retention: 'limits',
  discard: 'old',
  duplicate_window: DUPLICATE_WINDOW_NS,
  // `forward dead replay` deletes what it has published.
  deny_delete: false,
  ...toCommonSettings(replicas, maxDeadBytes),
})

/**
 * A key-value bucket as other clients of NATS create it. Without `allow_direct` its leader answers: another replica may not have the newest
 * ids yet.
 * @see ADR-8 of NATS
 */
export const toBucketConfig: ToConfig = ({ bucket }, { replicas, maxStateBytes }) => ({
  name: `KV_${bucket}`,
  subjects: [`$KV.${bucket}.>`],
  retention: 'limits',
  discard: 'old',
  max_msgs_per_subject: 1,
  max_age: 7 * 24 * 60 * MINUTE_NS,
  allow_rollup_hdrs: true,
  deny_delete: true,
  allow_direct: false,
  ...toCommonSettings(replicas, maxStateBytes),
})

function toCommonSettings(replicas: number | undefined, maxBytes: number | undefined): Partial<StreamConfig> {
  return {
    storage: 'file',
    no_ack: false,
    ...(replicas !== undefined && { num_replicas: replicas }),
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
  }
}

export function toConsumerConfig(names: StreamNames, kind: BatchKind): Partial<ConsumerConfig> {
  return {
    durable_name: names.consumers[kind],
    filter_subject: names.subjects[kind],
    ack_policy: 'explicit',
    ack_wait: ACK_WAIT_MS * 1_000_000,
    max_deliver: -1,
    // Batches that were given back count until they are redelivered. At a limit, JetStream would deliver no others to any forwarder.
    max_ack_pending: -1,
    headers_only: false,
  }
}
