/**
 * How many requests are in flight. As in Vector's controller: more if the limit was reached and the reply was not slower
 * than usual, a tenth less if the service refuses for load or the reply was much slower.
 *
 * Refusals are a sign of load only if a lower limit reduces them. One of several nodes may be broken, and fewer requests
 * would fail as well. So the limit is lowered down to half, at most; if requests are still refused there, it is restored,
 * and refusals do not lower it for a while.
 * @see https://vector.dev/blog/adaptive-request-concurrency/
 */

type Load =
  /** Above `ceiling`, where the service refused before, the limit grows by one per round trip, else by one per reply. */
  | { readonly kind: 'growing'; readonly ceiling: number; readonly refused: readonly Refusal[] }
  /** The service refuses above `limit`, which stays until enough was accepted. */
  | {
      readonly kind: 'lowered'
      readonly from: number
      readonly since: number
      readonly refused: number
      readonly accepted: number
    }
  /** Refusals do not depend on the limit. */
  | { readonly kind: 'unrelated'; readonly until: number }

interface Refusal {
  readonly startedAt: number
  readonly inFlight: number
}

export interface ConcurrencyReply {
  readonly startedAt: number
  readonly now: number
  /** Requests in flight when it ended and when it began, both including this one. */
  readonly inFlight: number
  readonly inFlightAtStart: number
  /** `refused`: for load. `paused`: with a Retry-After. */
  readonly result: 'accepted' | 'refused' | 'paused'
}

/** Weight of the latest reply in mean and deviation. */
const WEIGHT = 0.1
/** A reply later than the mean and so many deviations is slow. */
const DEVIATIONS = 2.5
/** Differences below this are noise of this process. */
const TOLERANCE_MS = 4
const DECREASE_FACTOR = 0.9
/** With one request at a time, failures of some requests could not be told from an outage. */
const MIN_LIMIT = 2
/** Refusals within as many round trips that lower the limit. */
const REFUSALS_TO_LOWER = 3
/** A lowered limit stays for this multiple of the time that the refusals lasted, at most a minute. */
const LOWERED_TIME_FACTOR = 10
const MAX_LOWERED_MS = 60_000
/** And until so many requests per refusal were accepted. */
const ACCEPTED_PER_REFUSAL = 200
/** After this time without requests, earlier measurements say nothing. */
const IDLE_MS = 10_000
const GROWING = { kind: 'growing', ceiling: Infinity, refused: [] } as const

export class Concurrency {
  readonly #max: number
  #limit = 1
  #load: Load = GROWING
  #meanMs: number | undefined
  #deviationMs = 0
  /** Replies to requests that began before do not lower the limit again, or raise it above the ceiling. */
  #loweredAt = -Infinity
  #raisedAt = -Infinity
  #endedAt = -Infinity

  constructor(max: number) {
    this.#max = max
  }

  get limit(): number {
    return this.#limit
  }

  /** A time within which nearly every reply arrives; undefined before the first. */
  get slowMs(): number | undefined {
    return this.#meanMs === undefined ? undefined : this.#meanMs + DEVIATIONS * this.#deviationMs
  }

  /** Call before the only request in flight begins. */
  beginAlone(now: number): void {
    if (now - this.#endedAt > IDLE_MS) this.reset()
  }

  /**
   * One request at a time, until replies are measured again.
   * @param overload requests in flight when the service failed for load: above half of them, the limit grows slowly
   */
  reset(overload = Infinity): void {
    this.#limit = 1
    if (this.#load.kind !== 'unrelated') this.#load = { ...GROWING, ceiling: Math.floor(overload / 2) }
    this.#meanMs = undefined
    this.#deviationMs = 0
  }

  /** Call when no file descriptor was left for a request. Halves the limit, which leaves some to the application, and prevents growth for a minute. */
  halve(inFlight: number, now: number): void {
    this.#limit = Math.max(Math.floor(inFlight / 2), 1)
    this.#load = { ...GROWING, ceiling: this.#limit }
    this.#raisedAt = now + MAX_LOWERED_MS
  }

  /** Call at the end of a request that the service accepted or refused for load. */
  replied(reply: ConcurrencyReply): void {
    const { startedAt, now, inFlight, result } = reply
    this.#endedAt = now
    if (result !== 'accepted') return this.#refused(reply)
    const tookMs = now - startedAt
    const mean = this.#meanMs ?? tookMs
    const isSlow = tookMs > mean + Math.max(DEVIATIONS * this.#deviationMs, TOLERANCE_MS)
    this.#deviationMs += WEIGHT * (Math.abs(tookMs - mean) - this.#deviationMs)
    this.#meanMs = mean + WEIGHT * (tookMs - mean)
    this.#accepted(now)
    if (isSlow) this.#lower(startedAt, now)
    else if (inFlight >= this.#limit && tookMs <= mean + TOLERANCE_MS) this.#grow(startedAt, now)
  }

  #grow(startedAt: number, now: number): void {
    if (this.#load.kind === 'lowered') return
    if (this.#load.kind === 'growing' && this.#limit >= this.#load.ceiling) {
      if (startedAt < this.#raisedAt) return
      this.#raisedAt = now
    }
    this.#limit = Math.min(this.#limit + 1, this.#max)
  }

  #lower(startedAt: number, now: number, from = this.#limit): void {
    if (startedAt < this.#loweredAt) return
    this.#limit = Math.max(Math.floor(Math.min(this.#limit, from) * DECREASE_FACTOR), Math.min(this.#limit, MIN_LIMIT))
    this.#loweredAt = now
  }

  #accepted(now: number): void {
    const load = this.#load
    if (load.kind === 'unrelated' && now >= load.until) this.#load = GROWING
    if (load.kind !== 'lowered') return
    const accepted = load.accepted + 1
    const lastedMs = Math.min((this.#loweredAt - load.since) * LOWERED_TIME_FACTOR, MAX_LOWERED_MS)
    const isOver = accepted >= load.refused * ACCEPTED_PER_REFUSAL && now >= this.#loweredAt + lastedMs
    this.#load = isOver ? { kind: 'growing', ceiling: this.#limit, refused: [] } : { ...load, accepted }
  }

  #refused({ startedAt, now, inFlightAtStart: inFlight, result }: ConcurrencyReply): void {
    const load = this.#load
    // A lower limit would not help if it was not reached.
    if (load.kind === 'unrelated' || this.#limit === 1 || inFlight * 2 < this.#limit) return
    if (load.kind === 'growing') {
      const refused = [...load.refused.slice(1 - REFUSALS_TO_LOWER), { startedAt, inFlight }]
      const since = (refused[0] as Refusal).startedAt
      this.#load = { ...load, refused }
      const isFrequent =
        refused.length === REFUSALS_TO_LOWER && startedAt - since <= REFUSALS_TO_LOWER * (this.#meanMs ?? 0)
      if (!isFrequent && result !== 'paused') return
      this.#load = { kind: 'lowered', from: this.#limit, since, refused: refused.length, accepted: 0 }
      return this.#lower(startedAt, now, Math.min(...refused.map((one) => one.inFlight)))
    }
    if (inFlight <= Math.max(load.from / 2, MIN_LIMIT)) {
      this.#load = {
        kind: 'unrelated',
        until: now + Math.min((now - load.since) * LOWERED_TIME_FACTOR, MAX_LOWERED_MS),
      }
      this.#limit = load.from
      return
    }
    this.#load = { ...load, refused: load.refused + 1, accepted: 0 }
    this.#lower(startedAt, now)
  }
}
