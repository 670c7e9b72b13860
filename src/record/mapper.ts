/** The one door of this folder: a line in, an entry's JSON out. */
import type { MappingOptions } from './entry.js'
import { FastPath } from './fast.js'
import { mapByParsing } from './reference.js'

export class Mapper {
  /** Level of the last entry, 0 to 4, debug to fatal. */
  rank = 0
  readonly #options: MappingOptions
  readonly #minRank: number
  readonly #wallNow: () => number
  readonly #fast: FastPath

  /**
   * @param minRank entries of a lower level are not made.
   * @param wallNow ms since the epoch, for records without a time of their own.
   */
  constructor(options: MappingOptions, minRank: number, wallNow: () => number) {
    this.#options = options
    this.#minRank = minRank
    this.#wallNow = wallNow
    this.#fast = new FastPath(options)
  }

  /** To be called before the lines of another text. */
  open(): void {
    this.#fast.open()
  }

  /** The entry of a line, '' where its level is too low. Never throws. Within one text, lines come in rising order. */
  map(text: string, start: number, end: number): string {
    if (this.#fast.map(text, start, end, this.#minRank)) {
      this.rank = this.#fast.rank
      return this.#fast.json
    }
    const line = start === 0 && end === text.length ? text : text.slice(start, end)
    const { json, rank } = mapByParsing(line, this.#options, new Date(this.#wallNow()).toISOString())
    this.rank = rank
    return rank < this.#minRank ? '' : json
  }
}
