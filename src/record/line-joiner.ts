/**
 * Joins text lines that belong together: a line with the lines below it that are indented deeper, and the line of its
 * closing bracket. A stack trace or an object that was printed over several lines is thus one entry, and a header's
 * value is searched for together with its name. A record is never joined with other lines.
 */
import { MAX_LINE_CHARS } from './line-reader.js'
import type { OnLine } from './line-reader.js'
import type { Line, LineRing } from './line-ring.js'

/** From these limits on, a line is joined only if it is indented deeper than the first indented line of its block. */
const MAX_LINES = 10_000
const MAX_CHARS = 1024 * 1024

const INDENT = /[ \t]*/y

export class LineJoiner {
  readonly #ring: LineRing
  readonly #onLine: OnLine
  /** The lines that may continue; '' if there are none. */
  block = ''
  #lines = 0
  #indent = 0
  #innerIndent = 0

  constructor(ring: LineRing, onLine: OnLine) {
    this.#ring = ring
    this.#onLine = onLine
  }

  /** Emits the lines before this one, and this one. */
  addRecord(line: Line): void {
    this.flush()
    this.#onLine(line)
  }

  /** Emits the lines before this one, unless it continues them. */
  addText(text: string): void {
    INDENT.lastIndex = 0
    const indent = INDENT.exec(text)?.[0].length ?? 0
    if (this.block !== '' && this.#isContinuedBy(text, indent)) {
      if (this.#lines === 1) this.#innerIndent = indent
      this.block += `\n${text}`
      this.#lines += 1
      return
    }
    this.flush()
    this.block = text
    this.#lines = 1
    this.#indent = this.#innerIndent = indent
  }

  flush(): void {
    const block = this.block
    this.block = ''
    if (block !== '') this.#onLine(this.#ring.place(block).setPart(0))
  }

  #isContinuedBy(line: string, indent: number): boolean {
    const { length } = this.block
    if (length + line.length >= MAX_LINE_CHARS) return false
    const isLong = this.#lines >= MAX_LINES || length >= MAX_CHARS
    if (indent > (isLong ? this.#innerIndent : this.#indent)) return true
    return indent === this.#indent && /^[\])}]/.test(line.slice(indent, indent + 1))
  }
}
