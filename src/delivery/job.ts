/** A batch, or a part of one, that is not settled. A job is replaced, never changed. */
import type { Batch } from '../batch/batch.js'
import type { Refused } from '../batch/outcome.js'

/**
 * `live`: new entries of this process. `backlog`: entries of this process from an outage. `adopted`: entries that earlier
 * processes left on disk.
 */
export type Lane = 'live' | 'backlog' | 'adopted'

export type Standing =
  /** Nothing is known about it. A failure may be the service's. */
  | { readonly kind: 'fresh' }
  /** It fails while others are accepted. */
  | { readonly kind: 'suspect'; readonly failures: number }
  /**
   * The service refused it without naming an entry. `timesAlone`: refusals of a single entry that count, since others
   * were accepted in between.
   */
  | { readonly kind: 'refused'; readonly timesAlone: number; readonly isContent: boolean; readonly reply: Refused }

export interface Job {
  /** Bytes and id never change. A part has an `origin`. */
  readonly batch: Batch
  readonly lane: Lane
  /** Position in the order of the log; a part has that of its batch. */
  readonly sequence: number
  readonly standing: Standing
  /** Attempts that failed as unavailable, in or outside an outage. */
  readonly attempts: number
  /** Delayed until this time; -Infinity if it is not. */
  readonly notBefore: number
  /**
   * Number of requests begun when this job, or the job it was cut from, last failed. If a later request was accepted, the
   * service works and the job is the cause. Undefined if it never failed.
   */
  readonly begunAtFailure?: number | undefined
  /** Whether the service may have stored it although it failed, so that it must not be divided for that. */
  readonly mayBeStored: boolean
  /** The entry as it was logged, if the job has it shortened. */
  readonly whole?: string
}

/** Memory of a job in addition to its body: buffer, promise, slots. Measured with batches of one entry. */
export const JOB_OVERHEAD_BYTES = 1_024

export function countBytes({ batch: { body } }: Pick<Job, 'batch'>): number {
  return body.length + JOB_OVERHEAD_BYTES
}

const FRESH = { kind: 'fresh' } as const

export function createJob(batch: Batch, lane: Lane, sequence: number): Job {
  return { batch, lane, sequence, standing: FRESH, attempts: 0, notBefore: -Infinity, mayBeStored: false }
}

/** Whether it cannot be divided: its entry is shortened, refused and rejected alone. */
export function isSingle({ batch: { count } }: Pick<Job, 'batch'>): boolean {
  return count === 1
}

/** The order of the log. */
export function compareJobs(a: Job, b: Job): number {
  return a.sequence - b.sequence || firstPosition(a) - firstPosition(b)
}

function firstPosition({ batch: { origin } }: Job): number {
  return origin?.positions[0] ?? 0
}

/** Whether a request that began after the job's latest failure was accepted. @param latestAccepted number of that request */
export function isExplained({ begunAtFailure }: Job, latestAccepted: number): boolean {
  return begunAtFailure !== undefined && latestAccepted > begunAtFailure
}

/** Whether its entries are lost if the process ends. */
export function isMemoryOnly({ batch: { acknowledgement } }: Pick<Job, 'batch'>): boolean {
  return acknowledgement?.isDurable !== true
}
