/** The interface between the batcher and the store of its entries. */
import type { Batch, DeadLetter } from '../batch/batch.js'

/**
 * Stores entries before they are sent. Never throws. Another process may claim the open batch and send its entries on
 * disk under its id. `flush` and `seal` report this once; the caller must then restart the batch under a new id.
 */
export interface EntryLog {
  /**
   * @param first position of the first of these entries in the batch; 0 starts a batch
   * @param text their JSON, comma-separated; not retained
   */
  append(batchId: string, first: number, count: number, severity: number, text: Uint8Array): void
  /** Writes all appended entries. @returns false if the open batch was claimed */
  flush(): boolean
  /**
   * Ends the open batch. Does not retain its body.
   * @returns the batch, with its acknowledgement if entries of it are on disk; undefined if the open batch was claimed.
   * If only the first entries could be written, the returned batch has only these, because after a crash they would be
   * sent under this id. The caller must send the others under a new one
   */
  seal(batch: Batch): Batch | undefined
}

/** Input that can be read again, so its entries need no copy on disk. */
export interface RereadableSource extends EntryLog {
  /** A UUID for the next batch. */
  newBatchId(): string
  /** Time for lines without one, in milliseconds since the Unix epoch. */
  recordTimeMs(): number
  /** Stores entries that the service rejected. @throws the system's errors */
  writeDeadLetters(letters: readonly DeadLetter[]): void
}
