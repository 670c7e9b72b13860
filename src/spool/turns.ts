/** Long work, a few milliseconds at a time: no log call waits for a folder with 10,000 others. */
import type { Clock } from '../clock.js'

/** Of the thread in which the application may be logging. */
const TURN_MS = 5

export class Turns {
  readonly #clock: Clock
  readonly #leastSteps: number
  #cancel: (() => void) | undefined

  /** @param leastSteps of a turn, where a step takes microseconds: on a busy machine 5 ms may be over after the first */
  constructor(clock: Clock, leastSteps = 1) {
    this.#clock = clock
    this.#leastSteps = leastSteps
  }

  /** Whether some work is to go on. */
  get isBusy(): boolean {
    return this.#cancel !== undefined
  }

  /**
   * The first turn is at once; where it is enough, all is done when this returns. One piece of work at a time.
   * @param onTurn after each turn
   * @returns when all is done, or it was cancelled. Rejects with what the work throws
   */
  async run(work: Iterator<unknown>, onTurn: () => void = () => {}): Promise<void> {
    while (!this.#turn(work, onTurn)) {
      if (!await this.#pause()) return
    }
  }

  cancel(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** @returns whether it goes on: false where it was cancelled */
  #pause(): Promise<boolean> {
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.timer(0, () => {
        this.#cancel = undefined
        resolve(true)
      })
      this.#cancel = () => {
        cancelTimer()
        resolve(false)
      }
    })
  }

  /** @returns whether all is done */
  #turn(work: Iterator<unknown>, onTurn: () => void): boolean {
    const until = this.#clock.now() + TURN_MS
    let isDone = work.next().done === true
    for (let steps = 1; !isDone && (steps < this.#leastSteps || this.#clock.now() < until); steps += 1) isDone = work.next().done === true
    onTurn()
    return isDone
  }
}
