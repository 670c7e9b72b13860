/** pino's serialized error, as slices of the line: the text fields, and the rest in one piece. */
import { DOM_CONSTANTS, DOM_EXCEPTION } from '../dom-exception.js'
import { CAUSE_LABEL, CAUSE_SEPARATOR, MAX_FRAMES, parseFrameLocation } from '../reference/entry-error.js'
import { HTTP_MEMBERS, INDEX, MAY_HOLD_HTTP_MESSAGE } from '../http-error.js'
import { MAY_HOLD_STATEMENT, STATEMENT_MEMBERS } from '../statement-values.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'

const BACKSLASH = 92
const GENERIC_TYPE = '"Error"'
/** The reference path may remove these. */
const REFERENCE_MEMBERS: ReadonlySet<string> = new Set([...HTTP_MEMBERS, ...STATEMENT_MEMBERS, ...DOM_CONSTANTS.keys()])
const DOM_TYPE = `"${DOM_EXCEPTION}"`

function isDeclined(value: string): boolean {
  return MAY_HOLD_HTTP_MESSAGE.test(value) || MAY_HOLD_STATEMENT.test(value)
}

export class ErrorScanner {
  /** The entry's `error`, as JSON. */
  json = ''
  /** Type of the error, quoted; '' if it has none. */
  type = ''
  message = ''
  /** The other members, without braces, for `metadata.error`. */
  rest = ''
  /** Raw text of the stack, in its quotes. */
  #stack = ''
  readonly #members = new MemberCursor()

  /** Position after the object at `at`, or -1 if it is declined. */
  scan(text: string, at: number, end: number): number {
    this.rest = this.#stack = this.type = this.message = ''
    let hasName = false
    const member = this.#members.open(text, at, end)
    while (member.next()) {
      if (!member.skipValue()) return -1
      const key = member.key()
      switch (key) {
        case 'type':
          if (!member.isText()) return -1
          this.type = member.value()
          break
        case 'message':
          if (!member.isText()) return -1
          this.message = member.value()
          break
        case 'stack':
          if (!member.isText()) return -1
          this.#stack = member.value()
          break
        // The reference path takes the stack from these if there is no other.
        case 'stack_trace':
        case 'stacktrace':
        // The reference path appends causes and parts to the stack.
        case 'cause':
        case 'aggregateErrors':
        case 'errors':
          return -1
        default:
          if (key.includes('\\') || REFERENCE_MEMBERS.has(key) || INDEX.test(key)) return -1
          if (member.isContainer() && isDeclined(member.value())) return -1
          if (key === 'name') hasName = true
          this.rest = joinMembers(this.rest, member.member())
      }
    }
    // The reference path would use the name.
    if (this.type === '' || this.type === DOM_TYPE || (hasName && this.type === GENERIC_TYPE)) return -1
    // The reference path removes the messages of causes that pino appended.
    if (this.message.includes(CAUSE_SEPARATOR) && this.#stack.includes(CAUSE_LABEL)) return -1
    this.json =
      `{"type":${this.type}` +
      (this.message === '' ? '' : `,"message":${this.message}`) +
      (this.#stack === '' ? '}' : `,"stack":${this.#stack}}`)
    return member.closedAt
  }

  /**
   * The application's top frame as JSON text without quotes; '' if there is none, undefined if the stack must be decoded
   * first (a Windows path).
   */
  findSource(): string | undefined {
    const stack = this.#stack
    let at = stack.indexOf('\\n')
    for (let frames = 0; at !== -1 && frames < MAX_FRAMES; frames += 1) {
      if (stack.charCodeAt(at - 1) === BACKSLASH) return undefined
      const next = stack.indexOf('\\n', at + 2)
      const line = stack.slice(at + 2, next === -1 ? stack.length - 1 : next)
      if (line.includes('\\')) return undefined
      const location = parseFrameLocation(line)
      if (location !== undefined) return location
      at = next
    }
    return ''
  }
}
