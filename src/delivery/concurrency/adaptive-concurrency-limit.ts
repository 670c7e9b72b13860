/**
 * How many requests may be in flight at once. Pure: whoever asks brings the time.
 *
 * Up: the number doubles each round trip to 8. From there on a round of replies is looked at before each step: the number
 * doubles, or grows by half, until there is a first sign of delay, then it grows by one a round. A number that is not used
 * does not grow.
 *
 * Down on delay: `base` is the reply time of a service that we do not press. Of a slower reply's time the share beyond it
 * was spent in a queue, so that `limit * (1 - base / replyMs)` of our requests stand in one. Up to `FEW` the number grows;
 * from `MANY` on, in two rounds one after the other, it shrinks to what leaves a few, at most by half. While delay holds it
 * down, a quarter of it measures `base` anew now and then: a service may have become slower for reasons of its own, and a
 * `base` that was taken from our own queue would creep up with it.
 *
 * Down on an outage: to one, then up as at first; after a refusal only as far as `Caution` allows. A lone request that is
 * refused tells of an outage, not of too many. Down by a tenth when some requests fail and others are accepted, as far as that helps.
 */
import { OverloadCeiling } from './overload-ceiling.js'
import { ResponseTimeSampler, trimmedMean } from './response-time-sampler.js'
import type { EventLoopSample } from './response-time-sampler.js'

/** Doubled to before the first look: a first reply opens a connection, and a few tell nothing. */
const UNSEEN = 8
/** At a look, where there is no delay at all, and where there is little. */
const GROWTH = 2
const CAREFUL_GROWTH = 1.5
/** Of our requests, in the service's queue. */
const FEW = 3
const MANY = 6
/** Slower than `base` by less than the larger of the two is no delay: services are not even, and loopback is noisy. */
const TOLERANCE_SHARE = 1 / 2
const TOLERANCE_MS = 3
/** Times the replies that are needed, where the time of few is known. */
const MAX_ROUND = 2
/** While delay holds the number down `base` is measured anew: soon at first, since what has just been started is slow. */
const FIRST_BASE_AGE_MS = 1_000
const MAX_BASE_AGE_MS = 20_000
const BASE_SHARE = 1 / 4
/** After so long without a request nothing is known any more. */
const IDLE_MS = 10_000

/** A request under way. */
export interface InFlightRequest {
  readonly epoch: number
  readonly sequence: number
  readonly startedAt: number
  /** Requests in flight when it began, with itself. */
  readonly concurrentRequests: number
}

/** `doubling`: unseen. `looking`: before each large step. `steady`: by one a round. `measuring`: held low for a new base. */
type Phase = 'doubling' | 'looking' | 'steady' | 'measuring'

export class AdaptiveConcurrencyLimit {
  readonly #max: number
  readonly #initial: number
  readonly #replyTime = new ResponseTimeSampler()
  readonly #caution = new OverloadCeiling()
  #limit: number
  #phase: Phase = 'doubling'
  #wave = 0
  #running = 0
  #total = 0
  #begun = 0
  #baseMs = Infinity
  #baseAt = 0
  #baseAgeMs = FIRST_BASE_AGE_MS
  #pausedUntil = -Infinity
  /** The round's. */
  #repliesMs: number[] = []
  #ended = 0
  #peak = 0
  /** What began earlier was among others than now, and does not count. */
  #from = 0
  /** Requests that began earlier ran at a higher limit: their failures do not lower it again. */
  #ignoredBefore = 0
  #delayedRounds = 0
  /** The limit when the measuring is over. */
  #regained = 0

  /** @param initial before any has succeeded */
  constructor(max: number, initial = 1) {
    this.#max = max
    this.#initial = initial
    this.#limit = initial
  }

  get limit(): number {
    return this.#limit
  }
  /** Requests in flight that belong to the current wave. */
  get running(): number {
    return this.#running
  }

  /** In flight, of older waves: they may hang. */
  get staleRequests(): number {
    return this.#total - this.#running
  }
  get hasCapacity(): boolean {
    return this.#running < this.#limit
  }

  begin(moment: EventLoopSample): InFlightRequest {
    if (this.#total === 0 && moment.now - Math.max(this.#replyTime.now, this.#pausedUntil) > IDLE_MS) {
      this.#caution.reset()
      this.#startOver(this.#initial)
    }
    this.#replyTime.observe(moment)
    this.#running += 1
    this.#total += 1
    this.#peak = Math.max(this.#peak, this.#running)
    return { epoch: this.#wave, sequence: this.#begun++, startedAt: moment.now, concurrentRequests: this.#total }
  }

  /** @returns whether it is of this wave */
  end(flight: InFlightRequest, moment: EventLoopSample): boolean {
    this.#replyTime.observe(moment)
    this.#total -= 1
    const isCurrent = flight.epoch === this.#wave
    if (isCurrent) this.#running -= 1
    return isCurrent
  }

  /** The service took what has just ended, or refused entries of it by name. */
  succeeded(flight: InFlightRequest): void {
    this.#caution.succeeded(this.#limit, this.#replyTime.now)
    if (this.#phase === 'doubling') this.#double(flight)
    else this.#count(flight)
  }

  /**
   * What is under way belongs to an older wave, and one at a time is tried.
   * @param pauseMs for which nothing will be sent
   * @param refused what has just ended, where the service says that it was too much
   */
  failed(pauseMs: number, refused?: InFlightRequest): void {
    const { now } = this.#replyTime
    this.#pausedUntil = now + pauseMs
    if (refused !== undefined && refused.concurrentRequests > 1)
      this.#caution.overloaded(refused.concurrentRequests, now)
    else this.#caution.reset()
    this.ignoreInFlight()
    this.#startOver(1)
  }

  /** A request failed while others were accepted. Lowers the limit once per round trip. @param delayMs delay before its batch is sent again */
  isolatedFailure({ sequence: order, concurrentRequests: among }: InFlightRequest, delayMs: number): void {
    if (order < this.#ignoredBefore) return this.#caution.addDelay(delayMs)
    // The limit was not used: lowering it would not help.
    if (among * 4 < this.#limit * 3) return
    this.#ignoredBefore = this.#begun
    this.#limit = this.#caution.isolatedFailure(among, this.#limit, this.#replyTime.now, delayMs)
  }

  /** One at a time, for now. */
  limitToOne(): void {
    this.#startOver(1)
  }

  /** Requests in flight do not count any more. */
  ignoreInFlight(): void {
    this.#wave += 1
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
    const { now } = this.#replyTime
    // A bound from above, however late it was read.
    this.#baseMs = Math.min(this.#baseMs, now - startedAt)
    this.#baseAt = now
    const bound = Math.min(UNSEEN, this.#caution.half, this.#caution.ceiling, this.#max)
    // What has just ended was one more.
    if (this.#limit < bound && (this.#running + 1) * 2 >= this.#limit) this.#limit += 1
    if (this.#limit < bound) return
    this.#phase = 'looking'
    this.#nextRound(this.#begun)
  }

  #count({ sequence: order, startedAt }: InFlightRequest): void {
    if (order < this.#from) return
    this.#ended += 1
    const tookMs = this.#replyTime.responseTimeMs(startedAt)
    if (tookMs !== undefined) this.#repliesMs.push(tookMs)
    const needed = this.#phase === 'steady' ? this.#limit : Math.min(this.#limit, UNSEEN)
    if (this.#repliesMs.length < needed && this.#ended < needed * MAX_ROUND) return
    const replyMs = this.#repliesMs.length * 2 < needed ? undefined : trimmedMean(this.#repliesMs)
    const isUsed = this.#peak * 4 >= this.#limit * 3
    this.#nextRound()
    if (this.#phase === 'measuring') this.#regain(replyMs)
    else if (replyMs !== undefined) this.#judge(this.#queued(replyMs), isUsed)
    else if (isUsed) this.#growByOne()
  }

  #judge(queued: number, isUsed: boolean): void {
    if (queued > FEW && this.#phase === 'looking') this.#phase = 'steady'
    this.#delayedRounds = queued > MANY ? this.#delayedRounds + 1 : 0
    // A service that paused once delays all that is in flight: what begins from now on shows whether it goes on.
    if (this.#delayedRounds === 1) this.#nextRound(this.#begun)
    else if (this.#delayedRounds > 1)
      this.#set(Math.max(Math.ceil(this.#limit / 2), Math.round(this.#limit - queued + FEW)))
    else if (queued <= FEW && isUsed) this.#grow(queued)
    else if (queued > FEW && this.#replyTime.now - this.#baseAt > this.#baseAgeMs) this.#measure()
  }

  #grow(queued: number): void {
    const bound = Math.min(this.#caution.half, this.#caution.ceiling, this.#max)
    if (this.#phase === 'looking' && this.#limit < bound)
      return this.#set(Math.min(Math.ceil(this.#limit * (queued > 0 ? CAREFUL_GROWTH : GROWTH)), bound))
    this.#phase = 'steady'
    this.#growByOne()
  }

  #growByOne(): void {
    this.#limit = Math.max(this.#limit, Math.min(this.#limit + 1, this.#caution.ceiling, this.#max))
  }

  /** Of our requests that stand in the service's queue. */
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
    this.#baseAt = this.#replyTime.now
    this.#set(this.#regained)
  }

  #set(limit: number): void {
    this.#limit = limit
    // Those that fill the room are among fewer.
    this.#nextRound(this.#begun + Math.max(limit - this.#running, 0))
  }

  #nextRound(from = this.#from): void {
    this.#repliesMs = []
    this.#ended = 0
    this.#peak = this.#running
    this.#from = from
  }
}
