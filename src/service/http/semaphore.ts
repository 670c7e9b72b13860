/** So many at once; the others wait for their turn, first come first served. */
export class Semaphore {
  readonly #maxCount: number
  readonly #waiting: (() => void)[] = []
  #count = 0

  constructor(maxCount: number) {
    this.#maxCount = maxCount
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count < this.#maxCount) this.#count++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The place goes to the next one without becoming free in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#count--
      else next()
    }
  }
}
