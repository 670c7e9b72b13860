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
import type { Retryable, EndpointRejected, Outcome, Refused } from '../batch/sender.js'
import { Alarm } from './alarm.js'
import { isTooMuch } from './caution.js'
import { Concurrency } from './concurrency.js'
import type { Flight } from './concurrency.js'
import { Deadline } from './deadline.js'
import { Evidence, isNameless } from './evidence.js'
import type { GateOptions } from './gate-options.js'
import { Line } from './line.js'
import type { Turn } from './line.js'
import { Outage } from './outage.js'
import { Pace } from './pace.js'
import { loopIdleMs } from './reply-time.js'
import type { Moment } from './reply-time.js'

export type { GateOptions } from './gate-options.js'

/** Limits how many batches wait in memory, parked or delayed; they cannot be dropped there. */
const MAX_PARKED = 32
/** When the app ends, requests that take longer than this must not hold up others. */
const SILENCE_MS = 1_000

export class Gate {
  readonly evidence: Evidence
  readonly #options: GateOptions
  readonly #outage: Outage
  readonly #pace: Pace
  readonly #line = new Line()
  readonly #alarm: Alarm
  readonly #deadline = new Deadline()
  readonly #concurrency: Concurrency
  readonly #idleMs: () => number
  #parked = 0
  #heardAt = -Infinity // the last reply, or when what is under way began
  #onRoom: () => void = () => {}

  constructor(options: GateOptions) {
    this.#options = options
    const random = options.random ?? Math.random
    this.#outage = new Outage({ ...options, random })
    this.#pace = new Pace(random)
    this.#alarm = new Alarm(options.clock, () => this.#advance())
    this.evidence = new Evidence(options.clock)
    this.#concurrency = new Concurrency(options.maxConcurrency, options.initialConcurrency)
    this.#idleMs = options.idleMs ?? loopIdleMs
  }

  /** Number of batches that may be taken at present: attempts in flight, and batches that wait for a retry. */
  get limit(): number {
    const { limit: allowed, running, stale } = this.#concurrency
    const waiting = this.#parked + this.#line.countDelayed(this.#options.clock.now())
    // What hangs since an older wave holds up nobody: it comes on top, as far as there are connections.
    const fresh = Math.min(allowed, Math.max(this.#options.maxConcurrency - stale, 1))
    // At the pace one is taken when it may go, and not before: what is logged meanwhile goes first.
    return stale + (this.#pace.isOn ? Math.min(fresh, running + 1) : fresh) + Math.min(waiting, MAX_PARKED)
  }

  /** The reason of the last failure, while the service fails, or that it has asked for silence. */
  get trouble(): string | undefined { return this.#outage.trouble }
  /** Milliseconds since the first of the failures, or since the silence began; 0 while the service is well. */
  get outageAgeMs(): number { return this.#outage.failingMs }

  /** The app ends, and nothing may be sent any more before it does. */
  get isOver(): boolean { return this.#outage.opensAt >= this.#deadline.at }

  turn(): Turn { return this.#line.turn() }

  /**
   * Runs `attempt` as soon as the gate lets it pass, in the same turn of the event loop as the decision.
   * @returns its outcome, or undefined where it never ran: `signal` aborted, or the gate opens after the deadline
   */
  run(turn: Turn, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome | undefined> {
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
  hurry(deadlineAt: number, failures = Infinity): void {
    this.#deadline.set(deadlineAt, failures)
    if (this.#options.clock.now() - this.#heardAt > SILENCE_MS) this.#concurrency.ignoreInFlight()
    this.#outage.startOver()
    this.#line.limitDelays()
    this.#pace.end(this.#options.clock.now())
    this.evidence.hurry()
    this.#onRoom()
    this.#advance()
  }

  /** Ends backoff pauses now, for one attempt, and the ramp-up after an outage. A Retry-After still holds. */
  nudge(): void {
    this.#outage.cutShort()
    this.#line.limitDelays()
    this.#pace.end(this.#options.clock.now())
    this.#advance()
  }

  /** Shortens backoff pauses to `retryMinMs`. A Retry-After still holds. */
  retrySoon(): void {
    this.#outage.shorten()
    this.#line.limitDelays(this.#options.clock.now() + this.#options.retryMinMs)
    this.#advance()
  }

  /** A Retry-After that was heard elsewhere. */
  holdFor(delayMs: number): void {
    this.#outage.respect(delayMs)
    this.#advance()
  }

  get heldMs(): number { return this.#outage.heldMs }

  /** A refusal names nothing, and nothing speaks for the service yet: one attempt at a time. */
  doubt(): void { this.#concurrency.doubt() }

  /** Everything is refused: one probe a minute, until one is accepted. */
  misconfigured(refused: Refused): void {
    this.evidence.convict()
    this.#failed({ ...refused, kind: 'misconfigured' })
    this.#advance()
  }

  /**
   * A batch waits for news of the service. Another may come in its place, since it may bring them.
   * @returns ends it
   */
  park(): () => void {
    this.#parked += 1
    this.#onRoom()
    return () => {
      this.#parked -= 1
    }
  }

  /** Calls `listener` when a waiting batch has raised `limit`. One listener. */
  onRoom(listener: () => void): void { this.#onRoom = listener }

  get #moment(): Moment { return { now: this.#options.clock.now(), idleMs: this.#idleMs() } }

  async #observe(turn: Turn, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome> {
    const number = this.evidence.begin()
    const isFirst = this.#concurrency.running === 0
    const flight = this.#concurrency.begin(this.#moment)
    if (isFirst) this.#heardAt = flight.startedAt
    let outcome: Outcome | undefined
    try {
      outcome = await attempt()
      // Noted now: what begins from here on may speak against it.
      if (outcome.kind === 'refused') outcome = { ...outcome, begunBefore: this.evidence.begun }
      return outcome
    } finally {
      const moment = this.#moment
      this.#heardAt = moment.now
      const isCurrent = this.#concurrency.end(flight, moment)
      if (outcome?.kind === 'delivered' && outcome.accepted > 0) this.evidence.accepted(number)
      if (outcome !== undefined && outcome.kind !== 'delivered' && !signal.aborted) this.evidence.failed(number)
      if (outcome !== undefined) this.#judge(outcome, turn, flight, isCurrent, signal.aborted)
      this.#advance()
    }
  }

  #judge(outcome: Outcome, turn: Turn, flight: Flight, current: boolean, aborted: boolean): void {
    switch (outcome.kind) {
      case 'delivered':
        if (current) this.#succeeded(flight)
        return
      case 'refused':
        if (isNameless(outcome)) this.evidence.refused()
        if (!current) return
        if (!isNameless(outcome)) this.#succeeded(flight)
        else if (this.evidence.isConvicted) this.#failed({ ...outcome, kind: 'misconfigured' })
        return
      case 'later':
        // We ended it ourselves: it says nothing about the service.
        if (aborted && outcome.status === undefined) return
        if (outcome.retryAfterMs !== undefined) {
          this.#outage.respect(outcome.retryAfterMs)
          this.#options.onRetryAfter?.(outcome.retryAfterMs)
        }
        if (!current) return
        if (this.#outage.isOutage(outcome, turn, flight.startedAt, this.#concurrency.limit === 1)) this.#failed(outcome, isTooMuch(outcome) ? flight : undefined)
        else this.#concurrency.isolatedFailure(flight, turn.notBefore - this.#options.clock.now())
        return
      case 'misconfigured':
        if (current) this.#failed(outcome)
        return
      case 'given-up':
    }
  }

  #failed(trouble: Retryable | EndpointRejected, refused?: Flight): void {
    const now = this.#options.clock.now()
    this.#deadline.failed(now)
    this.#pace.failed(now)
    this.#outage.failed(trouble)
    this.#line.limitDelays()
    const { opensAt, ageMs } = this.#outage
    this.#concurrency.failed(opensAt - now, refused)
    this.#options.onTrouble?.(trouble, ageMs, opensAt - now, this.#deadline.at < Infinity)
  }

  #succeeded(flight: Flight): void {
    const now = this.#options.clock.now()
    this.#concurrency.succeeded(flight)
    this.evidence.acquit()
    this.#pace.succeeded(now)
    this.#deadline.succeeded()
    const ended = this.#outage.end()
    if (ended === undefined) return
    // At the end of the app there is no time for it.
    if (ended.hasFailed && this.#deadline.at === Infinity) this.#pace.recovered(now, ended.ageMs)
    this.#options.onRecovery?.(ended.ageMs, ended.hasFailed)
  }

  #advance(): void {
    if (this.isOver) this.#line.refuseAll()
    while (this.#concurrency.hasRoom && !this.#line.isEmpty) {
      const now = this.#options.clock.now()
      const at = Math.max(this.#outage.opensAt, this.#pace.nextAt(now), this.#line.dueAt)
      if (at > now) return this.#alarm.set(at)
      this.#pace.started(now)
      this.#line.letFirst(now)
      if (this.#pace.isOn) this.#onRoom()
    }
    this.#alarm.clear()
  }
}
