/**
 * The text of the last lines, within a bound. A line is its place in the chunk that it came in: that costs neither a copy
 * nor an object a line, 12 bytes in three arrays. Its chunk stays until the bound takes it, with all that is in it.
 *
 * Lines have numbers, from 0 on. Each knows how far back the one before it in its chain is.
 */
import { ChunkRing } from './chunk-ring.js'

/** A line that was asked for. */
export interface BufferedLine {
  readonly text: string
  /** As `Mapper.isUsual`. */
  readonly isUsual: boolean
}

const LEAST_CAPACITY = 1_024
/** More lines than that would be a minute of 2,000 a second, and 1.5 MB of places. */
const MAX_CAPACITY = 128 * 1_024
const PLACE_BYTES = 12

export class LineBuffer {
  readonly #chunks: ChunkRing
  /** A ring, by the number's remainder. */
  #starts = new Int32Array(LEAST_CAPACITY)
  /** Below 0, as `~end`, where the line is not usual. */
  #ends = new Int32Array(LEAST_CAPACITY)
  /** 0 where nothing is before it. */
  #backs = new Int32Array(LEAST_CAPACITY)
  /** The chunk that is being read. */
  #openText = ''
  #openFirst = 0
  #next = 0

  /** @param maxBytes of all chunks; the one that is being read comes on top */
  constructor(maxBytes: number) {
    this.#chunks = new ChunkRing(maxBytes)
  }

  get bytes(): number {
    return this.#chunks.bytes + this.#starts.length * PLACE_BYTES
  }

  /** Number of the next line. */
  get next(): number {
    return this.#next
  }

  /** Number of the oldest that can be asked for. */
  get oldest(): number {
    return this.#chunks.first ?? this.#openFirst
  }

  /**
   * Lines of one text come together.
   * @param before number of the line before it in its chain; it may be one that is gone, or -1
   * @returns its number
   */
  add(text: string, start: number, end: number, isUsual: boolean, before: number): number {
    if (text !== this.#openText) this.#begin(text)
    const number = this.#next
    const oldest = this.oldest
    if (number - oldest === this.#starts.length) this.#makeRoom()
    const at = number & (this.#starts.length - 1)
    this.#starts[at] = start
    this.#ends[at] = isUsual ? end : ~end
    this.#backs[at] = before < oldest ? 0 : number - before
    this.#next = number + 1
    return number
  }

  /** Of a chain, from the youngest on, at most `limit` with numbers from `from`. Oldest first. */
  readChain(youngest: number, from: number, limit: number): BufferedLine[] {
    const lines: BufferedLine[] = []
    const least = Math.max(this.oldest, from)
    let chunk: number | undefined
    for (let number = youngest; number >= least && lines.length < limit;) {
      const at = number & (this.#starts.length - 1)
      const start = this.#starts[at] as number
      const end = this.#ends[at] as number
      const stop = end < 0 ? ~end : end
      if (number < this.#openFirst) chunk = this.#chunks.indexOf(number, chunk)
      const text = chunk === undefined ? this.#openText.slice(start, stop) : this.#chunks.slice(chunk, start, stop)
      lines.push({ text, isUsual: end >= 0 })
      const back = this.#backs[at] as number
      if (back === 0) break
      number -= back
    }
    return lines.toReversed()
  }

  #begin(text: string): void {
    if (this.#openFirst < this.#next) this.#chunks.push(this.#openText, this.#openFirst)
    this.#openText = text
    this.#openFirst = this.#next
  }

  #makeRoom(): void {
    const size = this.#starts.length
    if (size < MAX_CAPACITY) {
      this.#starts = this.#grown(this.#starts)
      this.#ends = this.#grown(this.#ends)
      this.#backs = this.#grown(this.#backs)
    } else if (!this.#chunks.isEmpty) this.#chunks.dropOldest()
    else this.#openFirst = this.#next // of a chunk that has all the places, what is behind counts as another
  }

  /** Each stands where its number now leads to. */
  #grown(places: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
    const grown = new Int32Array(2 * places.length)
    for (let number = this.oldest; number < this.#next; number += 1)
      grown[number & (grown.length - 1)] = places[number & (places.length - 1)] as number
    return grown
  }
}
