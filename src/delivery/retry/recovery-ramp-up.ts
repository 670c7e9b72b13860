/**
 * How fast a client may send after an outage. All clients of a service come back at the same time, each with what it
 * kept; sent as fast as replies come, that is a second outage.
 *
 * A client goes on at 1.7 times the rate that it had before: all together stay below twice their usual rate, and what
 * was kept in an outage of length D is gone after D / 0.7. It is held to that for 1.5 D, at most 5 minutes, so that
 * clients which have kept the usual amount are done by then; for who has more, the pace then doubles every 5 s. The pace
 * ends with the first batch that comes while nothing waits. A client that knows no rate, since nothing was accepted
 * before the outage, is not held.
 */

/** Over usual. Below 2, as rates are measured and starts are not even. */
const FACTOR = 1.7
/** A client that logs all the time cuts a batch a second; so much is granted to who logs less, too. */
const LEAST_PER_SECOND = 1
const HOLD_OUTAGES = 1.5
const MAX_HOLD_MS = 300_000
const DOUBLES_EVERY_MS = 5_000
const JITTER = 0.4
/** Of the decaying count from which the usual rate is read. */
const MEMORY_MS = 30_000
/** A rate is known after so long: what an app logs while it starts is not what it logs. */
const LEAST_KNOWN_MS = 5_000
/** Shorter intervals than that are none. */
const LEAST_INTERVAL_MS = 1

export class RecoveryRampUp {
  readonly #random: () => number
  /** Decayed number of successes after the first, at `#countedAt`. */
  #count = 0
  #countedAt = 0
  #firstAt: number | undefined
  /** Fixed from an outage's first failure until its pace has ended. */
  #usualPerMs: number | undefined
  #isOn = false
  #holdUntil = -Infinity
  #nextAt = -Infinity

  /** @param random in [0, 1) */
  constructor(random: () => number) {
    this.#random = random
  }

  succeeded(now: number): void {
    if (this.#usualPerMs !== undefined) return
    if (this.#firstAt === undefined) this.#firstAt = now
    else this.#count = this.#decayed(now) + 1
    this.#countedAt = now
  }

  failed(now: number): void {
    if (this.#firstAt === undefined || this.#usualPerMs !== undefined) return
    if (now - this.#firstAt < LEAST_KNOWN_MS) {
      this.#firstAt = undefined
      this.#count = 0
      return
    }
    this.#usualPerMs = this.#decayed(now) / this.#span(now)
  }

  recovered(now: number, outageAgeMs: number): void {
    if (this.#usualPerMs === undefined) return
    this.#isOn = true
    this.#holdUntil = Math.max(this.#holdUntil, now + Math.min(HOLD_OUTAGES * outageAgeMs, MAX_HOLD_MS))
    this.#nextAt = now + this.#random() * this.#intervalMs(now)
  }

  /** Whether attempts are held to a rate. */
  get isActive(): boolean {
    return this.#isOn
  }

  /** One may be sent from then on. */
  nextAt(now: number): number {
    if (this.#isOn && this.#intervalMs(now) < LEAST_INTERVAL_MS) this.end(now)
    return this.#isOn ? this.#nextAt : -Infinity
  }

  started(now: number): void {
    if (this.#isOn) this.#nextAt = now + this.#intervalMs(now) * (1 - JITTER / 2 + JITTER * this.#random())
  }

  /** A batch comes while none waits and none is under way: if it could have come earlier, nothing is left behind. */
  cameAlone(now: number): void {
    if (this.#isOn && now - this.#nextAt >= this.#intervalMs(now) / 4) this.end(now)
  }

  /** Also what a success would begin. */
  end(now: number): void {
    if (this.#usualPerMs === undefined) return
    this.#isOn = false
    // Counting goes on with the usual rate, as if there had been no outage.
    this.#count = this.#usualPerMs * this.#span(now)
    this.#countedAt = now
    this.#usualPerMs = undefined
    this.#holdUntil = -Infinity
  }

  #intervalMs(now: number): number {
    const perMs = Math.max(FACTOR * (this.#usualPerMs ?? 0), LEAST_PER_SECOND / 1000)
    return 1 / (perMs * 2 ** (Math.max(now - this.#holdUntil, 0) / DOUBLES_EVERY_MS))
  }

  #decayed(now: number): number {
    return this.#count * Math.exp((this.#countedAt - now) / MEMORY_MS)
  }

  /** What the decaying count of one success a millisecond would be. */
  #span(now: number): number {
    return Math.max(MEMORY_MS * (1 - Math.exp(((this.#firstAt ?? now) - now) / MEMORY_MS)), LEAST_INTERVAL_MS)
  }
}
