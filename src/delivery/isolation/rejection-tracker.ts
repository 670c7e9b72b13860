/**
 * What speaks for and against the service where a refusal names nothing: the fault may be an entry's, or that of a
 * gateway which refuses everything. An acceptance of what was begun after the refusal says that it was the entry.
 */
import type { Clock } from '../../shared/clock.js'
import type { Refused } from '../../batch/sender.js'

/**
 * After so many refusals without an acceptance between them what was accepted before counts no more: the gateway may have
 * failed since. All entries of a batch can be found bad within 200.
 */
const MAX_REFUSALS_ON_TRUST = 250

export class RejectionTracker {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #begun = 0
  /** Number of the latest begun attempt that was accepted; 0 for none. */
  #latestAccepted = 0
  #latestFailed = 0
  #refusedInARow = 0
  #verdicts = 0
  #isConvicted = false
  #isHurried = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Attempts begun so far. */
  get attemptsBegun(): number {
    return this.#begun
  }

  /** Number of the latest begun attempt that has failed; 0 for none. */
  get latestFailed(): number {
    return this.#latestFailed
  }

  /** Whether everything is refused, as far as is known: one probe a minute until one is accepted. */
  get isRejectingAll(): boolean {
    return this.#isConvicted
  }

  /** How often that was found. */
  get rejectsAllCount(): number {
    return this.#verdicts
  }

  /** The app is about to end: nothing is worth waiting for. */
  get isShuttingDown(): boolean {
    return this.#isHurried
  }

  /** Whether something was accepted that began after the first `begun` attempts. */
  hasAcceptedSince(begun: number): boolean {
    return this.#latestAccepted > begun
  }

  /** @returns the attempt's number */
  begin(): number {
    return ++this.#begun
  }

  accepted(attempt: number): void {
    this.#latestAccepted = Math.max(this.#latestAccepted, attempt)
    this.#refusedInARow = 0
    this.notify()
  }

  failed(attempt: number): void {
    this.#latestFailed = Math.max(this.#latestFailed, attempt)
  }

  refused(): void {
    this.#refusedInARow += 1
    if (this.#refusedInARow >= MAX_REFUSALS_ON_TRUST) this.#latestAccepted = 0
  }

  markRejectingAll(): void {
    this.#isConvicted = true
    this.#verdicts += 1
    this.#latestAccepted = 0
    this.notify()
  }

  clearRejectingAll(): void {
    this.#isConvicted = false
  }

  startShutdown(): void {
    this.#isHurried = true
    this.notify()
  }

  /** Whoever waits looks again. */
  notify(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Resolves when `isOver`, which is asked at every change, when `signal` aborts, or after `timeoutMs`. */
  async until(isOver: () => boolean, signal: AbortSignal, timeoutMs?: number): Promise<void> {
    if (isOver() || signal.aborted) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#listeners.delete(look)
        signal.removeEventListener('abort', end)
        cancelTimer?.()
        resolve()
      }
      const look = (): void => {
        if (isOver()) end()
      }
      this.#listeners.add(look)
      signal.addEventListener('abort', end)
      const cancelTimer = timeoutMs === undefined ? undefined : this.#clock.timer(timeoutMs, end)
    })
  }
}

/** 413 names none, whatever its body says: it is of the size. */
export function namesNoEntry({ status, rejected }: Refused): boolean {
  return rejected.length === 0 || status === 413
}
