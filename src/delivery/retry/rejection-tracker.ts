/**
 * Rejections that name no entry. The endpoint may reject everything, such as for a wrong key, or one payload. Other
 * entries are sent as probes, since only those show which: a few in quick succession, then one per minute.
 */
import type { Clock } from '../../shared/clock.js'
import type { AttemptCounts } from './attempt-history.js'
import type { RetriedBatch, RetryState } from './wait-queue.js'

/** A wrong key or URL is rarely corrected within minutes, and every probe counts against the rate limit. */
const PROBE_INTERVAL_MS = 60_000
/**
 * Time for another batch after a rejection. A single entry of the rejected batch says less, since it may be the bad one.
 */
const OTHERS_FIRST_MS = 2_000
/** Several payloads in a row may be bad, so this many are sent before the long pause. */
const QUICK_PROBES = 2
/** As `QUICK_PROBES`, if entries were accepted before, since the endpoint is less likely to be the cause. */
const QUICK_PROBES_AFTER_ACCEPTANCE = 4
/** Pause after the second rejection in a row; doubles with each further one. */
const QUICK_PROBE_MS = 1_000
/** After this number of proofs without a contradiction, `REJECTIONS_FOR_PROOF` applies again. */
const CAREFUL_PROOFS = 20
/** How often a single entry must be rejected in a row before it may be a dead letter. */
const REJECTIONS_FOR_PROOF = 2
const REJECTIONS_FOR_PROOF_AFTER_CONTRADICTION = 6

export class RejectionTracker {
  /** Id of the original batch that is searched for bad entries, whose rejections say nothing about the endpoint. */
  searchedId: string | undefined
  readonly #clock: Clock
  readonly #attempts: Readonly<AttemptCounts>
  /** Ids of the original batches that were rejected and are not settled. */
  readonly #rejectedIds = new Set<string>()
  /** Since the latest acceptance, of different batches or parts; Infinity if everything was rejected. */
  #inARow = 0
  #rejectsAllCount = 0
  #pausedAt = -Infinity
  /** Earliest time at which a rejected batch is sent again unchanged; `repeatAt` makes it earlier. */
  #repeatFrom = -Infinity
  /** Number of further entries for which more rejections are required. */
  #carefulProofs = 0

  constructor(clock: Clock, attempts: Readonly<AttemptCounts>) {
    this.#clock = clock
    this.#attempts = attempts
  }

  /** Whether the endpoint may reject everything: it may have caused a rejection since the latest success. */
  get mayRejectAll(): boolean {
    return this.#inARow > 0
  }

  /** How often the endpoint was found to reject everything. */
  get rejectsAllCount(): number {
    return this.#rejectsAllCount
  }

  /** Whether the next probe is sent within seconds. */
  get isNextProbeQuick(): boolean {
    return this.pauseMs < PROBE_INTERVAL_MS
  }

  /** Start of the latest pause, for whatever reason. */
  get pausedAt(): number {
    return this.#pausedAt
  }

  /** Pause before the next probe. */
  get pauseMs(): number {
    if (this.#inARow <= 1) return 0
    return this.#inARow <= this.#quickProbes ? QUICK_PROBE_MS * 2 ** (this.#inARow - 2) : PROBE_INTERVAL_MS
  }

  /** Number of long pauses since the latest success; 0 if a whole batch was rejected before anything was accepted. */
  get longPauses(): number {
    return Number.isFinite(this.#inARow) ? Math.max(this.#inARow - this.#quickProbes, 0) : 0
  }

  /** Milliseconds until a rejected batch may be sent again unchanged; not positive if it may. */
  get repeatsInMs(): number {
    return this.mayRejectAll ? this.#repeatFrom - this.#clock.now() : 0
  }

  /** How often a single entry must be rejected in a row before it may be a dead letter. */
  get rejectionsForProof(): number {
    return this.#carefulProofs > 0 ? REJECTIONS_FOR_PROOF_AFTER_CONTRADICTION : REJECTIONS_FOR_PROOF
  }

  /** Whether the original batch with this id was rejected and is not settled. */
  wasRejected(rootId: string): boolean {
    return this.#rejectedIds.has(rootId)
  }

  /** Call when an original batch is settled. */
  forget(rootId: string): void {
    this.#rejectedIds.delete(rootId)
  }

  /**
   * When this batch may be sent. If it, or the batch it is a part of, was rejected, others are sent first.
   * @param isEnding whether the process is shutting down, so a part does not wait for others
   */
  notBeforeOf({ batchId, origin }: RetriedBatch, isEnding: boolean): number {
    if (!this.mayRejectAll) return -Infinity
    if (this.wasRejected(batchId)) return this.#repeatFrom
    const isOfRejected = this.#inARow === 1 && origin !== undefined && this.wasRejected(origin.batchId)
    return isOfRejected && !isEnding ? this.#pausedAt + OTHERS_FIRST_MS : -Infinity
  }

  /** Call for a rejection that says nothing about the endpoint. */
  addContentRejection({ rootId }: RetryState): void {
    this.#rejectedIds.add(rootId)
  }

  /** Call for a rejection that the endpoint may have caused. */
  addEndpointRejection({ rootId }: RetryState): void {
    this.#count(1)
    this.#rejectedIds.add(rootId)
  }

  /** Call for such a rejection of an older attempt, which says nothing about the time since then. */
  addOlderRejection({ rootId }: RetryState): void {
    if (this.mayRejectAll) this.#inARow += 1
    this.#rejectedIds.add(rootId)
  }

  /** Call if isolation found no accepted entry in a batch. If nothing was accepted yet, the endpoint is the likely cause. */
  addRejectedBatch(rootId: string): void {
    this.#rejectedIds.add(rootId)
    this.#count(this.#attempts.accepted > 0 ? 1 : Infinity)
  }

  /** Call at each pause. */
  recordPause(now: number): void {
    this.#pausedAt = now
    this.#repeatFrom = now + PROBE_INTERVAL_MS
  }

  /** Call if rejected batches may be sent again at `at`. */
  repeatAt(at: number): void {
    this.#repeatFrom = Math.min(this.#repeatFrom, at)
  }

  /** Call if rejected entries are accepted later, unchanged: the content alone was not the cause. */
  recordContradiction(): void {
    this.#carefulProofs = CAREFUL_PROOFS
  }

  /** Call if an entry that was rejected alone becomes a dead letter. */
  recordProof(): void {
    this.#carefulProofs = Math.max(this.#carefulProofs - 1, 0)
  }

  /** Call for each success. */
  succeeded(): void {
    this.#inARow = 0
  }

  get #quickProbes(): number {
    return this.#attempts.accepted > 0 ? QUICK_PROBES_AFTER_ACCEPTANCE : QUICK_PROBES
  }

  #count(added: number): void {
    const wasQuick = this.isNextProbeQuick
    this.#inARow += added
    if (wasQuick && !this.isNextProbeQuick) this.#rejectsAllCount += 1
  }
}
