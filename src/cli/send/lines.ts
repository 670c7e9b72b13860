/**
 * Bytes -> lines, each with its place in the file. Offsets count bytes, since one that counts characters is wrong behind the first
 * byte that is no UTF-8: a byte 0x0a is a newline in both, so that bytes and text are cut at the same lines.
 */
import { MAX_LINE_CHARS } from '../../record/line-splitter.js'

/** One line, as a range of a text that holds many, and where its bytes lie. */
export interface Line {
  readonly text: string
  readonly start: number
  /** Excludes the newline and a carriage return before it. */
  readonly end: number
  /** Of its first byte. */
  readonly from: number
  /** Behind its last byte, without the newline. */
  readonly to: number
  /** Where the next line begins. */
  readonly next: number
  /** The first of a text that was not there before. */
  readonly isNewText: boolean
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 13
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export class ByteLines {
  readonly #maxLineBytes: number
  /** Of what is in `#rest`. */
  #at: number
  #rest: Buffer[] = []
  #restBytes = 0

  /**
   * @param at offset of the first byte that will come, which begins a line
   * @param maxLineBytes a longer line is taken in parts
   */
  constructor(at: number, maxLineBytes: number = MAX_LINE_CHARS) {
    this.#at = at
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * The lines that `block` completes. It may be used for other bytes once the last was taken; until then nothing else may
   * be asked of this object.
   */
  *push(block: Buffer): Generator<Line> {
    const first = block.indexOf(NEWLINE)
    if (first === -1) return yield* this.#keep(block)
    let from = 0
    if (this.#restBytes > 0) {
      // Only the line that was split is joined, never the whole block.
      yield* this.#keep(block.subarray(0, first + 1))
      yield* this.#takeRest()
      from = first + 1
    }
    const last = block.lastIndexOf(NEWLINE) + 1
    if (last > from) yield* this.#take(block.subarray(from, last))
    yield* this.#keep(block.subarray(last))
  }

  /** What was left without a newline. */
  *end(): Generator<Line> {
    if (this.#restBytes > 0) yield* this.#takeRest()
  }

  *#keep(block: Buffer): Generator<Line> {
    if (block.length === 0) return
    this.#rest.push(Buffer.from(block))
    this.#restBytes += block.length
    // Its newline is not counted.
    while (this.#restBytes - 1 > this.#maxLineBytes) {
      const all = Buffer.concat(this.#rest)
      const cut = characterStart(all, this.#maxLineBytes)
      this.#rest = [all.subarray(cut)]
      this.#restBytes = all.length - cut
      yield* this.#take(all.subarray(0, cut))
    }
  }

  *#takeRest(): Generator<Line> {
    const all = this.#rest.length === 1 ? (this.#rest[0] as Buffer) : Buffer.concat(this.#rest)
    this.#rest = []
    this.#restBytes = 0
    yield* this.#take(all)
  }

  /** Lines that are complete, or the last, or a part of one that is too long. */
  *#take(bytes: Buffer): Generator<Line> {
    const base = this.#at
    this.#at += bytes.length
    const textAt =
      base === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
    const text = bytes.toString('utf8', textAt)
    let isNewText = true
    for (let from = 0, start = 0; from < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, from)
      const to = newline === -1 ? bytes.length : newline
      const stop = newline === -1 ? text.length : text.indexOf('\n', start)
      const end = stop > start && text.charCodeAt(stop - 1) === CARRIAGE_RETURN ? stop - 1 : stop
      const next = newline === -1 ? to : to + 1
      // A long line among others, which no rest has cut.
      if (to - from > this.#maxLineBytes) {
        yield* this.#parts(bytes.subarray(from, to), from === 0 ? textAt : 0, base + from, base + next)
        isNewText = true
      } else {
        yield { text, start, end, from: base + from, to: base + to, next: base + next, isNewText }
        isNewText = false
      }
      from = next
      start = stop + 1
    }
  }

  *#parts(bytes: Buffer, textAt: number, at: number, next: number): Generator<Line> {
    for (let from = 0; from < bytes.length;) {
      const to =
        bytes.length - from > this.#maxLineBytes
          ? from + characterStart(bytes.subarray(from), this.#maxLineBytes)
          : bytes.length
      const text = bytes.toString('utf8', Math.max(from, textAt), to)
      const end = text.endsWith('\r') ? text.length - 1 : text.length
      yield {
        text,
        start: 0,
        end,
        from: at + from,
        to: at + to,
        next: to === bytes.length ? next : at + to,
        isNewText: true,
      }
      from = to
    }
  }
}

/** The place at or before `at` where a character of UTF-8 begins; `at` itself where the bytes are none. */
function characterStart(bytes: Buffer, at: number): number {
  for (let back = 0; back < 4 && back < at; back += 1) {
    if (((bytes[at - back] as number) & 0xc0) !== 0x80) return at - back
  }
  return at
}
