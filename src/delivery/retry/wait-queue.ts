/** Who waits at the gate, in the order of their turns. */

/** A batch's position in the line and its failures. Kept through all attempts, so that an older batch goes before a younger one. */
export interface RetryState {
  readonly sequence: number
  /** Failures of this batch outside of outages. */
  failures: number
  /** How many requests were accepted before the batch's last failure. */
  acceptedBefore: number
  /** The batch waits until this time; others may go first. */
  notBefore: number
}

interface Waiter {
  readonly turn: RetryState
  /** Leaves the line. */
  readonly end: (isLet: boolean) => void
}

export class WaitQueue {
  readonly #waiters: Waiter[] = []
  #turns = 0

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  createRetryState(): RetryState {
    return { sequence: this.#turns++, failures: 0, acceptedBefore: 0, notBefore: -Infinity }
  }

  /** Number of batches that wait until their `notBefore`. */
  countDelayed(now: number): number {
    return this.#waiters.filter(({ turn }) => turn.notBefore > now).length
  }

  /** The earliest time at which a batch may go; Infinity if none waits. */
  get dueAt(): number {
    return Math.min(...this.#waiters.map(({ turn }) => turn.notBefore))
  }

  /** Limits each `notBefore` to `at`. */
  limitDelays(at = -Infinity): void {
    for (const { turn } of this.#waiters) turn.notBefore = Math.min(turn.notBefore, at)
  }

  /**
   * Behind all that are not younger.
   * @param signal its abort sends the waiter away
   * @param onEnd is called once, with whether it was let
   */
  enter(turn: RetryState, signal: AbortSignal, onEnd: (isLet: boolean) => void): void {
    const leave = (): void => waiter.end(false)
    const waiter: Waiter = {
      turn,
      end: (isLet) => {
        signal.removeEventListener('abort', leave)
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        onEnd(isLet)
      },
    }
    signal.addEventListener('abort', leave)
    const younger = this.#waiters.findIndex((other) => other.turn.sequence > turn.sequence)
    this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
  }

  admitFirst(now: number): void {
    this.#waiters.find(({ turn }) => turn.notBefore <= now)?.end(true)
  }

  cancelAll(): void {
    while (this.#waiters.length > 0) this.#waiters[0]?.end(false)
  }
}
