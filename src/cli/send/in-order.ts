/** Results in the order of the files: one may be known to be missing before the one in front of it has its last reply. */
import type { FileResult } from './file-run.js'

export class InOrder {
  readonly #onEnd: (result: FileResult) => void
  /** By the file's number, from 1. */
  readonly #ended = new Map<number, FileResult>()
  #told = 0

  constructor(onEnd: (result: FileResult) => void) {
    this.#onEnd = onEnd
  }

  end(number: number, result: FileResult): void {
    this.#ended.set(number, result)
    for (let next = this.#ended.get(this.#told + 1); next !== undefined; next = this.#ended.get(this.#told + 1)) {
      this.#told += 1
      this.#onEnd(next)
    }
  }

  /** No more come; some may never have been begun. */
  flush(): void {
    for (const [number, result] of [...this.#ended].toSorted(([a], [b]) => a - b))
      if (number > this.#told) this.#onEnd(result)
  }
}
