/**
 * Limits the number of requests in flight. Has no clock; callers pass the time.
 *
 * Growth: the limit doubles each round trip up to 8. From then on, a round of replies is measured before each step. The
 * limit doubles, or grows by half, until the first sign of delay; then it grows by one per round. An unused limit does
 * not grow.
 *
 * Delay: `base` is the response time of the service without load. Slower replies waited in a queue, so `limit * (1 -
 * base / replyMs)` of our requests are queued. Up to `FEW_QUEUED` the limit grows. Above `MANY_QUEUED` in two
 * consecutive rounds, it shrinks by all but a few of the queued requests, at most by half. While delay keeps the limit
 * low, `base` is measured again from time to time at a quarter of the limit: the service may have become slower for
 * other reasons, and a `base` measured under our own load would only rise.
 *
 * Outage: the limit is one, then grows as at the start; after an overload, only as far as `OverloadCeiling` allows. If
 * requests often fail while others are accepted, the limit shrinks by a tenth as long as that helps.
 */
import { OverloadCeiling } from './overload-ceiling.js'
import { ResponseTimeSampler, computeTrimmedMean } from './response-time-sampler.js'
import type { EventLoopSample } from './response-time-sampler.js'

/**
 * The limit doubles to this number before the first measurement, because the first replies include the time to connect.
 */
const UNSAMPLED = 8
/** Growth per measured round without delay, and with little delay. */
const GROWTH = 2
const CAREFUL_GROWTH = 1.5
/** Number of our requests in the service's queue. */
const FEW_QUEUED = 3
const MANY_QUEUED = 6
/** A reply is not delayed if it exceeds `base` by less than the larger of the two. */
const TOLERANCE_SHARE = 1 / 2
const TOLERANCE_MS = 3
/**
 * Maximum length of a round, as a multiple of the replies needed. A round is longer if few replies have a known
 * response time.
 */
const MAX_ROUND = 2
/** Interval for measuring `base` again. Short at first, because a service that has just started is slow. */
const FIRST_BASE_AGE_MS = 1_000
const MAX_BASE_AGE_MS = 20_000
const BASE_SHARE = 1 / 4
/** After this time without a request, the measurements are outdated. */
const IDLE_MS = 10_000

export interface InFlightRequest {
  readonly epoch: number
  readonly sequence: number
  readonly startedAt: number
  /** Requests in flight when this one started, including itself. */
  readonly concurrentRequests: number
}

/** `doubling`: not measured. `sampling`: before each large step. `steady`: by one per round. `measuring`: kept low for a new base. */
type Phase = 'doubling' | 'sampling' | 'steady' | 'measuring'

export class AdaptiveConcurrencyLimit {
  readonly #max: number
  readonly #initial: number
  readonly #sampler = new ResponseTimeSampler()
  readonly #ceiling = new OverloadCeiling()
  #limit: number
  #phase: Phase = 'doubling'
  #epoch = 0
  #running = 0
  #total = 0
  #begun = 0
  #baseMs = Infinity
  #baseAt = 0
  #baseAgeMs = FIRST_BASE_AGE_MS
  #pausedUntil = -Infinity
  /** Response times of this round. */
  #repliesMs: number[] = []
  #ended = 0
  #peak = 0
  /** Requests before this one were sent at another limit and are not counted. */
  #from = 0
  /** Requests before this one were sent at a higher limit, so their failures do not lower it again. */
  #ignoredBefore = 0
  #delayedRounds = 0
  /** The limit after measuring. */
  #regained = 0

  /** @param initial limit before the first success */
  constructor(max: number, initial = 1) {
    this.#max = max
    this.#initial = initial
    this.#limit = initial
  }

  get limit(): number {
    return this.#limit
  }
  /** Requests in flight of the current epoch. */
  get running(): number {
    return this.#running
  }

  /** Requests in flight of older epochs, which may never end. */
  get staleRequests(): number {
    return this.#total - this.#running
  }
  get hasCapacity(): boolean {
    return this.#running < this.#limit
  }

  begin(sample: EventLoopSample): InFlightRequest {
    if (this.#total === 0 && sample.now - Math.max(this.#sampler.now, this.#pausedUntil) > IDLE_MS) {
      this.#ceiling.reset()
      this.#startOver(this.#initial)
    }
    this.#sampler.observe(sample)
    this.#running += 1
    this.#total += 1
    this.#peak = Math.max(this.#peak, this.#running)
    return { epoch: this.#epoch, sequence: this.#begun++, startedAt: sample.now, concurrentRequests: this.#total }
  }

  /** @returns whether the request is of the current epoch */
  end(request: InFlightRequest, sample: EventLoopSample): boolean {
    this.#sampler.observe(sample)
    this.#total -= 1
    const isCurrent = request.epoch === this.#epoch
    if (isCurrent) this.#running -= 1
    return isCurrent
  }

  /** Called when the service accepted the request that just ended, or named the entries that it rejected. */
  succeeded(request: InFlightRequest): void {
    this.#ceiling.succeeded(this.#limit, this.#sampler.now)
    if (this.#phase === 'doubling') this.#double(request)
    else this.#count(request)
  }

  /**
   * Starts an outage: requests in flight belong to an older epoch, and one request at a time is sent.
   * @param pauseMs time during which nothing is sent
   * @param overload the request that just ended, if the service replied that it is overloaded
   */
  failed(pauseMs: number, overload?: InFlightRequest): void {
    const { now } = this.#sampler
    this.#pausedUntil = now + pauseMs
    if (overload !== undefined && overload.concurrentRequests > 1)
      this.#ceiling.overloaded(overload.concurrentRequests, now)
    else this.#ceiling.reset()
    this.ignoreInFlight()
    this.#startOver(1)
  }

  /**
   * Called when a request failed while others were accepted. Frequent failures lower the limit, at most once per round
   * trip.
   */
  singleFailure({ sequence, concurrentRequests }: InFlightRequest): void {
    if (sequence < this.#ignoredBefore) return this.#ceiling.addFailure()
    // Lowering the limit would not help if it is one or was not reached.
    if (this.#limit === 1 || concurrentRequests * 4 < this.#limit * 3) return
    const limit = this.#ceiling.singleFailure(sequence, concurrentRequests, this.#limit, this.#sampler.now)
    if (limit === this.#limit) return
    this.#limit = limit
    this.#ignoredBefore = this.#begun
  }

  /** Allows one request at a time until the next success. */
  limitToOne(): void {
    this.#startOver(1)
  }

  /** Stops counting the requests in flight. */
  ignoreInFlight(): void {
    this.#epoch += 1
    this.#running = 0
  }

  #startOver(limit: number): void {
    this.#limit = limit
    this.#phase = 'doubling'
    this.#baseMs = Infinity
    this.#baseAgeMs = FIRST_BASE_AGE_MS
    this.#delayedRounds = 0
    this.#nextRound()
  }

  #double({ startedAt }: InFlightRequest): void {
    const { now } = this.#sampler
    // An upper bound, even if the reply was read late.
    this.#baseMs = Math.min(this.#baseMs, now - startedAt)
    this.#baseAt = now
    const bound = Math.min(UNSAMPLED, this.#ceiling.half, this.#ceiling.ceiling, this.#max)
    // Including the request that has just ended.
    if (this.#limit < bound && (this.#running + 1) * 2 >= this.#limit) this.#limit += 1
    if (this.#limit < bound) return
    this.#phase = 'sampling'
    this.#nextRound(this.#begun)
  }

  #count({ sequence, startedAt }: InFlightRequest): void {
    if (sequence < this.#from) return
    this.#ended += 1
    const tookMs = this.#sampler.responseTimeMs(startedAt)
    if (tookMs !== undefined) this.#repliesMs.push(tookMs)
    const needed = this.#phase === 'steady' ? this.#limit : Math.min(this.#limit, UNSAMPLED)
    if (this.#repliesMs.length < needed && this.#ended < needed * MAX_ROUND) return
    const replyMs = this.#repliesMs.length * 2 < needed ? undefined : computeTrimmedMean(this.#repliesMs)
    const isUsed = this.#peak * 4 >= this.#limit * 3
    this.#nextRound()
    if (this.#phase === 'measuring') this.#regain(replyMs)
    else if (replyMs !== undefined) this.#adjust(this.#queued(replyMs), isUsed)
    else if (isUsed) this.#growByOne()
  }

  #adjust(queued: number, isUsed: boolean): void {
    if (queued > FEW_QUEUED && this.#phase === 'sampling') this.#phase = 'steady'
    this.#delayedRounds = queued > MANY_QUEUED ? this.#delayedRounds + 1 : 0
    // A single pause of the service delays all requests in flight, so only new requests show whether the delay
    // continues.
    if (this.#delayedRounds === 1) this.#nextRound(this.#begun)
    else if (this.#delayedRounds > 1)
      this.#set(Math.max(Math.ceil(this.#limit / 2), Math.round(this.#limit - queued + FEW_QUEUED)))
    else if (queued <= FEW_QUEUED && isUsed) this.#grow(queued)
    else if (queued > FEW_QUEUED && this.#sampler.now - this.#baseAt > this.#baseAgeMs) this.#measure()
  }

  #grow(queued: number): void {
    const bound = Math.min(this.#ceiling.half, this.#ceiling.ceiling, this.#max)
    if (this.#phase === 'sampling' && this.#limit < bound)
      return this.#set(Math.min(Math.ceil(this.#limit * (queued > 0 ? CAREFUL_GROWTH : GROWTH)), bound))
    this.#phase = 'steady'
    this.#growByOne()
  }

  #growByOne(): void {
    this.#limit = Math.max(this.#limit, Math.min(this.#limit + 1, this.#ceiling.ceiling, this.#max))
  }

  /** Number of our requests in the service's queue. */
  #queued(replyMs: number): number {
    this.#baseMs = Math.min(this.#baseMs, replyMs)
    return this.#limit * (1 - (this.#baseMs + Math.max(TOLERANCE_MS, this.#baseMs * TOLERANCE_SHARE)) / replyMs)
  }

  #measure(): void {
    this.#phase = 'measuring'
    this.#regained = this.#limit
    this.#set(Math.max(Math.floor(this.#limit * BASE_SHARE), 1))
  }

  #regain(replyMs: number | undefined): void {
    this.#phase = 'steady'
    this.#baseMs = replyMs ?? this.#baseMs
    this.#baseAgeMs = replyMs === undefined ? FIRST_BASE_AGE_MS : Math.min(this.#baseAgeMs * 2, MAX_BASE_AGE_MS)
    this.#baseAt = this.#sampler.now
    this.#set(this.#regained)
  }

  #set(limit: number): void {
    this.#limit = limit
    // Counts only requests that start at the new limit.
    this.#nextRound(this.#begun + Math.max(limit - this.#running, 0))
  }

  #nextRound(from = this.#from): void {
    this.#repliesMs = []
    this.#ended = 0
    this.#peak = this.#running
    this.#from = from
  }
}
