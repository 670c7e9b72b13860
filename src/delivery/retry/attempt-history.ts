/**
 * The order of acceptances and failures. It shows whether a rejection proves that an entry is bad: the service accepted
 * others directly before and directly after it.
 */
import type { EndpointRejected, Outcome, Refused } from '../../batch/outcome.js'
import type { RetryState } from './wait-queue.js'

export interface AttemptCounts {
  begun: number
  ended: number
  /** Number of attempts with accepted entries. */
  accepted: number
  /** Number of the most recently started attempt that was accepted; 0 for none. */
  lastAcceptedAttempt: number
  /** Number of the most recently started attempt that failed; 0 for none. */
  lastFailedAttempt: number
}

/** The state when an attempt began. */
export interface Attempt {
  readonly number: number
  readonly startedAt: number
  readonly failures: number
  readonly isAccepting: boolean
  readonly retryState: RetryState
  /** Aborted if the transport ended the attempt. */
  readonly signal: AbortSignal
}

export class AttemptHistory {
  readonly counts: AttemptCounts = { begun: 0, ended: 0, accepted: 0, lastAcceptedAttempt: 0, lastFailedAttempt: 0 }
  #failures = 0
  #begunAtFailure = 0
  /** The latest rejection that may be a proof. */
  #provable: { readonly batchId: string; readonly failureNumber: number } | undefined

  /** Whether an attempt that started after the latest failure was accepted. */
  get isAccepting(): boolean {
    return this.counts.lastAcceptedAttempt > this.#begunAtFailure
  }

  begin(startedAt: number, retryState: RetryState, signal: AbortSignal): Attempt {
    this.counts.begun += 1
    const before = { failures: this.#failures, isAccepting: this.isAccepting }
    return { number: this.counts.begun, startedAt, ...before, retryState, signal }
  }

  accepted({ number }: Attempt): void {
    this.counts.accepted += 1
    this.counts.lastAcceptedAttempt = Math.max(this.counts.lastAcceptedAttempt, number)
  }

  failed(attempt?: Attempt): void {
    this.#failures += 1
    this.#begunAtFailure = this.counts.begun
    this.counts.lastFailedAttempt = Math.max(this.counts.lastFailedAttempt, attempt?.number ?? 0)
  }

  /** Whether the service accepted other entries directly before and directly after this rejection. */
  isProof({ failureNumber }: Refused): boolean {
    return failureNumber === this.#failures && this.isAccepting
  }

  /**
   * Must be called before `failed`. @returns the outcome, with a failure number if it is a rejection that may be a
   * proof. A wrong key or URL is a rejection as well, since a gateway may refuse one payload with the same reply
   */
  classifyRejection(attempt: Attempt, reply: Outcome): Outcome {
    const isHttpReply = reply.kind === 'endpoint-rejected' && reply.status !== undefined && reply.queue === undefined
    const outcome = isHttpReply ? toRefused(reply, reply.status) : reply
    if (outcome.kind !== 'refused' || hasNamedEntry(outcome) || attempt.failures !== this.#failures) return outcome
    const { batchId } = attempt.retryState
    const isRepeated = this.#provable?.batchId === batchId && this.#provable.failureNumber === this.#failures
    if (!attempt.isAccepting && !isRepeated) return outcome
    const failureNumber = this.#failures + 1
    this.#provable = { batchId, failureNumber }
    return { ...outcome, failureNumber }
  }
}

function toRefused({ reason }: EndpointRejected, status: number): Refused {
  return { kind: 'refused', status, reason, rejected: [], mayConcernEndpoint: true }
}

/** Whether a rejection names an entry. Excludes a 413, which is about the size. */
export function hasNamedEntry({ status, rejected }: Refused): boolean {
  return rejected.length > 0 && status !== 413
}
