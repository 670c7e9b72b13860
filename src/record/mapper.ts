/** The one door of this folder: a line in, an entry's JSON out. */
import type { MappingOptions } from './entry.js'
import { FastPath } from './fast.js'
import { mapByParsing } from './reference.js'

const LEVEL_KEY = '{"level":'
/** pino's levels have two digits, custom ones a few more. */
const MAX_LEVEL_END = LEVEL_KEY.length + 6
const ZERO = 0x30
const NINE = 0x39
const COMMA = 0x2c

export class Mapper {
  /** Level of the last entry, 0 to 4, debug to fatal. */
  rank = 0
  readonly #options: MappingOptions
  readonly #minRank: number
  readonly #wallNow: () => number
  readonly #fast: FastPath
  /** By the digits of pino's number, of which an app has a few. */
  readonly #ranks = new Map<string, number>()

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

  /** Level of a line that begins as pino begins it, by a look at its beginning; undefined for others. */
  peekRank(text: string, start: number): number | undefined {
    if (!text.startsWith(LEVEL_KEY, start)) return undefined
    let end = start + LEVEL_KEY.length
    while (end - start < MAX_LEVEL_END && text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1
    const digits = text.slice(start + LEVEL_KEY.length, end)
    if (digits === '' || text.charCodeAt(end) !== COMMA) return undefined
    let rank = this.#ranks.get(digits)
    if (rank === undefined) this.#ranks.set(digits, (rank = mapByParsing(`{"level":${digits}}`, this.#options, '').rank))
    return rank
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
