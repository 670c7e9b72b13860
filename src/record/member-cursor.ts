/** A cursor over the members of an object in JSON text. One cursor per nesting level is reused for all lines. */
import { CLOSE_BRACE, COMMA, OPEN_BRACE, findKeyEnd, findValueEnd } from '../shared/json-scan.js'

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

  value(): string {
    return this.#text.slice(this.valueAt, this.after)
  }

  member(): string {
    return this.#text.slice(this.at, this.after)
  }
}

/** Joins members to the text between the braces of an object. */
export function joinMembers(before: string, member: string): string {
  return before === '' ? member : `${before},${member}`
}
