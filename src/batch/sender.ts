/**
 * The interface of all stages that send a batch: the HTTP call and the senders that wrap it, such as retry and
 * isolation. A rejected promise is a bug.
 */
import type { Batch } from './batch.js'
import type { Outcome } from './outcome.js'

export interface Sender {
  /** Never rejects. Aborting `signal` ends the attempt with the outcome `retryable` or `abandoned`. */
  send(batch: Batch, signal: AbortSignal): Promise<Outcome>
}
