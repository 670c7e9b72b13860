/**
 * The places of the latest lines in the ring that they are read in: 16 bytes in three arrays, without a copy or an
 * object per line. Lines are numbered from 0. Each stores the distance to the previous line of its chain.
 */
import type { LineRing } from '../record/line-ring.js'

/** A line of the buffer. */
export interface BufferedLine {
  readonly position: number
  readonly bytes: number
  /** As in `MappedRecord`. */
  readonly isMappedByKernel: boolean
  /** As in `MappedRecord`. */
  readonly isFreeOfSecrets: boolean
  /** Whether it already is a breadcrumb. */
  readonly isBreadcrumb: boolean
}

const LEAST_CAPACITY = 1_024
/** One minute of 2,000 lines per second, in 2 MB. */
const MAX_CAPACITY = 128 * 1_024
const MAPPED_BY_KERNEL = 1
const FREE_OF_SECRETS = 2
const BREADCRUMB = 4
const FLAGS = 8

export class LineBuffer {
  readonly #ring: LineRing
  readonly #maxBytes: number
  // Three rings, indexed by the line's number modulo their length.
  #positions = new Float64Array(LEAST_CAPACITY)
  /** Number of bytes and flags. */
  #sizes = new Uint32Array(LEAST_CAPACITY)
  /** 0 if there is no previous line. */
  #backs = new Uint32Array(LEAST_CAPACITY)
  #oldest = 0
  #next = 0
  /** Position after the newest line. Text behind it is not yet read. */
  #end = 0

  /** @param maxBytes lines further back in the ring are not read */
  constructor(ring: LineRing, maxBytes: number) {
    this.#ring = ring
    this.#maxBytes = maxBytes
  }

  /** Number of the next line. */
  get next(): number {
    return this.#next
  }

  /**
   * @param before number of the previous line of its chain, which may already be removed; or -1
   * @returns the line's number
   */
  add({ position, bytes, isMappedByKernel, isFreeOfSecrets, isBreadcrumb }: BufferedLine, before: number): number {
    const number = this.#next
    if (number - this.#oldest === this.#positions.length) this.#ensureCapacity()
    const at = number & (this.#positions.length - 1)
    this.#positions[at] = position
    this.#sizes[at] =
      bytes * FLAGS +
      (isMappedByKernel ? MAPPED_BY_KERNEL : 0) +
      (isFreeOfSecrets ? FREE_OF_SECRETS : 0) +
      (isBreadcrumb ? BREADCRUMB : 0)
    this.#backs[at] = before < this.#oldest ? 0 : number - before
    this.#next = number + 1
    this.#end = position + bytes
    return number
  }

  /** Reads a chain backwards from `newest`: at most `limit` lines with numbers from `first` on. @returns oldest first */
  readChain(newest: number, first: number, limit: number): BufferedLine[] {
    const lines: BufferedLine[] = []
    for (let number = newest; number >= first && number >= this.#oldest && lines.length < limit;) {
      const at = number & (this.#positions.length - 1)
      const position = this.#positions[at] as number
      if (!this.#isReadable(position)) break
      const size = this.#sizes[at] as number
      lines.push({
        position,
        bytes: Math.floor(size / FLAGS),
        isMappedByKernel: (size & MAPPED_BY_KERNEL) !== 0,
        isFreeOfSecrets: (size & FREE_OF_SECRETS) !== 0,
        isBreadcrumb: (size & BREADCRUMB) !== 0,
      })
      const back = this.#backs[at] as number
      if (back === 0) break
      number -= back
    }
    return lines.toReversed()
  }

  #isReadable(position: number): boolean {
    return position >= this.#end - this.#maxBytes && this.#ring.has(position)
  }

  #ensureCapacity(): void {
    const size = this.#positions.length
    while (this.#oldest < this.#next && !this.#isReadable(this.#positions[this.#oldest & (size - 1)] as number))
      this.#oldest += 1
    if (this.#next - this.#oldest < size) return
    if (size === MAX_CAPACITY) {
      this.#oldest += 1
      return
    }
    this.#positions = this.#grown(this.#positions, new Float64Array(2 * size))
    this.#sizes = this.#grown(this.#sizes, new Uint32Array(2 * size))
    this.#backs = this.#grown(this.#backs, new Uint32Array(2 * size))
  }

  /** Copies each item to the index of its number in the larger ring. */
  #grown<Ring extends Float64Array | Uint32Array>(items: Ring, grown: Ring): Ring {
    for (let number = this.#oldest; number < this.#next; number += 1)
      grown[number & (grown.length - 1)] = items[number & (items.length - 1)] as number
    return grown
  }
}
