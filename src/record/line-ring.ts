/**
 * The latest lines as UTF-8, in one block of memory; new text overwrites the oldest. Each line is encoded once: the
 * kernel maps it here, and breadcrumbs are ranges of it. Separate strings would be promoted to the old generation, and
 * the heap would grow to twice their size before it is collected.
 */

import { randomBytes } from 'node:crypto'
import { LINES, OPTION, Option, PAGE_BYTES } from './memory.js'

/** A longer line is kept as a string. */
export const MAX_RING_LINE_CHARS = 256 * 1024
/** Room for the text that is being read: an unfinished line, a slice, and the block of lines that a slice completes. */
export const LEAST_RING_BYTES = 4 * 1024 * 1024
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3

const NO_BREADCRUMBS = 99

/** A line, without its newline. Valid until the next line is read. */
export class Line {
  position = 0
  /** Offsets in the ring's memory; both are 0 if the line is only a string. */
  start = 0
  end = 0
  /** Length of the whole line in UTF-16 units if this is only its beginning, else 0. */
  cutFrom = 0
  /** Whether it is a part of a line that was divided, so it is not divided again. */
  isPart = false
  readonly #memory: Buffer
  #text: string | undefined

  constructor(memory: Buffer) {
    this.#memory = memory
  }

  get text(): string {
    return (this.#text ??= this.#memory.toString('utf8', this.start, this.end))
  }

  get isInRing(): boolean {
    return this.end !== 0
  }

  setRange(position: number, start: number, end: number): this {
    this.position = position
    this.start = start
    this.end = end
    this.cutFrom = 0
    this.#text = undefined
    return this
  }

  setText(text: string, cutFrom: number): this {
    this.setRange(0, 0, 0)
    this.#text = text
    this.cutFrom = cutFrom
    return this
  }

  setPart(cutFrom: number): this {
    this.isPart = true
    this.cutFrom = cutFrom
    return this
  }

  /** The first bytes, as characters. */
  readStart(bytes: number): string {
    if (!this.isInRing) return this.text.slice(0, bytes)
    return this.#memory.toString('latin1', this.start, Math.min(this.end, this.start + bytes))
  }
}

/** Bytes of the memory that has a ring of this size. The kernel reads up to 64 bytes beyond a line. */
export function memoryBytesOf(ringBytes: number): number {
  return (Math.ceil((LINES + ringBytes) / PAGE_BYTES) + 1) * PAGE_BYTES
}

export class LineRing {
  readonly memory: Buffer
  /** The memory as numbers, see `memory.ts`. */
  readonly words: Uint32Array
  readonly numbers: Float64Array
  readonly #size: number
  /**
   * Position after the latest text. Positions are those in an endless ring: a text that does not fit before the end of
   * the memory starts at the next multiple of the size.
   */
  #end = 0

  /** @param memory filled with zeros, see `memoryBytesOf` */
  constructor(memory: ArrayBuffer, size: number) {
    this.memory = Buffer.from(memory)
    this.words = new Uint32Array(memory)
    this.numbers = new Float64Array(memory)
    this.#size = size
    randomBytes(8).copy(this.memory, OPTION + Option.SEED)
    this.words[(OPTION + Option.BREADCRUMB_THRESHOLD) / 4] = NO_BREADCRUMBS
  }

  get end(): number {
    return this.#end
  }

  offsetOf(position: number): number {
    return LINES + (position % this.#size)
  }

  /** Puts a text into the ring, unless it is too long. */
  place(text: string): Line {
    const line = new Line(this.memory)
    if (text.length > MAX_RING_LINE_CHARS) return line.setText(text, 0)
    const position = this.append(`${text}\n`)
    return line.setRange(position, this.offsetOf(position), this.offsetOf(position) + this.#end - position - 1)
  }

  /**
   * Appends a text to the bytes from `from` to `to`, which are moved if necessary.
   * @returns the position of those bytes
   */
  append(text: string, from: number = this.#end, to: number = from): number {
    const { memory } = this
    const kept = to - from
    let start = from
    if (to !== this.#end || !fits(text, this.#leftFrom(to))) {
      start = this.#end
      const left = this.#leftFrom(start)
      if (!fits(text, left - kept)) start += left + 1
      memory.copyWithin(this.offsetOf(start), this.offsetOf(from), this.offsetOf(from) + kept)
    }
    this.#end = start + kept + memory.write(text, this.offsetOf(start) + kept)
    this.numbers[(OPTION + Option.OVERWRITTEN) / 8] = this.#end - this.#size
    return start
  }

  /** Bytes from a position up to the end of the memory, of which the last one stays free: at a multiple of the size, a text starts. */
  #leftFrom(position: number): number {
    return this.#size - (position % this.#size) - 1
  }
}

/** Counts bytes only if the worst case would not fit. */
function fits(text: string, bytes: number): boolean {
  return text.length * MAX_BYTES_PER_UNIT <= bytes || Buffer.byteLength(text) <= bytes
}
