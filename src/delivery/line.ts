/** Who waits at the gate, in the order of their turns. */

/** A batch's place in the line. Kept through every attempt, it lets an older batch go before a younger one. */
export interface Turn {
  readonly order: number
  /** Its failures, outages apart. */
  failures: number
  /** How many of all were accepted before the last of its failures. */
  acceptedBefore: number
  /** Until then it waits, and others do not wait for it. */
  notBefore: number
}

interface Waiter {
  readonly turn: Turn
  /** Leaves the line. */
  readonly end: (isLet: boolean) => void
}

export class Line {
  readonly #waiters: Waiter[] = []
  #turns = 0

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  turn(): Turn {
    return { order: this.#turns++, failures: 0, acceptedBefore: 0, notBefore: -Infinity }
  }

  /** How many wait for a time of their own. */
  delayed(now: number): number {
    return this.#waiters.filter(({ turn }) => turn.notBefore > now).length
  }

  /** When the first may go; Infinity where none waits. */
  get dueAt(): number {
    return Math.min(...this.#waiters.map(({ turn }) => turn.notBefore))
  }

  /** None waits for a time of its own any longer than until then. */
  limitDelays(at = -Infinity): void {
    for (const { turn } of this.#waiters) turn.notBefore = Math.min(turn.notBefore, at)
  }

  /**
   * Behind all that are not younger.
   * @param signal its abort sends the waiter away
   * @param onEnd is called once, with whether it was let
   */
  enter(turn: Turn, signal: AbortSignal, onEnd: (isLet: boolean) => void): void {
    const leave = (): void => waiter.end(false)
    const waiter: Waiter = { turn, end: (isLet) => {
      signal.removeEventListener('abort', leave)
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
      onEnd(isLet)
    } }
    signal.addEventListener('abort', leave)
    const younger = this.#waiters.findIndex((other) => other.turn.order > turn.order)
    this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
  }

  letFirst(now: number): void {
    this.#waiters.find(({ turn }) => turn.notBefore <= now)?.end(true)
  }

  refuseAll(): void {
    while (this.#waiters.length > 0) this.#waiters[0]?.end(false)
  }
}
