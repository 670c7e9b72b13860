/**
 * Owns every batch until it is settled: accepted, rejected, left on disk at exit, or dropped at a limit. A job is in
 * exactly one place: it waits in `Lanes` (some of them until a time), or it is in flight.
 */
import { setMaxListeners } from 'node:events'
import type { Batch } from '../batch/batch.js'
import type { EndpointRejected, Outcome, Refused, Retryable } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import type { RetrySettings } from '../options/settings.js'
import { firstStepMs } from '../shared/backoff.js'
import type { Clock } from '../shared/clock.js'
import type { KeyPause } from '../shared/key-pause.js'
import type { Signal } from '../shared/signal.js'
import { Concurrency } from './concurrency.js'
import type { ConcurrencyReply } from './concurrency.js'
import type { DeliveryEvent } from './delivery-event.js'
import { isFailing, isWorking, nextRequestAt, reasonOf, step, UNPROVEN } from './health.js'
import type { Health, HealthEvent } from './health.js'
import {
  FAILURES_BEFORE_HALVES_AT_END,
  FAILURES_BEFORE_HALVES,
  halve,
  halveTooLarge,
  applyRefusal,
  shorten,
  without,
} from './isolation.js'
import { countBytes, isExplained, isMemoryOnly, isSingle } from './job.js'
import type { Job } from './job.js'
import { Lanes } from './lanes.js'
import type { DeliveryDisk, PickContext } from './lanes.js'
import type { Settlement } from './settlement.js'

export interface SchedulerOptions {
  /** Makes single attempts. */
  readonly sender: Sender
  readonly settlement: Settlement
  readonly pause: KeyPause
  readonly clock: Clock
  readonly retry: RetrySettings
  readonly maxConcurrency: number
  /** Maximum bytes of all jobs in memory. */
  readonly maxBufferBytes: number
  /** An outage of this age ends a flush of batches on disk. */
  readonly requestTimeoutMs: number
  /** The disk, where batches wait when memory is short, and where earlier processes left theirs. */
  readonly disk?: (DeliveryDisk & { readonly retainedEntries: number }) | undefined
  /** Whether a single entry that is too large for the service may be shortened, as a log entry may. Default true. */
  readonly isShortenable?: boolean
  /**
   * Whether it runs in the application's thread, where a request keeps the process alive. Batches of earlier processes are
   * then sent from a timer that does not, so that a process that would otherwise end is not kept alive for them.
   */
  readonly isInProcess?: boolean
  /** In [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined
  readonly events: Signal<[event: DeliveryEvent]>
}

/** `spooled`: on disk, but not acknowledged. */
export type FlushOutcome = 'acknowledged' | 'spooled'

interface InFlight {
  readonly job: Job
  /** Number of the request. */
  readonly number: number
  readonly startedAt: number
  /** Requests in flight when it began, including itself. */
  readonly inFlightAtStart: number
}

interface FlushWaiter {
  /** Waits for the batches before this sequence. */
  readonly before: number
  /** Number of requests begun at the call. */
  readonly begun: number
  readonly endsAt: number
  readonly resolve: (flushed: FlushOutcome) => void
}

interface Ending {
  readonly deadlineAt: number
  /** It ends early after so many more failures. */
  readonly failuresLeft: number
  readonly resolve: () => void
}

/** Allowed in flight regardless of their size. */
const LEAST_IN_FLIGHT = 40
/** Time after the deadline for aborted requests to settle and be counted. */
const ABORT_MS = 100
/** At exit, if all entries are on disk: one attempt, and another if that used a connection that was already closed. */
const FAILURES_ON_DISK = 2
/** At exit after a success, since a single broken connection is not an outage. */
const FAILURES_AFTER_SUCCESS = 3
/** At exit, requests that wait longer for a reply do not delay others. */
const SILENCE_MS = 1_000
/** At exit, batches on disk are sent while this multiple of a slow reply's time is left: a missed reply makes duplicates. */
const REPLIES_LEFT = 2
/** The first delay of a single job, in response times: another node may accept it at once. */
const FIRST_DELAY_REPLIES = 4
/** Share of the first retry delay for each failure of a single job. Small, since the service needs no pause. */
const JOB_SHARE = 1 / 4
const MAX_JOB_DELAY_MS = 5_000
/**
 * A job that cannot be divided is tried once a minute after so many failures while others are accepted. If 30 % of all
 * requests fail at random, one of 400 fails five times in a row, and one of 170,000 ten times.
 */
const FAILURES_BEFORE_MINUTES = 10
const LASTING_RETRY_MS = 60_000
const RETRY_AFTER_REASON = 'the log service sent a Retry-After'

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #random: () => number
  readonly #lanes: Lanes
  readonly #concurrency: Concurrency
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<InFlight>()
  #health: Health = UNPROVEN
  /** Requests begun, and the number of the latest that was accepted. */
  #begun = 0
  #latestAccepted = 0
  /** Requests up to this one began before the service failed. Their failures say nothing new, and they may never end. */
  #staleUpTo = 0
  /** The latest request that failed. */
  #latestFailed = 0
  #inFlightBytes = 0
  #inFlightEntries = 0
  #isNewestMemoryOnly: boolean
  #flushWaiters: FlushWaiter[] = []
  #ending: Ending | undefined
  #isClosed = false
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  /** In the application's thread: whether batches of earlier processes may be sent in this turn of the event loop. */
  #isAdoptionTurn = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
    this.#isNewestMemoryOnly = options.disk === undefined
    this.#concurrency = new Concurrency(options.maxConcurrency)
    this.#lanes = new Lanes({ ...options, onRead: () => this.#run() })
    // Every request in flight adds a listener.
    setMaxListeners(0, this.#abort.signal)
  }

  get health(): Health {
    return this.#health
  }

  /** Limit of the requests in flight. */
  get limit(): number {
    return isWorking(this.#health) ? this.#concurrency.limit : 1
  }

  /** Why entries wait, if the service fails or has asked to wait. */
  get lastFailure(): string | undefined {
    return reasonOf(this.#health) ?? (this.#options.pause.leftMs > 0 ? RETRY_AFTER_REASON : undefined)
  }

  /** Entries in memory or in flight; after the end, the entries that stay on disk. */
  get pendingEntries(): number {
    return this.#lanes.entries + this.#inFlightEntries + this.#options.settlement.keptEntries
  }

  /** Share of `maxBufferBytes` in use. */
  get usedShare(): number {
    return (this.#lanes.bytes + this.#inFlightBytes) / this.#options.maxBufferBytes
  }

  /** Whether the newest batch is only in memory. */
  get isNewestMemoryOnly(): boolean {
    return this.#isNewestMemoryOnly
  }

  /** Whether batches are no longer accepted. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Entries in memory or in flight that are not on disk. */
  get memoryOnlyEntries(): number {
    return this.#jobs.filter(isMemoryOnly).reduce((sum, { batch }) => sum + batch.count, 0)
  }

  /** Whether batches of earlier processes would be sent. A process that cannot send them leaves them to others. */
  get mayAdopt(): boolean {
    return !this.#isClosed && this.#ending === undefined && !isFailing(this.#health)
  }

  /** Whether a durable batch of this size would wait on disk only. */
  waitsOnDisk(bodyBytes: number): boolean {
    return this.#isClosed || this.#lanes.waitsOnDisk(bodyBytes, this.#inFlightBytes, isFailing(this.#health))
  }

  /** Always accepts the batch; never blocks and never throws. If memory is full, the batch waits on disk, or the oldest one is dropped. */
  enqueue(batch: Batch): void {
    const { settlement, maxBufferBytes } = this.#options
    if (this.#isClosed) return settlement.loggedAfterClose(batch)
    this.#isNewestMemoryOnly = batch.place === undefined
    const dropped = this.#lanes.push(batch, this.#inFlightBytes, isFailing(this.#health))
    if (dropped.length > 0) settlement.dropped(dropped, { maxBufferBytes, lastFailure: this.lastFailure })
    this.#run()
  }

  /** Must be called when batches were found on disk. */
  wake(): void {
    this.#run()
  }

  /** Gives up jobs that wait, without counting them: their source sends them again. */
  withdraw(isGivenUp: (batch: Batch) => boolean): void {
    this.#lanes.withdraw(isGivenUp)
    this.#run()
  }

  /**
   * Moves the entries that the service refused alone to the dead letters, if nothing else is left to send and it accepts
   * others. Called when no other entries will come that could be accepted in between.
   * @returns whether there were any
   */
  rejectRefused(): boolean {
    if (!isWorking(this.#health) || this.#inFlight.size > 0) return false
    const refused = this.#lanes.takeRefused()
    for (const { job, reply } of refused) this.#options.settlement.deadLetter(job, reply)
    return refused.length > 0
  }

  /**
   * Resolves when all batches enqueued before are settled; as `spooled` also when all of them are on disk and
   * - an outage is older than `requestTimeoutMs`, and an attempt that began after this call has failed; the backoff is
   *   shortened for that attempt
   * - or a Retry-After forbids attempts for longer than the time that is left
   * - or the time is over. Never rejects
   */
  flush(timeoutMs = this.#options.requestTimeoutMs): Promise<FlushOutcome> {
    const { clock, retry, settlement } = this.#options
    if (this.#isClosed) return Promise.resolve(settlement.keptEntries > 0 ? 'spooled' : 'acknowledged')
    return new Promise((resolve) => {
      const endsAt = clock.now() + timeoutMs
      this.#flushWaiters.push({ before: this.#lanes.nextSequence, begun: this.#begun, endsAt, resolve })
      const withinMs = firstStepMs(retry)
      this.#hurry({ kind: 'hurried', withinMs }, withinMs)
      this.#run()
    })
  }

  /**
   * Called when the process would end otherwise. Sends what waits, for at most `timeoutMs`. Never rejects.
   * @param failuresLeft gives up after so many failures. Default: two if everything is on disk, else no limit
   */
  sendRemaining(
    timeoutMs: number,
    failuresLeft = this.memoryOnlyEntries === 0 ? FAILURES_ON_DISK : Infinity,
  ): Promise<void> {
    const { clock } = this.#options
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const earlier = this.#ending
      const done = (): void => {
        earlier?.resolve()
        resolve()
      }
      this.#ending = { deadlineAt: clock.now() + timeoutMs, failuresLeft, resolve: done }
      this.#hurry({ kind: 'ending' }, 0)
      this.#run()
    })
  }

  /**
   * Called at shutdown: `sendRemaining`, then aborts the requests in flight. The rest stays on disk, or is counted and reported as
   * dropped. Never rejects.
   * @param describeLoss makes the message about entries that are lost
   */
  async drain(timeoutMs: number, describeLoss: () => string, failuresLeft?: number): Promise<void> {
    if (this.#isClosed) return
    await this.sendRemaining(timeoutMs, failuresLeft)
    this.#abort.abort()
    // Aborted requests end in this time and are counted.
    if (this.#inFlight.size > 0) await new Promise<void>((resolve) => void this.#options.clock.timer(ABORT_MS, resolve))
    this.close(describeLoss())
  }

  /** Called if the process exits in this turn of the event loop. Counts what is left as `drain` does. */
  close(loss: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#timer?.cancel()
    const left = this.#jobs
    this.#lanes.close()
    this.#inFlight.clear()
    this.#inFlightBytes = this.#inFlightEntries = 0
    this.#abort.abort()
    const { settlement } = this.#options
    settlement.abandoned(left, loss)
    this.#endFlushes(settlement.keptEntries > 0 ? 'spooled' : 'acknowledged')
    this.#ending?.resolve()
  }

  get #now(): number {
    return this.#options.clock.now()
  }

  get #jobs(): Job[] {
    return [...[...this.#inFlight].map(({ job }) => job), ...this.#lanes.jobs]
  }

  /** Requests in flight that the limit counts. */
  get #running(): number {
    const silentAt = this.#ending === undefined ? -Infinity : this.#now - SILENCE_MS
    let running = 0
    for (const { number, startedAt } of this.#inFlight)
      if (number > this.#staleUpTo && startedAt > silentAt) running += 1
    return running
  }

  #context(now: number): PickContext {
    return {
      health: this.#health,
      now,
      begun: this.#begun,
      latestAccepted: this.#latestAccepted,
      random: this.#random,
      isEnding: this.#ending !== undefined,
      mayAdopt: this.#maySendAdopted,
    }
  }

  get #maySendAdopted(): boolean {
    const { isInProcess = false } = this.#options
    if (this.#ending === undefined) return !isInProcess || this.#isAdoptionTurn
    if (isFailing(this.#health)) return false
    const { slowMs } = this.#concurrency
    // Before the first reply, one is sent.
    if (slowMs === undefined) return this.#inFlight.size === 0
    return this.#now + REPLIES_LEFT * slowMs < this.#ending.deadlineAt
  }

  /** Whether batches of earlier processes are in flight. */
  get #isAdopting(): boolean {
    return [...this.#inFlight].some(({ job }) => job.lane === 'adopted')
  }

  /** The earliest time of the next request. */
  get #nextRequestAt(): number {
    return Math.max(this.#options.pause.until, nextRequestAt(this.#health))
  }

  /** Starts all requests that may start now, then waits for the next time at which something can happen. */
  #run(): void {
    if (this.#isClosed) return
    // One time for all decisions: what is not yet due for one must not be over for the timer.
    const now = this.#now
    let running = this.#running
    for (let job = this.#next(now, running); job !== undefined; job = this.#next(now, running)) {
      this.#start(job, now)
      running += 1
    }
    this.#lanes.refill(isFailing(this.#health))
    this.#checkFlushes(now)
    this.#checkEnding(now)
    this.#setTimer(now, running)
  }

  #next(now: number, running: number): Job | undefined {
    const { maxConcurrency, maxBufferBytes } = this.#options
    if (this.#abort.signal.aborted || this.#isFinished(now)) return undefined
    // Stale requests use connections, but never all of them.
    const most = Math.min(this.limit, Math.max(maxConcurrency - this.#inFlight.size + running, 1))
    if (this.#nextRequestAt > now || running >= most) return undefined
    if (this.#inFlight.size >= LEAST_IN_FLIGHT && this.#inFlightBytes >= maxBufferBytes) return undefined
    return this.#lanes.pick(this.#context(now))
  }

  #start(job: Job, now: number): void {
    if (this.#inFlight.size === 0) this.#concurrency.beginAlone(now)
    this.#begun += 1
    const inFlightAtStart = this.#inFlight.size + 1
    const request: InFlight = { job, number: this.#begun, startedAt: now, inFlightAtStart }
    this.#inFlight.add(request)
    this.#inFlightBytes += countBytes(job)
    this.#inFlightEntries += job.batch.count
    this.#options.events.emit({ kind: 'sent', job, isProbe: isFailing(this.#health), limit: this.limit })
    this.#step({ kind: 'sent' }, now)
    void this.#send(request)
  }

  async #send(request: InFlight): Promise<void> {
    let outcome: Outcome
    try {
      outcome = await this.#options.sender.send(request.job.batch, this.#abort.signal)
    } catch (bug) {
      // Must not happen. The entries are counted and reported.
      outcome = { kind: 'abandoned', reason: String(bug) }
    }
    // Requests in flight at the end are already counted.
    if (this.#inFlight.has(request)) this.#ended(request, outcome)
  }

  #ended(request: InFlight, outcome: Outcome): void {
    const { job, startedAt, inFlightAtStart } = request
    const now = this.#now
    const running = this.#running
    this.#inFlight.delete(request)
    this.#inFlightBytes -= countBytes(job)
    this.#inFlightEntries -= job.batch.count
    const result = toLoadResult(outcome)
    if (result !== undefined) this.#concurrency.replied({ startedAt, now, inFlight: running, inFlightAtStart, result })
    this.#options.events.emit({ kind: 'replied', job, outcome, tookMs: now - startedAt })
    try {
      this.#handle(request, outcome, running)
    } catch (error) {
      // Dead letters could not be stored.
      this.#options.settlement.abandoned([job], String(error))
    }
    this.#run()
  }

  #handle(request: InFlight, outcome: Outcome, running: number): void {
    const { job } = request
    const { settlement } = this.#options
    switch (outcome.kind) {
      case 'delivered':
        this.#accepted(request)
        return settlement.delivered(job, outcome)
      case 'refused': {
        if (outcome.status === 413) return this.#tooLarge(request, outcome)
        if (outcome.rejected.length === 0) return this.#refused(request, outcome, true)
        this.#accepted(request)
        const named = settlement.store(job, outcome.rejected, outcome.status)
        const rest = without(job, new Set(named.map(({ index }) => index)))
        if (rest !== undefined) this.#lanes.add(rest)
        return settlement.rejected(job, named)
      }
      case 'endpoint-rejected': {
        const { status, queue, reason } = outcome
        if (status === undefined || queue !== undefined) return this.#unavailable(request, outcome, running)
        return this.#refused(request, { kind: 'refused', status, reason, rejected: [] }, false)
      }
      case 'retryable':
        // The transport aborted the attempt, so it says nothing about the service.
        if (this.#abort.signal.aborted && outcome.status === undefined) return this.#lanes.add(job)
        return this.#unavailable(request, outcome, running)
      case 'abandoned':
        return settlement.abandoned([job], outcome.reason)
    }
  }

  #accepted({ number }: InFlight): void {
    // A reply to an earlier request does not show that an outage is over, but that not everything is refused.
    this.#latestAccepted = Math.max(this.#latestAccepted, number)
    if (number <= this.#staleUpTo && this.#health.kind === 'down') return
    const wasDown = this.#health.kind === 'down'
    this.#step({ kind: 'accepted', isCaughtUp: this.#lanes.isEmpty })
    if (wasDown) this.#lanes.moveToBacklog()
    if (this.#ending !== undefined) {
      const failuresLeft = Math.max(this.#ending.failuresLeft, FAILURES_AFTER_SUCCESS)
      this.#ending = { ...this.#ending, failuresLeft }
    }
    this.#options.events.emit({ kind: 'accepted' })
  }

  #tooLarge(request: InFlight, refused: Refused): void {
    const { job, startedAt, inFlightAtStart } = request
    const { isShortenable = true } = this.#options
    if (!isSingle(job)) {
      for (const half of halveTooLarge(job)) this.#lanes.add(half)
      if (this.#health.kind !== 'denied') return
      // A service that refuses everything must not get a request for each half.
      const { reason } = refused
      return this.#failed({ kind: 'refused', reason, startedAt, isRepeated: false }, refused, inFlightAtStart)
    }
    const shorter = isShortenable ? shorten(job) : undefined
    if (shorter === undefined) return this.#refused(request, refused, true)
    this.#lanes.add(shorter)
  }

  /** @param isContent whether the reply concerns the content, and not perhaps the key, the URL or a gateway */
  #refused({ job, number, startedAt, inFlightAtStart }: InFlight, refused: Refused, isContent: boolean): void {
    const isCausedByJob = isWorking(this.#health) && isExplained(job, this.#latestAccepted)
    const next = applyRefusal(job, refused, isContent, { now: this.#now, begun: this.#begun, isCausedByJob })
    if (next === undefined) this.#options.settlement.deadLetter(job, refused)
    else this.#lanes.add(next)
    this.#latestFailed = Math.max(this.#latestFailed, number)
    if (isCausedByJob || number <= this.#staleUpTo) return
    const isRepeated = job.standing.kind === 'refused' && job.standing.timesAlone > 0
    this.#failed({ kind: 'refused', reason: refused.reason, startedAt, isRepeated }, refused, inFlightAtStart)
  }

  #unavailable(
    { job, number, startedAt, inFlightAtStart }: InFlight,
    failure: Retryable | EndpointRejected,
    running: number,
  ): void {
    const { reason } = failure
    if (failure.kind === 'retryable' && failure.processFailure === 'descriptors') {
      this.#concurrency.halve(running, this.#now)
      // Other requests are in flight: queue the batch again without a delay. The lowered limit admits it after one of them ends.
      if (running > 1) return this.#lanes.add(job)
    }
    this.#latestFailed = Math.max(this.#latestFailed, number)
    const isCausedByJob = isExplained(job, this.#latestAccepted)
    if (failure.kind === 'retryable' && (failure.retryAfterMs ?? 0) > 0) {
      this.#options.pause.apply(failure.retryAfterMs as number)
      for (const one of this.#afterFailure(job, failure, isCausedByJob, this.#now - startedAt)) this.#lanes.add(one)
      this.#countFailure()
      const { leftMs } = this.#options.pause
      return this.#options.events.emit({
        kind: 'paused',
        failure,
        delayMs: leftMs,
        isLast: this.#isFinished(this.#now),
      })
    }
    if (number > this.#staleUpTo) {
      const isOutage = !isCausedByJob && (running <= 1 || job.begunAtFailure !== undefined)
      this.#failed({ kind: 'unavailable', reason, startedAt, isOutage }, failure, inFlightAtStart)
    }
    for (const one of this.#afterFailure(job, failure, isCausedByJob, this.#now - startedAt)) this.#lanes.add(one)
  }

  /** @returns the job, or its halves */
  #afterFailure(
    job: Job,
    failure: Retryable | EndpointRejected,
    isCausedByJob: boolean,
    tookMs: number,
  ): readonly Job[] {
    const { retry, maxConcurrency } = this.#options
    const { standing, attempts } = job
    // The first failure counts, too.
    const failures = isCausedByJob ? (standing.kind === 'suspect' ? standing.failures : 1) + 1 : 1
    const mayConcernContent = failure.kind === 'retryable' && failure.mayConcernContent === true
    const next: Job = {
      ...job,
      attempts: attempts + 1,
      begunAtFailure: this.#begun,
      mayBeStored: job.mayBeStored || (failure.kind === 'retryable' && failure.mayBeStored === true),
      ...(isCausedByJob && standing.kind !== 'refused' && { standing: { kind: 'suspect', failures } }),
    }
    const isDivisible = mayConcernContent && !next.mayBeStored && !isSingle(job)
    // No other shows whether the content is the cause. Its halves do, but suspect, they step out of a strict order.
    const isLast = this.#inFlight.size === 0 && this.#lanes.isEmpty
    const isAlone = isLast && (maxConcurrency > 1 || this.#ending !== undefined)
    const mostFailures = this.#ending === undefined ? FAILURES_BEFORE_HALVES : FAILURES_BEFORE_HALVES_AT_END
    if (isDivisible && (isAlone ? next.attempts : failures) >= mostFailures) return halve(next)
    if (standing.kind === 'refused') return [next]
    if (isFailing(this.#health)) return [{ ...next, notBefore: -Infinity }]
    const mostMs = Math.min(firstStepMs(retry) * JOB_SHARE * failures, retry.maxMs, MAX_JOB_DELAY_MS)
    const firstMs = failures === 1 ? tookMs * FIRST_DELAY_REPLIES : Infinity
    const isLasting = failures >= FAILURES_BEFORE_MINUTES
    const delayMs = isLasting ? LASTING_RETRY_MS : this.#random() * Math.min(mostMs, firstMs)
    return [{ ...next, notBefore: this.#now + delayMs }]
  }

  /** Changes the health after a failure, and emits `failed` if the service is then `down` or `denied`. */
  #failed(
    event: HealthEvent & { readonly startedAt: number },
    failure: Refused | Retryable | EndpointRejected,
    inFlightAtStart: number,
  ): void {
    const before = this.#health.kind
    this.#step(event)
    const health = this.#health
    if (!isFailing(health)) return
    if (before !== health.kind) {
      this.#staleUpTo = this.#begun
      if (health.kind === 'down') this.#concurrency.reset(toLoadResult(failure) && inFlightAtStart)
    }
    this.#countFailure()
    const hasAccepted = this.#latestAccepted > 0
    const isRepeated = event.kind === 'refused' && event.isRepeated
    const now = this.#now
    const nextAt = Math.max(this.#nextRequestAt, this.#lanes.dueAt(this.#context(now)))
    const waitMs = Math.max((nextAt === Infinity ? this.#nextRequestAt : nextAt) - now, 0)
    this.#options.events.emit({
      kind: 'failed',
      health,
      failure,
      hasAccepted,
      isRepeated,
      waitMs,
      isLast: this.#isFinished(now),
    })
  }

  #countFailure(): void {
    if (this.#ending === undefined) return
    this.#ending = { ...this.#ending, failuresLeft: this.#ending.failuresLeft - 1 }
  }

  #step(event: HealthEvent, now = this.#now): void {
    this.#health = step(this.#health, event, { now, random: this.#random, retry: this.#options.retry })
  }

  #hurry(event: HealthEvent, withinMs: number): void {
    this.#step(event)
    this.#lanes.endDelays(this.#now + withinMs)
  }

  #checkFlushes(now: number): void {
    if (this.#flushWaiters.length === 0) return
    const { settlement, disk } = this.#options
    let oldest = this.#lanes.oldestSpilled
    let oldestInMemory = Infinity
    for (const job of this.#jobs) {
      if (job.lane === 'adopted') continue
      oldest = Math.min(oldest, job.sequence)
      if (isMemoryOnly(job)) oldestInMemory = Math.min(oldestInMemory, job.sequence)
    }
    const waiters = this.#flushWaiters
    this.#flushWaiters = []
    for (const waiter of waiters) {
      const hasKept = settlement.keptEntries + (disk?.retainedEntries ?? 0) > 0
      if (oldest >= waiter.before) waiter.resolve(hasKept ? 'spooled' : 'acknowledged')
      else if (oldestInMemory >= waiter.before && this.#canStopWaiting(waiter, now)) waiter.resolve('spooled')
      else this.#flushWaiters.push(waiter)
    }
  }

  #canStopWaiting({ endsAt, begun }: FlushWaiter, now: number): boolean {
    const { pause, requestTimeoutMs } = this.#options
    if (now >= endsAt || pause.until > endsAt) return true
    const health = this.#health
    return isFailing(health) && now - health.since >= requestTimeoutMs && this.#latestFailed > begun
  }

  #endFlushes(flushed: FlushOutcome): void {
    for (const { resolve } of this.#flushWaiters.splice(0)) resolve(flushed)
  }

  /** Whether the process ends, and no attempt follows. */
  #isFinished(now: number): boolean {
    if (this.#ending === undefined) return false
    const { failuresLeft, deadlineAt } = this.#ending
    return failuresLeft <= 0 || this.#nextRequestAt >= deadlineAt || now >= deadlineAt
  }

  #checkEnding(now: number): void {
    if (this.#ending === undefined) return
    const { deadlineAt, resolve } = this.#ending
    const hasWork = this.#lanes.jobs.some(({ lane }) => lane !== 'adopted') || this.#lanes.oldestSpilled < Infinity
    const isAdopting = this.#lanes.hasAdopted && this.#maySendAdopted
    const isFinished = this.#isFinished(now)
    const canSend = !isFinished && (hasWork || isAdopting)
    const isDue = this.#lanes.dueAt(this.#context(now)) < deadlineAt || this.#lanes.isReadable
    // A slow reply may still come; after too many failures, it is not waited for.
    const isAwaited = isFinished ? this.#running > 0 : this.#inFlight.size > 0
    if (now < deadlineAt && (isAwaited || (canSend && (isDue || isAdopting)))) return
    this.#ending = undefined
    resolve()
  }

  /** One timer, for the earliest time at which a request, a flush or the end is due. */
  #setTimer(now: number, running: number): void {
    let at = Infinity
    const add = (time: number): void => {
      if (time > now && time < at) at = time
    }
    const { requestTimeoutMs, isInProcess = false } = this.#options
    const health = this.#health
    for (const { endsAt } of this.#flushWaiters) {
      add(endsAt)
      if (isFailing(health)) add(health.since + requestTimeoutMs)
    }
    if (this.#ending !== undefined) {
      add(this.#ending.deadlineAt)
      // Then these do not delay others any longer.
      for (const { startedAt } of this.#inFlight) add(startedAt + SILENCE_MS)
    }
    if (this.#lanes.bytes > 0 && running < this.limit) {
      add(Math.max(this.#nextRequestAt, this.#lanes.dueAt(this.#context(now))))
      const isAdoptionDue = this.#lanes.hasAdoptedInMemory && !this.#isAdopting
      if (isInProcess && this.#ending === undefined && isAdoptionDue) add(Math.max(this.#nextRequestAt, now + 1))
    }
    if (at === this.#timer?.at) return
    this.#timer?.cancel()
    this.#timer =
      at === Infinity ? undefined : { at, cancel: this.#options.clock.timer(at - now, () => this.#onTimer()) }
  }

  #onTimer(): void {
    this.#timer = undefined
    // One after the other: a request in flight keeps the process alive.
    this.#isAdoptionTurn = !this.#isAdopting
    this.#run()
    this.#isAdoptionTurn = false
  }
}

/** What a reply says about the load of the service; undefined for nothing. */
function toLoadResult(outcome: Outcome): ConcurrencyReply['result'] | undefined {
  if (outcome.kind === 'delivered') return 'accepted'
  if (outcome.kind !== 'retryable' || (outcome.status !== 429 && outcome.status !== 503)) return undefined
  return outcome.retryAfterMs === undefined ? 'refused' : 'paused'
}
