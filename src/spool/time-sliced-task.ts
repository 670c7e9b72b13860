/** Runs long work a few milliseconds at a time, so no log call waits for a scan of 10,000 folders. */
import type { Clock } from '../shared/clock.js'

/** Time per turn in milliseconds. The thread may be the application's. */
const TURN_MS = 5

export class TimeSlicedTask {
  readonly #clock: Clock
  readonly #minSteps: number
  /** Set between two turns. */
  #pause: { readonly endTimer: () => void; readonly turn: () => void; readonly resolve: () => void } | undefined

  /** @param minSteps minimum number of steps per turn, since on a busy machine the first step may take 5 ms */
  constructor(clock: Clock, minSteps = 4) {
    this.#clock = clock
    this.#minSteps = minSteps
  }

  get isBusy(): boolean {
    return this.#pause !== undefined
  }

  /**
   * Runs the first turn synchronously, so short work is done when this returns. One piece of work at a time.
   * @param onTurn called after each turn
   * @returns a promise that resolves when the work is done or cancelled. Rejects with the errors of the work
   */
  run(work: Iterator<unknown>, onTurn: () => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        this.#pause = undefined
        try {
          if (this.#turn(work, onTurn)) return resolve()
        } catch (error) {
          return reject(error as Error)
        }
        this.#pause = { endTimer: this.#clock.timer(0, turn), turn, resolve }
      }
      turn()
    })
  }

  /** Runs the next turn now, since the event loop may not reach it while the application logs. */
  advance(): void {
    this.#pause?.endTimer()
    this.#pause?.turn()
  }

  cancel(): void {
    this.#pause?.endTimer()
    this.#pause?.resolve()
    this.#pause = undefined
  }

  /** @returns whether the work is done */
  #turn(work: Iterator<unknown>, onTurn: () => void): boolean {
    const until = this.#clock.now() + TURN_MS
    let isDone = work.next().done === true
    for (let steps = 1; !isDone && (this.#clock.now() < until || steps < this.#minSteps); steps += 1)
      isDone = work.next().done === true
    onTurn()
    return isDone
  }
}
