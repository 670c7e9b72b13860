/** The interface between the batcher and the store of its entries. */
import type { Batch, DeadLetter } from '../batch/sender.js'

/**
 * Stores entries before they are sent. Never throws. Another process may claim the open batch, and send its entries that are on disk under
 * its id. `flush` and `seal` report this once; the caller must then restart the batch under a new id.
 */
export interface EntryLog {
  /**
   * @param first position of the first of these entries in the batch; 0 begins a batch
   * @param text their JSON, comma-separated; not kept
   */
  append(batchId: string, first: number, count: number, severity: number, text: Uint8Array): void
  /** Writes all appended entries. @returns false if the open batch was claimed */
  flush(): boolean
  /**
   * Ends the open batch. Does not keep its body.
   * @returns the batch, with its acknowledgement if entries of it are on disk; undefined if the open batch was claimed. The returned batch
   *   has fewer entries if only the first ones could be written: after a crash these would be sent under this id, so the
   *   caller must send the others under a new one
   */
  seal(batch: Batch): Batch | undefined
}

/** Text that can be read again, so that its entries need no copy on disk. */
export interface RereadableSource extends EntryLog {
  /** A UUID for the next batch. */
  newBatchId(): string
  /** Time of lines that have none; milliseconds since the epoch. */
  recordTimeMs(): number
  /** Stores entries that the service rejected. @throws the system's errors */
  writeDeadLetters(letters: readonly DeadLetter[]): void
}
