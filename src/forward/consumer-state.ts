/** Parses JetStream's description of a consumer. */
import type { ConsumerInfo } from '@nats-io/jetstream'
import { ACK_WAIT_MS } from '../nats/streams.js'

export interface ConsumerFacts {
  /** Messages not yet delivered to any forwarder. */
  readonly pending: number
  /** Messages delivered but not acknowledged. */
  readonly ackPending: number
  /** All messages up to this sequence are acknowledged. */
  readonly ackFloor: number
  readonly ackWaitMs: number
}

interface ConsumerState extends ConsumerFacts {
  /** Limits of a pull request; Infinity if the consumer has none. */
  readonly maxBatch: number
  readonly maxPullBytes: number
}

export function toConsumerState(info: ConsumerInfo): ConsumerState {
  const { ack_wait: ackWait = 0, max_batch: maxBatch = 0, max_bytes: maxBytes = 0 } = info.config ?? {}
  return {
    pending: info.num_pending ?? 0,
    ackPending: info.num_ack_pending ?? 0,
    ackFloor: info.ack_floor?.stream_seq ?? 0,
    ackWaitMs: ackWait > 0 ? ackWait / 1_000_000 : ACK_WAIT_MS,
    maxBatch: maxBatch > 0 ? maxBatch : Infinity,
    maxPullBytes: maxBytes > 0 ? maxBytes : Infinity,
  }
}
