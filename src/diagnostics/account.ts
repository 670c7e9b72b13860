/** The ledger: what came in is always what went out by a named door, or is still inside. */

/**
 * Why entries were given up.
 * - `buffer`: memory for unacknowledged entries was full, and they were not on disk
 * - `shutdown`: the time at exit was over, and they were not on disk
 * - `spool`: the disk's bound was reached, and the oldest went
 * - `age`: they waited on disk for longer than `spool.maxAgeMs`
 * - `damaged`: what was on disk cannot be read back
 */
export const DROP_REASONS = ['buffer', 'shutdown', 'spool', 'age', 'damaged'] as const
export type DropReason = (typeof DROP_REASONS)[number]

/** Entries dropped, by reason. */
export type DroppedByReason = Partial<Readonly<Record<DropReason, number>>>

/** Drops not yet reported to the service. */
export interface UnreportedDrops {
  readonly dropped: DroppedByReason
  /** When the latest of them was dropped, in milliseconds since the Unix epoch. */
  readonly lastAtMs: number
}

export interface AccountSnapshot {
  /** Entries handed in by the app. */
  readonly received: number
  /** Entries taken over from an earlier process. */
  readonly recovered: number
  /** Entries the transport wrote itself. */
  readonly generated: number
  /** Entries the service took. */
  readonly accepted: number
  /** Entries the service refused. */
  readonly rejected: number
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Entries left out as configured: level, sampling, a hook. */
  readonly filtered: number
  /** Entries inside, as the stages themselves count them. */
  readonly pending: number
  /** received + recovered + generated = accepted + rejected + dropped + filtered + pending */
  readonly balances: boolean
  /** Of request logs, where `requestLogs` is on: another account, and not a part of this one. */
  readonly requestLogs?: Omit<AccountSnapshot, 'requestLogs'>
}

/**
 * Each stage increments the counters of its own doors, as plain integers, since `received` sits on the hot path.
 * `pending` is never incremented: it is asked of the stages, so that a wrong count anywhere opens the sum.
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

  /** @param pendingEntries how many entries are inside the stage at the moment */
  addStage(pendingEntries: () => number): void {
    this.#stages.push(pendingEntries)
  }

  snapshot(): AccountSnapshot {
    const { received, recovered, generated, accepted, rejected, filtered } = this
    const dropped = { ...this.dropped }
    const pending = this.#stages.reduce((sum, pendingEntries) => sum + pendingEntries(), 0)
    const droppedTotal = Object.values(dropped).reduce((sum, count) => sum + count, 0)
    const closes = received + recovered + generated === accepted + rejected + droppedTotal + filtered + pending
    return { received, recovered, generated, accepted, rejected, dropped, filtered, pending, balances: closes }
  }
}
