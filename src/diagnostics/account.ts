/** The account: every entry that was received has an outcome, or is pending. */

/**
 * Why entries were dropped.
 * - `buffer`: the memory for unacknowledged entries was full, and they were not on disk
 * - `shutdown`: the time at exit was over, or the worker ended, and they were not on disk
 * - `spool`: `spool.maxBytes` was reached, and the oldest were deleted
 * - `age`: they were on disk for longer than `spool.maxAgeMs`
 * - `damaged`: they cannot be read back from disk
 */
export type DropReason = 'buffer' | 'shutdown' | 'spool' | 'age' | 'damaged'

/** Entries dropped, by reason. */
export type DroppedByReason = Partial<Readonly<Record<DropReason, number>>>

/** What became of the entries of one transport since its start. Every entry has an outcome, or is pending. */
export interface AccountSnapshot {
  /** Entries that the app logged. */
  readonly received: number
  /** Entries of earlier processes, read back from disk. */
  readonly recovered: number
  /** Entries that the transport made itself. */
  readonly generated: number
  /** Entries that the log service accepted. */
  readonly accepted: number
  /** Entries that the log service rejected. */
  readonly rejected: number
  /** Entries that were dropped, by reason. */
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Entries not sent, as configured: level, sampling, deduplication, `beforeSend`. */
  readonly filtered: number
  /** Entries without an outcome yet, as the stages count them. */
  readonly pending: number
  /** received + recovered + generated = accepted + rejected + the sum of `dropped` + filtered + pending */
  readonly balances: boolean
  /** The account of request logs, if `requestLogs` is on; it is not part of this one. */
  readonly requestLogs?: Omit<AccountSnapshot, 'requestLogs'>
}

/**
 * Each stage increments the counters of its outcomes. They are plain integers because `received` is on the hot path.
 * `pending` is read from the stages instead of being counted, so a wrong count anywhere shows in `balances`.
 */
export class Account {
  received = 0
  recovered = 0
  generated = 0
  accepted = 0
  rejected = 0
  filtered = 0
  readonly dropped: Record<DropReason, number> = { buffer: 0, shutdown: 0, spool: 0, age: 0, damaged: 0 }
  readonly #stages: (() => number)[] = []

  /** @param pendingEntries the number of entries that are in the stage now */
  addStage(pendingEntries: () => number): void {
    this.#stages.push(pendingEntries)
  }

  snapshot(): AccountSnapshot {
    const { received, recovered, generated, accepted, rejected, filtered } = this
    const dropped = { ...this.dropped }
    const pending = this.#stages.reduce((sum, pendingEntries) => sum + pendingEntries(), 0)
    const droppedTotal = Object.values(dropped).reduce((sum, count) => sum + count, 0)
    const balances = received + recovered + generated === accepted + rejected + droppedTotal + filtered + pending
    return { received, recovered, generated, accepted, rejected, dropped, filtered, pending, balances }
  }
}
