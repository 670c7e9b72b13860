/** The interface between the batcher and the store of its entries. */
import type { BatchAcknowledgement, DeadLetter, SegmentPosition } from '../batch/sender.js'

/** How much of a sealed batch is stored. */
export interface StoredBatch {
  /**
   * All entries of the batch if none is on disk; else the number of its first entries that are. After a crash these would be sent under its
   * id, so the caller must send the others under another one.
   */
  readonly count: number
  /** Set if entries are on disk. */
  readonly acknowledgement?: BatchAcknowledgement
  /** Set if the whole batch is on disk and can be read back. */
  readonly place?: SegmentPosition
}

/**
 * Stores entries before they are sent. Never throws. Several batches may be sealed before they are written together by `flush`. Another
 * process may claim batches that are not finished, and send their entries that are on disk under their ids. `flush` reports this once; the
 * caller must then pass all these batches to the log again, in order, under new ids.
 */
export interface EntryLog {
  /**
   * @param first position of the first of these entries in the batch; 0 begins a batch
   * @param text their JSON, comma-separated; not kept
   */
  append(batchId: string, first: number, count: number, severity: number, text: Uint8Array): void
  /**
   * Ends the batch that was appended to. @param bytes of its body @returns false if it needs another id: the caller must append its entries
   * again and seal it
   */
  seal(batchId: string, count: number, bytes: number): boolean
  /** Writes all appended entries and seals. @returns false if batches that are not finished were claimed */
  flush(): boolean
  /** Call it directly after `flush` for each sealed batch, oldest first. */
  finish(batchId: string): StoredBatch
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
