/**
 * The latest texts within a size limit, in one block of memory; new texts overwrite the oldest. Separate strings would
 * be promoted to the old generation, and the heap would grow to twice their size before it is collected.
 */
import { NON_LATIN1 } from '../record/string-copy.js'

interface Chunk {
  /** Number of the first line of the text. */
  readonly first: number
  /** Offset in the ring. */
  readonly at: number
  readonly bytes: number
  readonly encoding: 'latin1' | 'utf16le'
}

/**
 * The default limit. Growing would keep the old block in memory until the old generation is collected; unused pages
 * take no memory.
 */
const LEAST_BYTES = 8 * 1024 * 1024

export class ChunkRing {
  readonly #maxBytes: number
  #memory = Buffer.alloc(0)
  #end = 0
  /** Oldest first, starting at `#head`, because removing the first item of an array would move all others. */
  #chunks: Chunk[] = []
  #head = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#memory.length
  }

  get isEmpty(): boolean {
    return this.#head === this.#chunks.length
  }

  /** Number of the oldest line. */
  get first(): number | undefined {
    return this.#chunks[this.#head]?.first
  }

  /**
   * Adds the newest text. A text larger than the ring clears the ring and is not stored. @param first number of its
   * first line
   */
  push(text: string, first: number): void {
    const encoding = NON_LATIN1.test(text) ? 'utf16le' : 'latin1'
    const bytes = encoding === 'latin1' ? text.length : 2 * text.length
    if (bytes > this.#maxBytes) return this.#clear()
    const at = this.#allocate(bytes)
    this.#memory.write(text, at, encoding)
    this.#end = at + bytes
    this.#chunks.push({ first, at, bytes, encoding })
  }

  dropOldest(): void {
    this.#head += 1
    if (this.isEmpty) return this.#clear()
    if (2 * this.#head < this.#chunks.length) return
    this.#chunks = this.#chunks.slice(this.#head)
    this.#head = 0
  }

  /** Index of the chunk that contains a line, for `slice`. Searches backwards from `from`. */
  indexOf(line: number, from = this.#chunks.length - 1): number {
    let index = from
    while ((this.#chunks[index] as Chunk).first > line) index -= 1
    return index
  }

  /** @param start offset in UTF-16 units of the text */
  slice(index: number, start: number, end: number): string {
    const { at, encoding } = this.#chunks[index] as Chunk
    const unit = encoding === 'latin1' ? 1 : 2
    return this.#memory.toString(encoding, at + start * unit, at + end * unit)
  }

  /** @returns offset of a free range of this size */
  #allocate(bytes: number): number {
    for (;;) {
      const oldest = this.#chunks[this.#head]
      const isWrapped = oldest !== undefined && this.#end <= oldest.at
      if (this.#end + bytes <= (isWrapped ? oldest.at : this.#memory.length)) return this.#end
      if (!isWrapped && bytes <= (oldest?.at ?? this.#memory.length)) return 0
      if (this.#memory.length < this.#maxBytes) this.#grow(bytes)
      else this.dropOldest()
    }
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(
      Math.min(Math.max(2 * this.#memory.length, bytes, LEAST_BYTES), this.#maxBytes),
    )
    let end = 0
    this.#chunks = this.#chunks.slice(this.#head).map((chunk) => {
      const at = end
      this.#memory.copy(grown, at, chunk.at, chunk.at + chunk.bytes)
      end += chunk.bytes
      return { ...chunk, at }
    })
    this.#head = 0
    this.#end = end
    this.#memory = grown
  }

  #clear(): void {
    this.#chunks = []
    this.#head = 0
    this.#end = 0
  }
}
