/** What the queue is given and gives: batches that wait, each in its lane. */
import type { Clock } from '../../shared/clock.js'
import type { Batch } from '../../batch/sender.js'
import type { EvictedBatches } from './evicted-lane.js'
import type { DiskBacklog } from './recovered-lane.js'

export interface QueueDisk {
  readonly evicted: EvictedBatches
  readonly recovery: DiskBacklog
}

export interface QueueOptions {
  /** Bytes of the app's own that wait or are in flight. */
  readonly maxBufferBytes: number
  readonly disk?: QueueDisk | undefined
  readonly clock: Clock
  /** Whether the service fails at the moment. */
  readonly isDown?: () => boolean
  /** At 1 batches go in the order in which they came, after an outage too. Default: they do not. */
  readonly maxConcurrency?: number
  /**
   * What earlier processes left is sent for so long after the app's last batch. In the app's own thread a request keeps
   * the process alive, and a short script must not stay for a long backlog. Default: for ever.
   */
  readonly recoverForMs?: number | undefined
}

export type Lane = 'stored' | 'loose' | 'recovered'

export interface QueuedBatch {
  readonly lane: Lane
  /** In its lane. */
  readonly sequence: number
  readonly batch: Batch
}

/** Up to which order in each lane of the app's own records. */
export interface Watermark {
  readonly durable: number
  readonly memoryOnly: number
}

/** What a batch takes beside its body: buffer, promise, its place in the lines. Measured with batches of one entry. */
export const BATCH_OVERHEAD_BYTES = 1_024

export function bytesOf({ body }: Batch): number {
  return body.length + BATCH_OVERHEAD_BYTES
}
