/** Who waits at the gate, in the order of their turns. */

interface Waiter {
  readonly turn: number
  /** Leaves the line. */
  readonly end: (isLet: boolean) => void
}

export class Line {
  readonly #waiters: Waiter[] = []

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  /**
   * Behind all that are not younger.
   * @param signal its abort sends the waiter away
   * @param onEnd is called once, with whether it was let
   */
  enter(turn: number, signal: AbortSignal, onEnd: (isLet: boolean) => void): void {
    const leave = (): void => waiter.end(false)
    const waiter: Waiter = { turn, end: (isLet) => {
      signal.removeEventListener('abort', leave)
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
      onEnd(isLet)
    } }
    signal.addEventListener('abort', leave)
    const younger = this.#waiters.findIndex((other) => other.turn > turn)
    this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
  }

  letFirst(): void {
    this.#waiters[0]?.end(true)
  }

  refuseAll(): void {
    while (this.#waiters.length > 0) this.#waiters[0]?.end(false)
  }
}
