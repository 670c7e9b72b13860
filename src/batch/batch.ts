/** A batch, its acknowledgement on disk, and its dead letters. */

/** At most 100 entries under one id, which every attempt reuses. */
export interface Batch {
  /** UUID, final when the batch is sealed. */
  readonly batchId: string
  readonly count: number
  /** Index in `LEVELS` of the highest level in the batch. */
  readonly highestSeverity: number
  /** The request body, `{"batch_id":…,"logs":[…]}`, as UTF-8. */
  readonly body: Uint8Array
  /** Set for a part of a batch: the original batch and the positions of this part's entries in it. */
  readonly origin?: { readonly batchId: string; readonly positions: readonly number[] }
  /** Set if entries of the batch are on disk. */
  readonly acknowledgement?: BatchAcknowledgement
  /** Set if the whole batch is on disk and can be read back. */
  readonly place?: SegmentPosition
}

/** Start of a batch on disk. */
export interface SegmentPosition {
  readonly segment: number
  /** In bytes. */
  readonly offset: number
}

/** Records which entries of a batch are settled. Positions are those in this batch. Only `storeDeadLetters` may throw. */
export interface BatchAcknowledgement {
  /** Whether all entries are still on disk; a limit may have deleted them. Default false. */
  readonly isDurable?: boolean
  /**
   * Records that these entries are sent as a separate batch. Must be called before that batch is sent.
   * @returns the acknowledgement of that batch
   */
  createPart(positions: readonly number[]): BatchAcknowledgement
  /**
   * Stores rejected entries of the batch, before they are acknowledged. If it throws, the batch is abandoned. Default:
   * the dead letters of the sender.
   */
  storeDeadLetters?(letters: readonly DeadLetter[]): void
  /** Records that these entries (default: all) were accepted or became dead letters and must not be sent again. */
  acknowledge(positions?: readonly number[]): void
}

/** An entry that the service rejected, stored for inspection. */
export interface DeadLetter {
  /** Id of the original batch, not of the rejected part. */
  readonly batchId: string
  /** Position in that batch. */
  readonly index: number
  readonly status: number
  /** Error code of the service; empty if it gave none, as are the next two. */
  readonly code: string
  readonly field: string
  readonly reason: string
  /** As JSON. */
  readonly entry: string
}
