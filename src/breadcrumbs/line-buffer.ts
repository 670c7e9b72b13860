/**
 * The text of the latest lines, within a size limit. A line is stored as its position in the chunk that it was read
 * from: 12 bytes in three arrays, without a copy or an object per line. A chunk is removed with all its lines.
 *
 * Lines are numbered from 0. Each stores the distance to the previous line of its chain.
 */
import type { MappedRecord } from '../record/mapped-record.js'
import { ChunkRing } from './chunk-ring.js'

/** A line read from the buffer. */
export interface BufferedLine {
  readonly text: string
  /** As in `MappedRecord`. */
  readonly isMappedByKernel: boolean
  /** As in `MappedRecord`. */
  readonly isFreeOfSecrets: boolean
}

const LEAST_CAPACITY = 1_024
/** One minute of 2,000 lines per second, in 1.5 MB. */
const MAX_CAPACITY = 128 * 1_024
const PLACE_BYTES = 12

export class LineBuffer {
  readonly #chunks: ChunkRing
  // Three rings, indexed by the line's number modulo their length.
  /** `~start` (negative) if the line may contain a secret. */
  #starts = new Int32Array(LEAST_CAPACITY)
  /** `~end` (negative) if the kernel did not map the line. */
  #ends = new Int32Array(LEAST_CAPACITY)
  /** 0 if there is no previous line. */
  #backs = new Int32Array(LEAST_CAPACITY)
  /** The chunk whose lines are being added. */
  #openText = ''
  #openFirst = 0
  #next = 0

  /** @param maxBytes limit for all chunks except the current one */
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

  /** Number of the oldest line that can be read. */
  get oldest(): number {
    return this.#chunks.first ?? this.#openFirst
  }

  /**
   * Adds a line. All lines of a text must be added consecutively.
   * @param before number of the previous line of its chain, which may already be removed; or -1
   * @returns the line's number
   */
  add(
    text: string,
    start: number,
    end: number,
    { isMappedByKernel, isFreeOfSecrets }: Pick<MappedRecord, 'isMappedByKernel' | 'isFreeOfSecrets'>,
    before: number,
  ): number {
    if (text !== this.#openText) this.#begin(text)
    const number = this.#next
    const oldest = this.oldest
    if (number - oldest === this.#starts.length) this.#ensureCapacity()
    const at = number & (this.#starts.length - 1)
    this.#starts[at] = isFreeOfSecrets ? start : ~start
    this.#ends[at] = isMappedByKernel ? end : ~end
    this.#backs[at] = before < oldest ? 0 : number - before
    this.#next = number + 1
    return number
  }

  /** Reads a chain backwards from `newest`: at most `limit` lines with numbers from `first` on. @returns oldest first */
  readChain(newest: number, first: number, limit: number): BufferedLine[] {
    const lines: BufferedLine[] = []
    const least = Math.max(this.oldest, first)
    let chunk: number | undefined
    for (let number = newest; number >= least && lines.length < limit;) {
      const at = number & (this.#starts.length - 1)
      const start = this.#starts[at] as number
      const from = start < 0 ? ~start : start
      const end = this.#ends[at] as number
      const stop = end < 0 ? ~end : end
      if (number < this.#openFirst) chunk = this.#chunks.indexOf(number, chunk)
      const text = chunk === undefined ? this.#openText.slice(from, stop) : this.#chunks.slice(chunk, from, stop)
      lines.push({ text, isMappedByKernel: end >= 0, isFreeOfSecrets: start >= 0 })
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

  #ensureCapacity(): void {
    const size = this.#starts.length
    if (size < MAX_CAPACITY) {
      this.#starts = this.#grown(this.#starts)
      this.#ends = this.#grown(this.#ends)
      this.#backs = this.#grown(this.#backs)
    } else if (!this.#chunks.isEmpty) this.#chunks.dropOldest()
    else this.#openFirst = this.#next // one chunk has used all positions: its earlier lines are removed
  }

  /** Copies each position to the index of its number in the larger ring. */
  #grown(places: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
    const grown = new Int32Array(2 * places.length)
    for (let number = this.oldest; number < this.#next; number += 1)
      grown[number & (grown.length - 1)] = places[number & (places.length - 1)] as number
    return grown
  }
}
