/**
 * Decides when a batch may be sent, and how many at once. All batches share one breaker.
 *
 * Closed: one attempt at a time at first. While batches wait and the service keeps up, concurrency grows up to
 * `maxConcurrency` (`AdaptiveConcurrencyLimit`). A failure while other requests are accepted delays only its own batch,
 * at first for a few response times. With one attempt at a time, the others also wait, because the order is kept. Open:
 * an outage has its own pause (`FailureState`), which replaces all others, and starts a new epoch. An attempt of an
 * older epoch does not open the circuit. It may extend a Retry-After, lengthen the pause after rejections, or end that
 * pause if it is accepted. Half-open: after the pause, one probe is sent. After the
 * outage, attempts start no faster than `RecoveryRampUp` allows.
 *
 * A rejection that names no entry is not a success, since a gateway may reject everything. Isolation distinguishes the
 * two cases (`limitToOne`, `suspend`, `openForRejections`).
 */
import type { Outcome, Refused } from '../../batch/outcome.js'
import { AdaptiveConcurrencyLimit } from '../concurrency/adaptive-concurrency-limit.js'
import type { InFlightRequest } from '../concurrency/adaptive-concurrency-limit.js'
import { isOverload } from '../concurrency/overload-ceiling.js'
import { FAILURES_AFTER_SUCCESS, SILENCE_MS } from '../shutdown-policy.js'
import { readEventLoopIdleMs } from '../concurrency/response-time-sampler.js'
import type { EventLoopSample } from '../concurrency/response-time-sampler.js'
import { FailureState } from './failure-state.js'
import type { FailureListener, FailureStateOptions } from './failure-state.js'
import { RecoveryRampUp } from './recovery-ramp-up.js'
import { FAILURES_BEFORE_OTHERS, WaitQueue } from './wait-queue.js'
import type { RetriedBatch, RetryState } from './wait-queue.js'
import { WakeTimer } from './wake-timer.js'

/** The listener is subscribed to the `FailureState`. */
export interface CircuitBreakerOptions extends FailureStateOptions, FailureListener {
  /** Attempts in flight at once. */
  readonly maxConcurrency: number
  /** Attempts in flight before any has succeeded. Default 1. */
  readonly initialConcurrency?: number
  /** Returns the total idle time of this thread's event loop. Default: as reported by Node. */
  readonly idleMs?: () => number
}

/** A batch that fails so often while others are accepted is sent in parts. */
const FAILURES_BEFORE_SPLIT = 5
/** No batch is sent in parts before so many failures in a row that its content may have caused. A part is sent in parts then. */
const FAILURES_OF_PART = 2
/**
 * As `FAILURES_BEFORE_OTHERS`, for a batch that may be stored: its parts would arrive twice. A service that stores a batch rarely
 * loses so many replies in a row.
 */
const RESETS_BEFORE_OTHERS = 5
/** Maximum number of delayed batches outside the queue, where they cannot be dropped. Memory limits them as well. */
const MAX_DELAYED = 1_024
/** Number of batches from which the first probes of a rejecting endpoint are chosen. */
const PROBE_CANDIDATES = 32
/**
 * How often a batch that may be stored is sent again unchanged after a rejection, once per minute. A gateway's
 * deployment takes less time.
 */
const MAX_REPEATS = 3

export class CircuitBreaker {
  readonly failures: FailureState
  readonly #options: CircuitBreakerOptions
  readonly #idleMs: () => number
  readonly #rampUp: RecoveryRampUp
  readonly #waitQueue = new WaitQueue()
  readonly #concurrency: AdaptiveConcurrencyLimit
  readonly #wakeTimer: WakeTimer
  #suspended = 0
  /** Time of the latest reply, or of the start of the requests in flight. */
  #activeAt = -Infinity
  #shutdownAt = Infinity
  #shutdownFailuresLeft = Infinity
  #onCapacity: () => void = () => {}

  constructor(options: CircuitBreakerOptions) {
    const { clock, maxConcurrency, initialConcurrency, random, idleMs = readEventLoopIdleMs } = options
    this.#options = options
    this.#idleMs = idleMs
    this.failures = new FailureState(options)
    this.#rampUp = new RecoveryRampUp(clock, random)
    this.#concurrency = new AdaptiveConcurrencyLimit(maxConcurrency, initialConcurrency)
    this.#wakeTimer = new WakeTimer(clock, () => this.#advance())
    this.failures.subscribe(this.#rampUp)
    this.failures.subscribe({ onRecovery: () => this.#waitQueue.limitDelays() })
    this.failures.subscribe(options)
  }

  /** Number of batches that may be taken: attempts in flight, and batches that wait for a retry. */
  get limit(): number {
    const { limit: allowed, running, staleRequests } = this.#concurrency
    const { mayRejectAll, longPauses } = this.failures.rejections
    // Many bad batches in a row may wait, so after each long pause the probe is chosen from twice as many.
    // At shutdown, few attempts are left for those that wait, which may be bad.
    const waiting = this.#isEnding
      ? Math.min(this.#waitQueue.size, PROBE_CANDIDATES)
      : this.#waitQueue.countDelayed(this.#now)
    const delayed = mayRejectAll ? PROBE_CANDIDATES * 2 ** longPauses : waiting
    // Requests of older epochs are not counted, as long as there are connections.
    const fresh = Math.min(allowed, Math.max(this.#options.maxConcurrency - staleRequests, 1))
    // During the ramp-up, a batch is taken only when it may be sent, so new entries are sent first.
    const active = this.#rampUp.isActive ? Math.min(fresh, running + 1) : fresh
    return staleRequests + active + Math.min(delayed, MAX_DELAYED) + this.#suspended
  }

  /** Limit of the requests in flight. */
  get concurrency(): number {
    return this.#concurrency.limit
  }

  /** Whether the process is shutting down and the next attempt would start after the deadline. */
  get isFinished(): boolean {
    return this.failures.nextAttemptAt >= this.#shutdownAt
  }

  createRetryState(batch: RetriedBatch): RetryState {
    const { rejections, attempts } = this.failures
    return this.#waitQueue.createRetryState(batch, rejections.notBeforeOf(batch, this.#isEnding), attempts.accepted)
  }

  /** How isolation sends the batch after a failure; undefined if it is tried again. */
  isolationAfter(retryState: RetryState): 'parts' | 'separate' | undefined {
    const { batchId, rootId, singleFailures, outageFailures } = retryState
    if (this.#shouldSplit(retryState)) return 'parts'
    const isSearched = this.failures.rejections.searchedId === rootId && batchId !== rootId
    return isSearched && singleFailures + outageFailures >= FAILURES_BEFORE_OTHERS ? 'separate' : undefined
  }

  /** Whether one of the entries may be the cause of the failures. */
  #shouldSplit(retryState: RetryState): boolean {
    const { isDivisible, batchId, rootId, singleFailures, contentFailures, acceptedAtStart } = retryState
    if (!isDivisible || contentFailures < FAILURES_OF_PART) return false
    if (singleFailures >= FAILURES_BEFORE_SPLIT) return true
    const isPart = batchId !== rootId
    if (isPart && this.failures.attempts.accepted > acceptedAtStart) return true
    // No other batch can show in this outage whether the content is the cause.
    const isOnlyBatch = !this.#waitQueue.hasOtherThan(retryState)
    // Each waiting part failed without showing the cause, so the next split needs more failures.
    const least = retryState.mayBeStoredAt === undefined ? FAILURES_BEFORE_OTHERS : RESETS_BEFORE_OTHERS
    return isOnlyBatch && contentFailures > least * (1 + this.#waitQueue.size)
  }

  /**
   * Schedules the batch to be sent again unchanged after a rejection, if the service may have stored it and has accepted
   * nothing since then, so the cause may be the endpoint. @returns whether it did
   */
  scheduleRepeat(retryState: RetryState): boolean {
    const { rejections, attempts } = this.failures
    if (retryState.mayBeStoredAt !== attempts.accepted || retryState.repeats === MAX_REPEATS) return false
    retryState.repeats += 1
    retryState.notBefore = this.#now + Math.max(rejections.repeatsInMs, 0)
    return true
  }

  /**
   * Runs `attempt` as soon as it may start, in the same turn of the event loop as the decision.
   * @returns its outcome, or undefined if it never ran because `signal` aborted or it could only start after the
   * deadline
   */
  run(retryState: RetryState, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    if (this.#waitQueue.isEmpty && this.#concurrency.running === 0) this.#rampUp.arrivedIdle()
    // Fast path for the usual case, which needs no queue.
    if (this.#waitQueue.isEmpty && this.#concurrency.hasCapacity && !this.isFinished) {
      if (Math.max(this.failures.nextAttemptAt, this.#rampUp.nextAt, retryState.notBefore) <= this.#now) {
        this.#rampUp.started()
        const outcome = this.#run(retryState, signal, attempt)
        if (this.#rampUp.isActive) this.#onCapacity()
        return outcome
      }
    }
    return new Promise((resolve) => {
      this.#waitQueue.enter(retryState, signal, (isAdmitted) => {
        if (this.#waitQueue.isEmpty) this.#wakeTimer.clear()
        resolve(isAdmitted ? this.#run(retryState, signal, attempt) : undefined)
      })
      if (retryState.notBefore > this.#now) this.#onCapacity()
      this.#advance()
    })
  }

  /**
   * Starts the shutdown, which ends at `deadlineAt` (of the clock's `now`): ends backoff pauses, and cancels batches
   * that could only be sent later.
   * @param failures the shutdown ends early after this many more failures
   */
  startShutdown(deadlineAt: number, failures = Infinity): void {
    this.#shutdownAt = deadlineAt
    this.#shutdownFailuresLeft = failures
    if (this.#now - this.#activeAt > SILENCE_MS) this.#concurrency.ignoreInFlight()
    this.#waitQueue.limitDelays()
    this.#rampUp.disable()
    this.failures.startShutdown()
    this.#onCapacity()
    this.#advance()
  }

  /** Ends backoff pauses for one attempt, and the ramp-up. A Retry-After is still respected. */
  retryNow(): void {
    this.failures.endBackoff()
    this.#waitQueue.limitDelays()
    this.#rampUp.end()
    this.#advance()
  }

  /** Shortens backoff pauses to `retry.minMs`. A Retry-After is still respected. */
  retrySoon(): void {
    this.failures.shortenBackoff()
    this.#waitQueue.limitDelays(this.#now + this.#options.retry.minMs)
    this.#advance()
  }

  /** Applies a Retry-After that another client with the same key received. */
  applyRetryAfter(delayMs: number): void {
    this.failures.applyRetryAfter(delayMs)
    this.#advance()
  }

  /** Called when a rejection names no entry. Allows one attempt at a time until the service accepts entries. */
  limitToOne(): void {
    this.#concurrency.limitToOne()
  }

  /** Opens the circuit, as `FailureState.recordRejectsAll`. */
  openForRejections(refused: Refused, rootId: string, hasOnlyRejected = false): void {
    this.failures.recordRejectsAll(refused, rootId, hasOnlyRejected)
    this.#open()
    this.#advance()
  }

  /**
   * Called when a batch waits for the outcome of others, so another one may be taken.
   * @returns a function that ends the suspension
   */
  suspend(): () => void {
    this.#suspended += 1
    this.#onCapacity()
    return () => {
      this.#suspended -= 1
    }
  }

  /** Calls `listener` when another batch may be taken. Only one listener. */
  onCapacity(listener: () => void): void {
    this.#onCapacity = listener
  }

  get #isEnding(): boolean {
    return this.#shutdownAt !== Infinity
  }
  get #now(): number {
    return this.#options.clock.now()
  }
  get #sample(): EventLoopSample {
    return { now: this.#now, idleMs: this.#idleMs() }
  }

  async #run(retryState: RetryState, signal: AbortSignal, send: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#concurrency.running === 0) this.#activeAt = this.#now
    const attempt = this.failures.begin(retryState, signal)
    const request = this.#concurrency.begin(this.#sample)
    let outcome: Outcome = { kind: 'abandoned', reason: 'the sender failed' }
    try {
      outcome = this.failures.classifyRejection(attempt, await send())
      return outcome
    } finally {
      const isCurrent = this.#concurrency.end(request, this.#sample)
      this.#activeAt = this.#now
      const result = this.failures.record(attempt, outcome, isCurrent, this.#concurrency.limit === 1)
      if (result === 'success') this.#succeeded(request)
      else if (result === 'outage')
        this.#open(outcome.kind === 'retryable' && isOverload(outcome) ? request : undefined)
      else if (result === 'single-failure') this.#concurrency.singleFailure(request)
      this.#advance()
    }
  }

  #succeeded(request: InFlightRequest): void {
    this.#concurrency.succeeded(request)
    this.#shutdownFailuresLeft = Math.max(this.#shutdownFailuresLeft, FAILURES_AFTER_SUCCESS)
  }

  /** @param overload the request that the service rejected because of overload */
  #open(overload?: InFlightRequest): void {
    this.#shutdownFailuresLeft = this.#isEnding && this.failures.nobodyListens ? 0 : this.#shutdownFailuresLeft - 1
    if (this.#shutdownFailuresLeft <= 0) this.#shutdownAt = -Infinity
    this.#waitQueue.limitDelays()
    this.#concurrency.failed(this.failures.nextAttemptAt - this.#now, overload)
  }

  #advance(): void {
    this.#waitQueue.cancelFrom(this.isFinished ? -Infinity : this.#shutdownAt)
    while (this.#concurrency.hasCapacity && !this.#waitQueue.isEmpty) {
      const now = this.#now
      const at = Math.max(this.failures.nextAttemptAt, this.#rampUp.nextAt, this.#waitQueue.dueAt)
      if (at > now) return this.#wakeTimer.set(at)
      this.#rampUp.started()
      const { rejections } = this.failures
      if (rejections.mayRejectAll) this.#waitQueue.admitProbe(now, (rootId) => rejections.wasRejected(rootId))
      else this.#waitQueue.admitFirst(now, this.#isEnding, rejections.searchedId)
      if (this.#rampUp.isActive) this.#onCapacity()
    }
    this.#wakeTimer.clear()
  }
}
