/** A cursor over the members of an object in JSON text. One cursor per nesting level is reused for all lines. */
import {
  CLOSE_BRACE,
  COMMA,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  findKeyEnd,
  findValueEnd,
} from '../shared/json-scan.js'

const LETTER_F = 102
const LETTER_N = 110
const LETTER_T = 116

export class MemberCursor {
  #text = ''
  #end = 0
  /** Opening quote of the key. */
  at = 0
  /** First character of the value. */
  valueAt = 0
  /** Position after the value: set by `skipValue()`, or by the code that read the value. */
  after = 0
  /** Position after the object, once the last member was read; -1 if the text is declined. */
  closedAt = -1

  open(text: string, at: number, end: number): this {
    this.#text = text
    this.#end = end
    this.closedAt = -1
    this.after = text.charCodeAt(at) === OPEN_BRACE ? at : -1
    this.at = -1
    return this
  }

  /** As `open`, after a member that was read without the cursor. */
  resume(text: string, after: number, end: number): this {
    this.#text = text
    this.#end = end
    this.closedAt = -1
    this.after = after
    this.at = after
    return this
  }

  /** Moves to the next key and value. */
  next(): boolean {
    if (this.after === -1) return false
    const code = this.#text.charCodeAt(this.after)
    const isFirst = this.at === -1
    if (isFirst ? this.#text.charCodeAt(this.after + 1) === CLOSE_BRACE : code === CLOSE_BRACE) {
      const closed = this.after + (isFirst ? 2 : 1)
      this.closedAt = closed <= this.#end ? closed : -1
      return false
    }
    if (!isFirst && code !== COMMA) return false
    this.at = this.after + 1
    this.valueAt = findKeyEnd(this.#text, this.at, this.#end)
    return this.valueAt !== -1
  }

  /** Skips the value. Returns false if it is declined; `next()` then returns false as well. */
  skipValue(): boolean {
    this.after = findValueEnd(this.#text, this.valueAt, this.#end)
    return this.after !== -1
  }

  key(): string {
    return this.#text.slice(this.at + 1, this.valueAt - 2)
  }

  /** The value's JSON text. */
  value(): string {
    return this.#text.slice(this.valueAt, this.after)
  }

  /** JSON text of key and value. */
  member(): string {
    return this.#text.slice(this.at, this.after)
  }

  isText(): boolean {
    return this.#text.charCodeAt(this.valueAt) === QUOTE
  }

  isNumber(): boolean {
    const code = this.#text.charCodeAt(this.valueAt)
    return code === MINUS || (code >= 48 && code <= 57)
  }

  isObject(): boolean {
    return this.#text.charCodeAt(this.valueAt) === OPEN_BRACE
  }

  /** true, false or null. */
  isLiteral(): boolean {
    const code = this.#text.charCodeAt(this.valueAt)
    return code === LETTER_T || code === LETTER_F || code === LETTER_N
  }

  /** An object or a list. */
  isContainer(): boolean {
    return this.isObject() || this.#text.charCodeAt(this.valueAt) === OPEN_BRACKET
  }
}

/** Joins members to the text between the braces of an object. */
export function joinMembers(before: string, member: string): string {
  return before === '' ? member : `${before},${member}`
}
