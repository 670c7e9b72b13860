/**
 * Limits the rate of requests after an outage. All clients of a service resume at the same time, each with a backlog.
 * Without a limit, they could cause a second outage.
 *
 * A client continues at 1.7 times its previous rate. All clients together thus stay below twice their usual rate, and
 * the backlog of an outage of length D is sent after D / 0.7. The limit applies for 1.5 D, at most 5 minutes, which is
 * enough for a usual backlog. Then the rate doubles every 5 s. The limit ends with the first batch that arrives while
 * no other waits. A client whose first batch was accepted less than 5 s before the outage, or never, is not limited.
 */
import type { Clock } from '../../shared/clock.js'
import type { FailureListener } from './failure-state.js'

/** Multiple of the usual rate. Below 2, since rates are estimates. */
const FACTOR = 1.7
/** A client that logs continuously sends one batch per second; one that logs less may send as many. */
const MIN_PER_SECOND = 1
const STEADY_OUTAGES = 1.5
const MAX_STEADY_MS = 300_000
const DOUBLES_EVERY_MS = 5_000
const JITTER = 0.4
/** Time constant of the decaying count from which the usual rate is computed. */
const MEMORY_MS = 30_000
/** Time after which the rate is known, because the rate at the start of an application is not typical. */
const MIN_KNOWN_MS = 5_000
const MIN_INTERVAL_MS = 1

export class RecoveryRampUp implements FailureListener {
  readonly #clock: Clock
  readonly #random: () => number
  /** Decayed number of successes after the first, at `#countedAt`. */
  #count = 0
  #countedAt = 0
  #firstAt: number | undefined
  /** Usual rate, constant from the first failure of an outage until its ramp-up ends. */
  #usualPerMs: number | undefined
  #isActive = false
  #isDisabled = false
  #steadyUntil = -Infinity
  #nextAt = -Infinity

  /** @param random in [0, 1) */
  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock
    this.#random = random
  }

  onSuccess(): void {
    if (this.#usualPerMs !== undefined) return
    if (this.#firstAt === undefined) this.#firstAt = this.#now
    else this.#count = this.#decayedCount + 1
    this.#countedAt = this.#now
  }

  onFailure(): void {
    if (this.#firstAt === undefined || this.#usualPerMs !== undefined) return
    if (this.#now - this.#firstAt < MIN_KNOWN_MS) {
      this.#firstAt = undefined
      this.#count = 0
      return
    }
    this.#usualPerMs = this.#decayedCount / this.#weightMs
  }

  onRecovery(outageAgeMs: number, hasFailed: boolean): void {
    if (this.#usualPerMs === undefined || !hasFailed || this.#isDisabled) return
    this.#isActive = true
    this.#steadyUntil = Math.max(this.#steadyUntil, this.#now + Math.min(STEADY_OUTAGES * outageAgeMs, MAX_STEADY_MS))
    this.#nextAt = this.#now + this.#random() * this.#intervalMs
  }

  /** Whether the rate is limited. */
  get isActive(): boolean {
    return this.#isActive
  }

  /** Earliest time of the next attempt. */
  get nextAt(): number {
    if (this.#isActive && this.#intervalMs < MIN_INTERVAL_MS) this.end()
    return this.#isActive ? this.#nextAt : -Infinity
  }

  started(): void {
    if (this.#isActive) this.#nextAt = this.#now + this.#intervalMs * (1 - JITTER / 2 + JITTER * this.#random())
  }

  /**
   * Called when a batch arrives while no other waits or is in flight. If a batch could have been sent earlier, there is
   * no backlog.
   */
  arrivedIdle(): void {
    if (this.#isActive && this.#now - this.#nextAt >= this.#intervalMs / 4) this.end()
  }

  /** Ends the ramp-up, including one that would start with the next success. */
  end(): void {
    if (this.#usualPerMs === undefined) return
    this.#isActive = false
    // Counting continues with the usual rate, as if there had been no outage.
    this.#count = this.#usualPerMs * this.#weightMs
    this.#countedAt = this.#now
    this.#usualPerMs = undefined
    this.#steadyUntil = -Infinity
  }

  /** Called at shutdown, when there is no time for a ramp-up. */
  disable(): void {
    this.end()
    this.#isDisabled = true
  }

  get #now(): number {
    return this.#clock.now()
  }

  get #intervalMs(): number {
    const perMs = Math.max(FACTOR * (this.#usualPerMs ?? 0), MIN_PER_SECOND / 1000)
    return 1 / (perMs * 2 ** (Math.max(this.#now - this.#steadyUntil, 0) / DOUBLES_EVERY_MS))
  }

  get #decayedCount(): number {
    return this.#count * Math.exp((this.#countedAt - this.#now) / MEMORY_MS)
  }

  /** The decaying count at a rate of one success per millisecond. */
  get #weightMs(): number {
    return Math.max(MEMORY_MS * (1 - Math.exp(((this.#firstAt ?? this.#now) - this.#now) / MEMORY_MS)), MIN_INTERVAL_MS)
  }
}
