/**
 * Splits chunks of text into lines, without a string or an event per line. pino-abstract-transport does this with
 * split2: an array from `split()`, one stream push and one `data` event per line, and a mandatory JSON.parse.
 */
import { Line, MAX_RING_LINE_CHARS } from './line-ring.js'
import type { LineRing } from './line-ring.js'

export type OnLine = (line: Line) => void

/** Of a longer line (in UTF-16 units) only the beginning is kept, so input without newlines cannot exhaust the memory. */
export const MAX_LINE_CHARS = 16 * 1024 * 1024
/** Characters that are encoded at once. */
const SLICE_CHARS = 256 * 1024

const LF = 10
const CARRIAGE_RETURN = 13

export class LineReader {
  readonly #ring: LineRing
  readonly #onLine: OnLine
  readonly #maxLineChars: number
  readonly #line: Line
  /** The text that is not yet encoded, from `#at` on. */
  #text = ''
  #at = 0
  // The state is in members, because `onLine` may write another text.
  /** Position of the bytes whose lines are not yet emitted. */
  #from = 0
  #to = 0
  /** Offset of `#from`. */
  #start = 0
  /** Bytes from there on without a newline. */
  #searched = 0
  /** The beginning of a long line that continues in the next text. */
  #rest: string[] = []
  /** Length of that line so far, with characters that were not kept. */
  #restChars = 0

  constructor(ring: LineRing, onLine: OnLine, maxLineChars: number = MAX_LINE_CHARS) {
    this.#ring = ring
    this.#onLine = onLine
    this.#maxLineChars = maxLineChars
    this.#line = new Line(ring.memory)
  }

  /** Emits every line that `text` completes, except empty lines. */
  write(text: string): void {
    this.begin(text)
    this.advance()
  }

  /** Starts a text, whose lines `advance` emits. Emits the remaining lines of the previous text first. */
  begin(text: string): void {
    this.advance()
    // At most the first half of a character is left.
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
  }

  /** Emits the lines that the next `maxChars` of the text complete. @returns whether there are more */
  advance(maxChars = Infinity): boolean {
    this.#emitLines()
    for (let left = maxChars; left > 0 && this.#hasMore();) {
      const slice = this.#nextSlice(Math.min(left, SLICE_CHARS))
      left -= slice.length
      this.#read(slice)
    }
    return this.#hasMore()
  }

  /** Emits the rest, which has no newline. */
  end(): void {
    this.advance()
    this.#read(this.#text.slice(this.#at))
    this.#text = ''
    if (this.#restChars > 0) this.#takeRest()
    else if (this.#to > this.#from) this.#read('\n')
  }

  #hasMore(): boolean {
    const left = this.#text.length - this.#at
    return left > 1 || (left === 1 && !isHighSurrogate(this.#text, this.#at))
  }

  /** Does not divide a surrogate pair. */
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
    const ring = this.#ring
    this.#from = ring.append(part, this.#from, this.#to)
    this.#to = ring.end
    this.#start = ring.offsetOf(this.#from)
    this.#emitLines()
    const bytes = this.#to - this.#from
    if (bytes <= MAX_RING_LINE_CHARS) return
    this.#from = this.#to
    this.#searched = 0
    this.#keep(ring.memory.toString('utf8', this.#start, this.#start + bytes))
  }

  #emitLines(): void {
    const { memory } = this.#ring
    while (this.#from < this.#to) {
      const start = this.#start
      const position = this.#from
      // A newline follows the text.
      const bytes = memory.indexOf(LF, start + this.#searched) - start
      this.#searched = 0
      if (position + bytes >= this.#to) {
        this.#searched = this.#to - position
        return
      }
      this.#from = position + bytes + 1
      this.#start = start + bytes + 1
      const isReturned = bytes > 0 && memory[start + bytes - 1] === CARRIAGE_RETURN
      const length = isReturned ? bytes - 1 : bytes
      if (length > 0) this.#onLine(this.#line.setRange(position, start, start + length))
    }
  }

  #keep(text: string): void {
    // NULs before a line: the hole that copytruncate leaves in a file may be longer than the longest line.
    const part = this.#restChars === 0 ? text.replace(/^\0+/, '') : text
    const room = this.#maxLineChars - this.#restChars
    if (room > 0) this.#rest.push(part.slice(0, room))
    this.#restChars += part.length
  }

  #takeRest(): void {
    const whole = this.#rest.join('')
    const chars = this.#restChars
    this.#rest = []
    this.#restChars = 0
    const text = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    if (text !== '') this.#onLine(this.#line.setText(text, chars > whole.length ? chars : 0))
  }
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xd800 && code < 0xdc00
}
