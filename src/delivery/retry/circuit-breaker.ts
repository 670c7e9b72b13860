/**
 * What all batches know together about the service: whether it may be asked now, and by how many at once.
 *
 * One attempt at a time runs at first. While batches wait and the service keeps up there are more, up to `maxConcurrency`;
 * where it slows down or refuses there are fewer: `Concurrency` decides how many. While other requests are accepted, a failure
 * delays only its own batch. An outage closes the gate and starts a new wave, which begins with one probe. Requests that are still
 * in flight belong to the old wave: they may prolong a Retry-After but change nothing else.
 *
 * After an outage attempts begin no faster than `Pace` allows: a little less than twice the rate of before.
 *
 * A refusal that names no entry is no success: a gateway may refuse everything. Whether it does, the quarantine finds
 * out (`doubt`, `misconfigured`, `park`), from what the gate notes as `evidence`.
 */
import type { Retryable, EndpointRejected, Outcome, Refused } from '../../batch/sender.js'
import { WakeTimer } from './wake-timer.js'
import { isOverload } from '../concurrency/overload-ceiling.js'
import { AdaptiveConcurrencyLimit } from '../concurrency/adaptive-concurrency-limit.js'
import type { InFlightRequest } from '../concurrency/adaptive-concurrency-limit.js'
import { ShutdownDeadline } from './shutdown-deadline.js'
import { RejectionTracker, namesNoEntry } from '../isolation/rejection-tracker.js'
import type { CircuitBreakerOptions } from './circuit-breaker-options.js'
import { WaitQueue } from './wait-queue.js'
import type { RetryState } from './wait-queue.js'
import { FailureState } from './failure-state.js'
import { SILENCE_MS } from '../shutdown-policy.js'
import { RecoveryRampUp } from './recovery-ramp-up.js'
import { readEventLoopIdleMs } from '../concurrency/response-time-sampler.js'
import type { EventLoopSample } from '../concurrency/response-time-sampler.js'

export type { CircuitBreakerOptions } from './circuit-breaker-options.js'

/** Limits how many batches wait in memory, parked or delayed; they cannot be dropped there. */
const MAX_PARKED = 32

export class CircuitBreaker {
  readonly rejections: RejectionTracker
  readonly #options: CircuitBreakerOptions
  readonly #outage: FailureState
  readonly #pace: RecoveryRampUp
  readonly #line = new WaitQueue()
  readonly #alarm: WakeTimer
  readonly #deadline = new ShutdownDeadline()
  readonly #concurrency: AdaptiveConcurrencyLimit
  readonly #idleMs: () => number
  #parked = 0
  #heardAt = -Infinity // the last reply, or when what is under way began
  #onRoom: () => void = () => {}

  constructor(options: CircuitBreakerOptions) {
    this.#options = options
    const random = options.random ?? Math.random
    this.#outage = new FailureState({ ...options, random })
    this.#pace = new RecoveryRampUp(random)
    this.#alarm = new WakeTimer(options.clock, () => this.#advance())
    this.rejections = new RejectionTracker(options.clock)
    this.#concurrency = new AdaptiveConcurrencyLimit(options.maxConcurrency, options.initialConcurrency)
    this.#idleMs = options.idleMs ?? readEventLoopIdleMs
  }

  /** Number of batches that may be taken at present: attempts in flight, and batches that wait for a retry. */
  get limit(): number {
    const { limit: allowed, running, staleRequests: stale } = this.#concurrency
    const waiting = this.#parked + this.#line.countDelayed(this.#options.clock.now())
    // What hangs since an older wave holds up nobody: it comes on top, as far as there are connections.
    const fresh = Math.min(allowed, Math.max(this.#options.maxConcurrency - stale, 1))
    // At the pace one is taken when it may go, and not before: what is logged meanwhile goes first.
    return stale + (this.#pace.isActive ? Math.min(fresh, running + 1) : fresh) + Math.min(waiting, MAX_PARKED)
  }

  /** The reason of the last failure, while the service fails, or that it has asked for silence. */
  get lastFailure(): string | undefined {
    return this.#outage.lastFailure
  }
  /** Milliseconds since the first of the failures, or since the silence began; 0 while the service is well. */
  get outageAgeMs(): number {
    return this.#outage.failingMs
  }

  /** The app ends, and nothing may be sent any more before it does. */
  get isFinished(): boolean {
    return this.#outage.opensAt >= this.#deadline.at
  }

  createRetryState(): RetryState {
    return this.#line.createRetryState()
  }

  /**
   * Runs `attempt` as soon as the gate lets it pass, in the same turn of the event loop as the decision.
   * @returns its outcome, or undefined where it never ran: `signal` aborted, or the gate opens after the deadline
   */
  run(turn: RetryState, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined)
      if (this.#line.isEmpty && this.#concurrency.running === 0) this.#pace.cameAlone(this.#options.clock.now())
      this.#line.enter(turn, signal, (isLet) => {
        if (this.#line.isEmpty) this.#alarm.clear()
        resolve(isLet ? this.#observe(turn, signal, attempt) : undefined)
      })
      if (turn.notBefore > this.#options.clock.now()) this.#onRoom()
      this.#advance()
    })
  }

  /**
   * The app is about to end at `deadlineAt` (of the clock's `now`): ends backoff pauses now, and refuses batches that could only run later.
   * @param failures after so many more the deadline is there
   */
  startShutdown(deadlineAt: number, failures = Infinity): void {
    this.#deadline.set(deadlineAt, failures)
    if (this.#options.clock.now() - this.#heardAt > SILENCE_MS) this.#concurrency.ignoreInFlight()
    this.#outage.resetBackoff()
    this.#line.limitDelays()
    this.#pace.end(this.#options.clock.now())
    this.rejections.startShutdown()
    this.#onRoom()
    this.#advance()
  }

  /** Ends backoff pauses now, for one attempt, and the ramp-up after an outage. A Retry-After still holds. */
  retryNow(): void {
    this.#outage.endBackoff()
    this.#line.limitDelays()
    this.#pace.end(this.#options.clock.now())
    this.#advance()
  }

  /** Shortens backoff pauses to `retryMinMs`. A Retry-After still holds. */
  retrySoon(): void {
    this.#outage.shortenBackoff()
    this.#line.limitDelays(this.#options.clock.now() + this.#options.retryMinMs)
    this.#advance()
  }

  /** A Retry-After that was heard elsewhere. */
  applyRetryAfter(delayMs: number): void {
    this.#outage.applyRetryAfter(delayMs)
    this.#advance()
  }

  get retryAfterLeftMs(): number {
    return this.#outage.retryAfterLeftMs
  }

  /** A refusal names nothing, and nothing speaks for the service yet: one attempt at a time. */
  limitToOne(): void {
    this.#concurrency.limitToOne()
  }

  /** Everything is refused: one probe a minute, until one is accepted. */
  rejectsEverything(refused: Refused): void {
    this.rejections.markRejectingAll()
    this.#failed({ ...refused, kind: 'misconfigured' })
    this.#advance()
  }

  /**
   * A batch waits for news of the service. Another may come in its place, since it may bring them.
   * @returns ends it
   */
  suspend(): () => void {
    this.#parked += 1
    this.#onRoom()
    return () => {
      this.#parked -= 1
    }
  }

  /** Calls `listener` when a waiting batch has raised `limit`. One listener. */
  onCapacity(listener: () => void): void {
    this.#onRoom = listener
  }

  get #moment(): EventLoopSample {
    return { now: this.#options.clock.now(), idleMs: this.#idleMs() }
  }

  async #observe(turn: RetryState, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome> {
    const number = this.rejections.begin()
    const isFirst = this.#concurrency.running === 0
    const flight = this.#concurrency.begin(this.#moment)
    if (isFirst) this.#heardAt = flight.startedAt
    let outcome: Outcome | undefined
    try {
      outcome = await attempt()
      // Noted now: what begins from here on may speak against it.
      if (outcome.kind === 'refused') outcome = { ...outcome, begunBefore: this.rejections.attemptsBegun }
      return outcome
    } finally {
      const moment = this.#moment
      this.#heardAt = moment.now
      const isCurrent = this.#concurrency.end(flight, moment)
      if (outcome?.kind === 'delivered' && outcome.accepted > 0) this.rejections.accepted(number)
      if (outcome !== undefined && outcome.kind !== 'delivered' && !signal.aborted) this.rejections.failed(number)
      if (outcome !== undefined) this.#judge(outcome, turn, flight, isCurrent, signal.aborted)
      this.#advance()
    }
  }

  #judge(outcome: Outcome, turn: RetryState, flight: InFlightRequest, current: boolean, aborted: boolean): void {
    switch (outcome.kind) {
      case 'delivered':
        if (current) this.#succeeded(flight)
        return
      case 'refused':
        if (namesNoEntry(outcome)) this.rejections.refused()
        if (!current) return
        if (!namesNoEntry(outcome)) this.#succeeded(flight)
        else if (this.rejections.isRejectingAll) this.#failed({ ...outcome, kind: 'misconfigured' })
        return
      case 'later':
        // We ended it ourselves: it says nothing about the service.
        if (aborted && outcome.status === undefined) return
        if (outcome.retryAfterMs !== undefined) {
          this.#outage.applyRetryAfter(outcome.retryAfterMs)
          this.#options.onRetryAfter?.(outcome.retryAfterMs)
        }
        if (!current) return
        if (this.#outage.isOutage(outcome, turn, flight.startedAt, this.#concurrency.limit === 1))
          this.#failed(outcome, isOverload(outcome) ? flight : undefined)
        else this.#concurrency.isolatedFailure(flight, turn.notBefore - this.#options.clock.now())
        return
      case 'misconfigured':
        if (current) this.#failed(outcome)
        return
      case 'given-up':
    }
  }

  #failed(trouble: Retryable | EndpointRejected, refused?: InFlightRequest): void {
    const now = this.#options.clock.now()
    this.#deadline.failed(now)
    this.#pace.failed(now)
    this.#outage.failed(trouble)
    this.#line.limitDelays()
    const { opensAt, ageMs } = this.#outage
    this.#concurrency.failed(opensAt - now, refused)
    this.#options.onFailure?.(trouble, ageMs, opensAt - now, this.#deadline.at < Infinity)
  }

  #succeeded(flight: InFlightRequest): void {
    const now = this.#options.clock.now()
    this.#concurrency.succeeded(flight)
    this.rejections.clearRejectingAll()
    this.#pace.succeeded(now)
    this.#deadline.succeeded()
    const ended = this.#outage.end()
    if (ended === undefined) return
    // At the end of the app there is no time for it.
    if (ended.hasFailed && this.#deadline.at === Infinity) this.#pace.recovered(now, ended.ageMs)
    this.#options.onRecovery?.(ended.ageMs, ended.hasFailed)
  }

  #advance(): void {
    if (this.isFinished) this.#line.cancelAll()
    while (this.#concurrency.hasCapacity && !this.#line.isEmpty) {
      const now = this.#options.clock.now()
      const at = Math.max(this.#outage.opensAt, this.#pace.nextAt(now), this.#line.dueAt)
      if (at > now) return this.#alarm.set(at)
      this.#pace.started(now)
      this.#line.admitFirst(now)
      if (this.#pace.isActive) this.#onRoom()
    }
    this.#alarm.clear()
  }
}
