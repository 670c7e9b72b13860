/** Who waits at the gate, in the order of their turns. */

export interface Waiter {
  readonly turn: number
  readonly start: () => void
  readonly refuse: () => void
}

export class Line {
  readonly #waiters: Waiter[] = []

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  get first(): Waiter | undefined {
    return this.#waiters[0]
  }

  /** Behind all that are not younger. */
  enter(waiter: Waiter): void {
    const younger = this.#waiters.findIndex(({ turn }) => turn > waiter.turn)
    this.#waiters.splice(younger === -1 ? this.#waiters.length : younger, 0, waiter)
  }

  leave(waiter: Waiter): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
  }

  refuseAll(): void {
    while (this.#waiters.length > 0) this.#waiters[0]?.refuse()
  }
}
