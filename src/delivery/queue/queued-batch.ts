/** Types of the batch queue. */
import type { Clock } from '../../shared/clock.js'
import type { Batch } from '../../batch/batch.js'
import type { SpilledBatches } from './spilled-queue.js'
import type { DiskBacklog } from './recovered-queue.js'

export interface QueueDisk {
  readonly spilled: SpilledBatches
  readonly recovery: DiskBacklog
}

export interface QueueOptions {
  /** Bytes of the batches of this process that wait or are in flight. */
  readonly maxBufferBytes: number
  readonly disk?: QueueDisk | undefined
  readonly clock: Clock
  /** Whether the service fails at present. */
  readonly isDown?: () => boolean
  /** With 1, batches are sent in order, even after an outage. */
  readonly maxConcurrency?: number
  /**
   * Time in milliseconds, after the application's latest batch, in which batches of earlier processes are sent. In the
   * application's thread, a request keeps the process alive, and a long backlog must not keep a short script running.
   * Default: no limit.
   */
  readonly recoverForMs?: number | undefined
}

export type QueueKind = 'durable' | 'memoryOnly' | 'recovered'

export interface QueuedBatch {
  readonly kind: QueueKind
  /** Sequence number within its kind. */
  readonly sequence: number
  readonly batch: Batch
}

/** A sequence number in each kind of this process. */
export interface Watermark {
  readonly durable: number
  readonly memoryOnly: number
}

/** Memory of a batch in addition to its body: buffer, promise, queue slot. Measured with batches of one entry. */
export const BATCH_OVERHEAD_BYTES = 1_024

export function countBytes({ body }: Batch): number {
  return body.length + BATCH_OVERHEAD_BYTES
}
