/**
 * What all batches know together about the service: whether it may be asked now, and by how many at once.
 *
 * One attempt at a time runs at first, and each success allows one more, up to `maxConcurrency`: the number in flight
 * doubles each round trip. The first failure closes the gate and starts a new wave, which begins with one probe again.
 * What is still under way belongs to the old wave: it may prolong a Retry-After but changes nothing else.
 */
import { nextDelayMs } from '../backoff.js'
import type { Clock } from '../clock.js'
import type { Later, Misconfigured, Outcome } from '../sender.js'

export interface GateOptions {
  readonly clock: Clock
  /** Attempts in flight at once. */
  readonly maxConcurrency: number
  /** Attempts in flight before any has succeeded. Default 1. */
  readonly initialConcurrency?: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** In [0, 1). Default `Math.random`. */
  readonly random?: () => number
  /** For each failure that closed the gate. `waitMs` is how long nothing will be sent. */
  readonly onTrouble?: (trouble: Later | Misconfigured, outageAgeMs: number, waitMs: number) => void
  /** For the first success after a failure. */
  readonly onRecovery?: (outageAgeMs: number) => void
}

interface Waiter {
  readonly turn: number
  readonly start: () => void
  readonly refuse: () => void
}

/** A wrong key or address mends itself rarely, and each probe counts against the rate limit. */
const MISCONFIGURED_PROBE_MS = 60_000
/** Added to a Retry-After so that not all processes come back in the same instant. */
const MAX_JITTER_MS = 1000
const JITTER_SHARE = 0.1

export class Gate {
  readonly #options: GateOptions
  readonly #random: () => number
  readonly #waiters: Waiter[] = []
  #turns = 0
  #wave = 0
  #running = 0
  #limit: number
  #failures = 0
  #outageSince: number | undefined
  #trouble: string | undefined
  /** From a Retry-After: nothing cuts it short. */
  #notBefore = -Infinity
  /** From the backoff: `hurry` cuts it short. */
  #pausedUntil = -Infinity
  #deadlineAt = Infinity
  #timerAt: number | undefined
  #cancelTimer: (() => void) | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
    // A service that refuses the first requests must not be met by all at once.
    this.#limit = options.initialConcurrency ?? 1
  }

  /** Attempts that may be in flight at once at the moment. */
  get limit(): number {
    return this.#limit
  }

  /** The reason of the last failure, while the service fails. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** A place in the line. Kept through every attempt, it lets an older batch go before a younger one. */
  turn(): number {
    return this.#turns++
  }

  /**
   * Runs `attempt` as soon as the gate lets it pass, in the same turn of the event loop as the decision.
   * @returns its outcome, or undefined where it never ran: `signal` aborted, or the gate opens after the deadline
   */
  run(turn: number, signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      const leave = () => {
        signal.removeEventListener('abort', refuse)
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
      }
      const refuse = () => {
        leave()
        resolve(undefined)
      }
      const start = () => {
        leave()
        resolve(this.#observe(signal, attempt))
      }
      const waiter: Waiter = { turn, start, refuse }
      if (signal.aborted) return resolve(undefined)
      signal.addEventListener('abort', refuse)
      const younger = this.#waiters.findIndex((other) => other.turn > turn)
      this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
      this.#advance()
    })
  }

  /**
   * The app is about to end at `deadlineAt` (of the clock's `now`): pauses of the backoff end now, and what
   * could only run after the deadline is not waited for.
   */
  hurry(deadlineAt: number): void {
    this.#deadlineAt = deadlineAt
    this.#pausedUntil = -Infinity
    this.#failures = 0
    this.#advance()
  }

  /** Ends a pause of the backoff now, for one attempt; a Retry-After holds. */
  nudge(): void {
    this.#pausedUntil = -Infinity
    this.#advance()
  }

  async #observe(signal: AbortSignal, attempt: () => Promise<Outcome>): Promise<Outcome> {
    const wave = this.#wave
    this.#running += 1
    let outcome: Outcome | undefined
    try {
      outcome = await attempt()
      return outcome
    } finally {
      if (wave === this.#wave) this.#running -= 1
      if (outcome !== undefined) this.#judge(outcome, wave === this.#wave, signal.aborted)
      this.#advance()
    }
  }

  #judge(outcome: Outcome, current: boolean, aborted: boolean): void {
    switch (outcome.kind) {
      case 'delivered':
      case 'refused':
        if (current) this.#succeeded()
        return
      case 'later':
        // We ended it ourselves: it says nothing about the service.
        if (aborted && outcome.status === undefined) return
        if (outcome.retryAfterMs !== undefined) this.#respect(outcome.retryAfterMs)
        if (current) this.#failed(outcome)
        return
      case 'misconfigured':
        if (current) this.#failed(outcome)
        return
      case 'given-up':
        return
    }
  }

  #respect(retryAfterMs: number): void {
    const jitterMs = this.#random() * Math.min(MAX_JITTER_MS, retryAfterMs * JITTER_SHARE)
    this.#notBefore = Math.max(this.#notBefore, this.#options.clock.now() + retryAfterMs + jitterMs)
  }

  #failed(trouble: Later | Misconfigured): void {
    const { clock, retryMinMs, retryMaxMs, onTrouble } = this.#options
    const now = clock.now()
    this.#wave += 1
    this.#running = 0
    this.#limit = 1
    this.#failures += 1
    this.#outageSince ??= now
    this.#trouble = trouble.reason
    const outageAgeMs = now - this.#outageSince
    const pauseMs =
      trouble.kind === 'misconfigured'
        ? MISCONFIGURED_PROBE_MS
        : nextDelayMs({ attempt: this.#failures, outageAgeMs, retryMinMs, retryMaxMs, random: this.#random })
    this.#pausedUntil = now + pauseMs
    onTrouble?.(trouble, outageAgeMs, this.#opensAt() - now)
  }

  #succeeded(): void {
    this.#limit = Math.min(this.#limit + 1, this.#options.maxConcurrency)
    if (this.#outageSince === undefined) return
    const outageAgeMs = this.#options.clock.now() - this.#outageSince
    this.#outageSince = undefined
    this.#trouble = undefined
    this.#failures = 0
    this.#options.onRecovery?.(outageAgeMs)
  }

  #opensAt(): number {
    return Math.max(this.#notBefore, this.#pausedUntil)
  }

  #advance(): void {
    const opensAt = this.#opensAt()
    if (opensAt >= this.#deadlineAt) {
      while (this.#waiters.length > 0) this.#waiters[0]?.refuse()
    }
    const waitMs = opensAt - this.#options.clock.now()
    if (waitMs > 0 && this.#waiters.length > 0) return this.#wakeAt(opensAt, waitMs)
    this.#cancelTimer?.()
    this.#timerAt = undefined
    if (waitMs > 0) return
    while (this.#running < this.#limit && this.#waiters.length > 0) this.#waiters[0]?.start()
  }

  #wakeAt(opensAt: number, waitMs: number): void {
    if (this.#timerAt === opensAt) return
    this.#cancelTimer?.()
    this.#timerAt = opensAt
    // It may fire early, by a millisecond or for the longest delays (see `Clock`): `#advance` looks at the clock again.
    this.#cancelTimer = this.#options.clock.timer(waitMs, () => {
      this.#timerAt = undefined
      this.#advance()
    })
  }
}
