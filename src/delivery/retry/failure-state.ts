/**
 * Records the outcome of every attempt and derives from it whether the service fails, when the next attempt may start,
 * and whether a rejection proves that an entry is bad. Everything else reads this state or subscribes to it.
 *
 * A Retry-After counts as an outage while it lasts, but not afterwards, because nothing failed during it.
 */
import type { EndpointRejected, Outcome, Refused, Retryable } from '../../batch/outcome.js'
import type { RetrySettings } from '../../options/settings.js'
import { computeDelayMs } from '../../shared/backoff.js'
import type { Clock } from '../../shared/clock.js'
import { AttemptHistory, hasNamedEntry } from './attempt-history.js'
import type { Attempt, AttemptCounts } from './attempt-history.js'
import { Outage } from './outage.js'
import { RecentReplies } from './recent-replies.js'
import { RejectionTracker } from './rejection-tracker.js'
import { RetryAfter } from './retry-after.js'
import { isSuspect } from './wait-queue.js'
import type { RetryState } from './wait-queue.js'

export interface FailureStateOptions {
  readonly clock: Clock
  readonly retry: RetrySettings
  /** In [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

export interface FailureListener {
  /**
   * Called for a failure during an outage. `waitMs`: time until the next attempt. `isEnding`: the process is shutting
   * down, so there may be no next attempt.
   */
  onFailure?(failure: Retryable | EndpointRejected, outageAgeMs: number, waitMs: number, isEnding: boolean): void
  /** Called for the first success after an outage, or after a Retry-After alone (`hasFailed` is false). */
  onRecovery?(outageAgeMs: number, hasFailed: boolean): void
  onSuccess?(): void
  /** Called for a reply with a Retry-After. */
  onRetryAfter?(delayMs: number): void
  /** Called after every attempt, and when the state changes for another reason. */
  onChange?(): unknown
}

/** `single-failure`: of one batch, while other requests are accepted. */
export type AttemptResult = 'success' | 'outage' | 'single-failure' | 'none'

const RETRY_AFTER_REASON = 'the service sent a Retry-After'
/**
 * First delay of one batch while others are accepted, in response times. Short, because another node may accept the
 * batch immediately.
 */
const FIRST_DELAY_REPLIES = 4
/**
 * Share of `retry.minMs` per failure of one batch while others are accepted. Small, because the service does not need a
 * pause.
 */
const BATCH_SHARE = 1 / 4
/** Maximum delay of a batch that may be the cause itself, such as one whose content resets the connection. */
const SUSPECT_RETRY_MS = 60_000
/** Maximum delay of one batch while others are accepted. */
const MAX_BATCH_DELAY_MS = 5_000

export class FailureState {
  readonly rejections: RejectionTracker
  readonly #options: FailureStateOptions & { readonly random: () => number }
  readonly #recent = new RecentReplies()
  readonly #listeners = new Set<FailureListener>()
  readonly #history = new AttemptHistory()
  readonly #outage = new Outage()
  readonly #retryAfter: RetryAfter
  /** End of the backoff; may be shortened. */
  #pausedUntil = -Infinity
  /** Set after a failure of the only request: no other batch is sent before that one. */
  #aloneUntil = -Infinity
  #isEnding = false

  constructor(options: FailureStateOptions) {
    this.#options = { ...options, random: options.random ?? Math.random }
    this.#retryAfter = new RetryAfter(options.clock, this.#options.random)
    this.rejections = new RejectionTracker(options.clock, this.#history.counts)
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: FailureListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reason of the latest failure during an outage, or a note that the service sent a Retry-After. */
  get lastFailure(): string | undefined {
    return this.#outage.reason ?? (this.retryAfterLeftMs > 0 ? RETRY_AFTER_REASON : undefined)
  }

  /** Whether nothing listened at the latest attempt, see `Retryable`, and no attempt is in progress. */
  get nobodyListens(): boolean {
    return this.#outage.nobodyListens && this.attempts.begun === this.attempts.ended
  }

  /** Milliseconds since the start of the first failed attempt, which may have waited for a reply; 0 if the service does not fail. */
  get outageAgeMs(): number {
    const now = this.#options.clock.now()
    return Math.max(this.#ageMs, now - (this.#outage.failingSince ?? now))
  }

  /** Milliseconds until the end of the Retry-After. */
  get retryAfterLeftMs(): number {
    return this.#retryAfter.leftMs
  }

  /** The earliest time of the next attempt. */
  get nextAttemptAt(): number {
    return Math.max(this.#retryAfter.until, this.#pausedUntil, this.#aloneUntil)
  }

  get attempts(): Readonly<AttemptCounts> {
    return this.#history.counts
  }

  /** Whether an attempt that started after the latest failure was accepted. */
  get isAccepting(): boolean {
    return this.#history.isAccepting
  }

  /** Whether the process is shutting down and no attempt in flight can change this state. */
  get isIdleAtEnd(): boolean {
    return this.#isEnding && this.attempts.begun === this.attempts.ended
  }

  /**
   * Whether the service accepted other entries directly before and directly after this rejection, which proves that an
   * entry of the batch is bad.
   */
  isProof(refused: Refused): boolean {
    return this.#history.isProof(refused)
  }

  begin(retryState: RetryState, signal: AbortSignal): Attempt {
    return this.#history.begin(this.#options.clock.now(), retryState, signal)
  }

  /**
   * Ends an attempt.
   * @param isCurrent whether it belongs to the current epoch; an older attempt may extend a Retry-After, lengthen the
   * pause after rejections, or end that pause if it is accepted
   * @param isOneAtATime whether only one request at a time is sent
   */
  record(attempt: Attempt, outcome: Outcome, isCurrent: boolean, isOneAtATime: boolean): AttemptResult {
    try {
      return this.#record(attempt, outcome, isCurrent, isOneAtATime)
    } finally {
      this.#history.counts.ended += 1
      this.#emit((listener) => void listener.onChange?.())
    }
  }

  /** As `AttemptHistory.classifyRejection`. Must be called before `record`. */
  classifyRejection(attempt: Attempt, reply: Outcome): Outcome {
    return this.#history.classifyRejection(attempt, reply)
  }

  /**
   * Records that isolation found no accepted entry in a batch.
   * @param hasOnlyRejected whether nothing else is left to send, so the failure is reported
   */
  recordRejectsAll(refused: Refused, rootId: string, hasOnlyRejected: boolean): void {
    this.#history.failed()
    this.rejections.addRejectedBatch(rootId)
    this.#reject(refused, !hasOnlyRejected && this.attempts.accepted > 0)
    this.#emit((listener) => void listener.onChange?.())
  }

  applyRetryAfter(retryAfterMs: number): void {
    this.#retryAfter.apply(retryAfterMs)
  }

  /** Shortens the backoff to at most `retry.minMs` after the latest failure. */
  shortenBackoff(): void {
    const { clock, retry } = this.#options
    this.#pausedUntil = Math.min(this.#pausedUntil, this.rejections.pausedAt + retry.minMs)
    this.#aloneUntil = Math.min(this.#aloneUntil, clock.now() + retry.minMs)
    this.rejections.repeatAt(clock.now())
    this.#emit((listener) => void listener.onChange?.())
  }

  endBackoff(): void {
    this.#pausedUntil = this.#aloneUntil = -Infinity
    this.rejections.repeatAt(-Infinity)
    this.#emit((listener) => void listener.onChange?.())
  }

  /** Called at shutdown. Ends the backoff; the next failure starts it anew. */
  startShutdown(): void {
    this.#isEnding = true
    this.#outage.restartBackoff()
    this.endBackoff()
  }

  /**
   * Resolves when `condition` is true, when `signal` aborts, or after `timeoutMs`. Checks `condition` at every change.
   */
  async until(condition: () => boolean, signal: AbortSignal, timeoutMs?: number): Promise<void> {
    if (condition() || signal.aborted) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        unsubscribe()
        signal.removeEventListener('abort', end)
        cancelTimer?.()
        resolve()
      }
      const unsubscribe = this.subscribe({ onChange: () => condition() && end() })
      signal.addEventListener('abort', end)
      const cancelTimer = timeoutMs === undefined ? undefined : this.#options.clock.timer(timeoutMs, end)
    })
  }

  /** Milliseconds since the first failure of the outage, or since the start of the Retry-After. */
  get #ageMs(): number {
    const { since } = this.#outage
    return since === undefined ? (this.#retryAfter.ageMs ?? 0) : this.#options.clock.now() - since
  }

  #record(attempt: Attempt, outcome: Outcome, isCurrent: boolean, isOneAtATime: boolean): AttemptResult {
    switch (outcome.kind) {
      case 'delivered':
        if (outcome.accepted > 0) this.#history.accepted(attempt)
        if (isCurrent) return this.#succeed()
        // Requests that were in flight at the rejection are accepted: the endpoint does not reject everything.
        if (outcome.accepted > 0 && this.rejections.mayRejectAll) this.#succeed()
        return 'none'
      case 'refused':
        if (hasNamedEntry(outcome)) return isCurrent ? this.#succeed() : 'none'
        this.#history.failed(attempt)
        return this.#recordRejection(outcome, attempt.retryState, isCurrent)
      case 'retryable': {
        // The transport aborted the attempt, so its outcome does not depend on the service.
        if (attempt.signal.aborted && outcome.status === undefined) return 'none'
        this.#history.failed(attempt)
        this.#recordCause(outcome, attempt.retryState)
        const { retryAfterMs } = outcome
        if (retryAfterMs !== undefined) {
          this.applyRetryAfter(retryAfterMs)
          this.#emit((listener) => listener.onRetryAfter?.(retryAfterMs))
        }
        if (!isCurrent) return 'none'
        if (!this.#isOutage(outcome, attempt, isOneAtATime)) return 'single-failure'
        attempt.retryState.outageFailures += 1
        return this.#fail(outcome)
      }
      case 'endpoint-rejected':
        this.#history.failed(attempt)
        return isCurrent ? this.#fail(outcome) : 'none'
      case 'abandoned':
        return 'none'
    }
  }

  #recordCause({ mayConcernContent, mayBeStored }: Retryable, retryState: RetryState): void {
    if (mayBeStored) retryState.mayBeStoredAt = this.attempts.accepted
    if (mayConcernContent) retryState.contentFailures += 1
    else retryState.contentFailures = mayBeStored ? -Infinity : Math.min(retryState.contentFailures, 0)
  }

  #recordRejection(refused: Refused, retryState: RetryState, isCurrent: boolean): AttemptResult {
    const { rejections } = this
    if (!rejections.mayRejectAll && (!refused.mayConcernEndpoint || rejections.searchedId !== undefined)) {
      rejections.addContentRejection(retryState)
      return 'none'
    }
    if (!isCurrent) {
      rejections.addOlderRejection(retryState)
      this.#pausedUntil = Math.max(this.#pausedUntil, rejections.pausedAt + rejections.pauseMs)
      return 'none'
    }
    const isRepeated = rejections.wasRejected(retryState.batchId)
    rejections.addEndpointRejection(retryState)
    const { isDivisible, batchId, rootId } = retryState
    const hasProbe = this.attempts.accepted > 0 || ((isDivisible || batchId !== rootId) && !this.#isEnding)
    return this.#reject(refused, hasProbe && !isRepeated)
  }

  /** @param hasProbe whether another entry can be sent that shows whether the endpoint is the cause */
  #reject(refused: Refused, hasProbe: boolean): 'outage' {
    const failure: EndpointRejected = { ...refused, kind: 'endpoint-rejected' }
    this.#outage.fail(failure, this.#startOfOutage)
    return this.#pause(failure, hasProbe && this.rejections.isNextProbeQuick)
  }

  /**
   * Whether a failure is an outage. A 429 and a failure during an outage always are. Otherwise the failure delays only
   * its own batch, or all batches if only one request at a time is sent.
   */
  #isOutage({ status }: Retryable, { startedAt, retryState }: Attempt, isOneAtATime: boolean): boolean {
    this.#outage.attemptFailed(startedAt)
    const mayBeCause = isSuspect(retryState)
    if (this.lastFailure !== undefined || (status === 429 && !mayBeCause) || this.#recent.recordFailure(retryState))
      return true
    // At shutdown at most two attempts are left, see `FAILURES_ON_DISK`.
    if (isOneAtATime && this.#isEnding) return true
    const { clock, random, retry } = this.#options
    const now = clock.now()
    this.#outage.recordSingleFailure(now)
    retryState.singleFailures += 1
    const maxMs = mayBeCause
      ? Math.min(retry.minMs * 2 ** retryState.singleFailures, SUSPECT_RETRY_MS)
      : Math.min(retry.minMs * BATCH_SHARE * retryState.singleFailures, retry.maxMs, MAX_BATCH_DELAY_MS)
    const firstMs = retryState.singleFailures === 1 && !mayBeCause ? (now - startedAt) * FIRST_DELAY_REPLIES : Infinity
    retryState.notBefore = now + random() * Math.min(maxMs, firstMs)
    // No other request shows whether this is an outage, and the order is kept.
    if (isOneAtATime && !mayBeCause) this.#aloneUntil = retryState.notBefore
    return false
  }

  #fail(failure: Retryable | EndpointRejected): 'outage' {
    this.#outage.fail(failure, this.#startOfOutage)
    return this.#pause(failure)
  }

  /** Excludes a Retry-After that is over, since nothing may have been sent since then. */
  get #startOfOutage(): number {
    return this.#options.clock.now() - this.#ageMs
  }

  #pause(failure: Retryable | EndpointRejected, isUnreported = false): 'outage' {
    const now = this.#options.clock.now()
    const { attempts } = this.#outage
    // Without a status, the local service is not running or NATS is misconfigured. A probe is cheap then, and may
    // succeed at any time.
    const pauseMs =
      failure.kind === 'endpoint-rejected' && failure.status !== undefined && failure.queue === undefined
        ? this.rejections.pauseMs
        : computeDelayMs({ ...this.#options, attempt: attempts, outageAgeMs: this.#ageMs })
    this.#pausedUntil = now + pauseMs
    this.rejections.recordPause(now)
    if (!isUnreported)
      this.#emit((listener) => listener.onFailure?.(failure, this.#ageMs, this.nextAttemptAt - now, this.#isEnding))
    return 'outage'
  }

  /** A success during a Retry-After does not end it. */
  #succeed(): 'success' {
    this.#recent.recordSuccess()
    const ageMs = this.#ageMs
    const hasFailed = this.#outage.reason !== undefined
    this.#outage.end()
    this.rejections.succeeded()
    // Set by rejections of older attempts.
    this.#pausedUntil = -Infinity
    this.#emit((listener) => listener.onSuccess?.())
    const isFirstAfterPause = this.#retryAfter.succeed()
    if (hasFailed || isFirstAfterPause) this.#emit((listener) => listener.onRecovery?.(ageMs, hasFailed))
    return 'success'
  }

  #emit(notify: (listener: FailureListener) => void): void {
    for (const listener of this.#listeners) notify(listener)
  }
}
