/**
 * Encodes chunks of text into the ring, and finds the end of their last complete line, without a string or an event per line. pino-abstract-transport
 * does this with split2: an array from `split()`, one stream push and one `data` event per line, and a mandatory
 * JSON.parse.
 */
import { Line, MAX_RING_LINE_CHARS } from './line-ring.js'
import type { LineRing } from './line-ring.js'

export type OnLine = (line: Line) => void

/** Of a longer line (in UTF-16 units) only the beginning is kept, so input without newlines cannot exhaust the memory. */
export const MAX_LINE_CHARS = 16 * 1024 * 1024
const SLICE_CHARS = 256 * 1024

const LF = 10
const CARRIAGE_RETURN = 13

export interface LineReaderOptions {
  readonly ring: LineRing
  /** Called when there are complete lines. Must consume all of them, with `next` and `skip`. */
  readonly onLines: () => void
  readonly onLongLine: OnLine
  readonly maxLineChars?: number
}

export class LineReader {
  readonly #options: LineReaderOptions
  readonly #line: Line
  /** The text that is not yet encoded, from `#at` on. */
  #text = ''
  #at = 0
  // The callbacks may write another text, so the state is in members.
  /** Position of the bytes that are not yet consumed: complete lines up to `#linesEnd`, and the beginning of another. */
  #from = 0
  #linesEnd = 0
  #to = 0
  /** The beginning of a long line that continues in the next text. */
  #rest: string[] = []
  /** Length of that line so far, with characters that were not kept. */
  #restChars = 0

  constructor(options: LineReaderOptions) {
    this.#options = options
    this.#line = new Line(options.ring.memory)
  }

  write(text: string): void {
    this.begin(text)
    this.advance()
  }

  /** Starts a text, which `advance` reads. Reads the remaining lines of the previous text first. */
  begin(text: string): void {
    this.advance()
    // At most the first half of a character is left.
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
  }

  /** Reads the lines that the next `maxChars` of the text complete. @returns whether text is left */
  advance(maxChars = Infinity): boolean {
    this.#readLines()
    for (let left = maxChars; left > 0 && this.#hasMore();) {
      const slice = this.#nextSlice(Math.min(left, SLICE_CHARS))
      left -= slice.length
      this.#read(slice)
    }
    return this.#hasMore()
  }

  /** Reads the rest, which has no newline. */
  end(): void {
    this.advance()
    this.#read(this.#text.slice(this.#at))
    this.#text = ''
    if (this.#restChars > 0) this.#takeRest()
    else if (this.#to > this.#from) this.#read('\n')
  }

  /** Whether there are complete lines, some of which may be empty. */
  get hasLines(): boolean {
    return this.#from < this.#linesEnd
  }

  get position(): number {
    return this.#from
  }

  /** Number of bytes of the complete lines. */
  get bytes(): number {
    return this.#linesEnd - this.#from
  }

  /** Consumes lines that the caller has read in the ring. */
  skip(bytes: number): void {
    this.#from += bytes
  }

  /** Consumes the next line; undefined if it is empty. */
  next(): Line | undefined {
    const { ring } = this.#options
    const position = this.#from
    const start = ring.offsetOf(position)
    const newline = ring.memory.indexOf(LF, start)
    this.#from = position + newline - start + 1
    const end = newline > start && ring.memory[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline
    return end === start ? undefined : this.#line.setRange(position, start, end)
  }

  #readLines(): void {
    if (this.hasLines) this.#options.onLines()
  }

  #hasMore(): boolean {
    const left = this.#text.length - this.#at
    return left > 1 || (left === 1 && !isHighSurrogate(this.#text, this.#at))
  }

  #nextSlice(maxChars: number): string {
    const text = this.#text
    const start = this.#at
    let end = Math.min(start + maxChars, text.length)
    if (isHighSurrogate(text, end - 1)) end += end < text.length ? 1 : -1
    this.#at = end
    return start === 0 && end === text.length ? text : text.slice(start, end)
  }

  #read(slice: string): void {
    let part = slice
    if (this.#restChars > 0) {
      const newline = part.indexOf('\n')
      this.#keep(newline === -1 ? part : part.slice(0, newline))
      if (newline === -1) return
      part = part.slice(newline + 1)
      this.#takeRest()
    }
    const { ring } = this.#options
    const kept = this.#to - this.#from
    this.#from = ring.append(part, this.#from, this.#to)
    this.#to = ring.end
    const start = ring.offsetOf(this.#from)
    // The bytes before have no newline.
    const newline = ring.memory.subarray(start + kept, start + this.#to - this.#from).lastIndexOf(LF)
    this.#linesEnd = newline === -1 ? this.#from : this.#from + kept + newline + 1
    this.#readLines()
    const left = this.#to - this.#from
    if (left <= MAX_RING_LINE_CHARS) return
    const restStart = ring.offsetOf(this.#from)
    this.#from = this.#linesEnd = this.#to
    this.#keep(ring.memory.toString('utf8', restStart, restStart + left))
  }

  #keep(text: string): void {
    // NULs before a line: the hole that copytruncate leaves in a file may be longer than the longest line.
    const part = this.#restChars === 0 ? text.replace(/^\0+/, '') : text
    const { maxLineChars = MAX_LINE_CHARS } = this.#options
    const room = maxLineChars - this.#restChars
    if (room > 0) this.#rest.push(part.slice(0, room))
    this.#restChars += part.length
  }

  #takeRest(): void {
    const whole = this.#rest.join('')
    const chars = this.#restChars
    this.#rest = []
    this.#restChars = 0
    const text = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    if (text !== '') this.#options.onLongLine(this.#line.setText(text, chars > whole.length ? chars : 0))
  }
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xd800 && code < 0xdc00
}
