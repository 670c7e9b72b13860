/**
 * pino's serialized error, as slices of the line: the text fields, and the rest in one piece. An error with the exchange of an HTTP client, or
 * of another form, is parsed, and the rest of its record is still copied.
 */
import { DOM_CONSTANTS, DOM_EXCEPTION } from '../dom-exception.js'
import {
  CAUSE_LABEL,
  CAUSE_SEPARATOR,
  MAX_FRAMES,
  findOwnMessage,
  findTopFrame,
  parseErrorMember,
  parseFrameLocation,
} from '../reference/entry-error.js'
import { HTTP_MEMBERS, INDEX, MAY_HOLD_HTTP_MESSAGE } from '../http-error.js'
import { MAY_HOLD_STATEMENT, STATEMENT_MEMBERS } from '../statement-values.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'
import type { EntryError } from '../../protocol/log-entry.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { stringifyExact } from '../../shared/exact-json.js'
import { OPEN_BRACKET, QUOTE, findValueEnd } from '../../shared/json-scan.js'

const BACKSLASH = 92
const CLOSE_BRACKET = 93
const EMPTY_TEXT = '""'
const GENERIC_TYPE = '"Error"'
/** A member that may be removed is left to the parser. */
const PARSED_MEMBERS: ReadonlySet<string> = new Set([...HTTP_MEMBERS, ...STATEMENT_MEMBERS, ...DOM_CONSTANTS.keys()])
const DOM_TYPE = `"${DOM_EXCEPTION}"`

function mustBeParsed(value: string): boolean {
  return MAY_HOLD_HTTP_MESSAGE.test(value) || MAY_HOLD_STATEMENT.test(value)
}

interface InnerError {
  /** Position after it. */
  readonly after: number
  /** In its quotes. */
  readonly stack: string
  /** Without the stack, which is appended to that of the outer error. */
  readonly json: string
}

export class ErrorScanner {
  /** Type of the error, quoted; '' if it has none. */
  type = ''
  message = ''
  /** The other members, without braces, for `metadata.error`. */
  rest = ''
  /** Raw text of the stack, in its quotes. */
  #stack = ''
  /** Members of HTTP clients' errors that were removed. */
  omitted = 0
  #parsed: EntryError | undefined
  /** The decoded stack, if it was needed. */
  #parsedStack: string | undefined
  readonly #errorKey: string
  readonly #members = new MemberCursor()
  /** Of causes and parts, one for each level. */
  #inner: ErrorScanner | undefined
  /** Of its own. */
  #hasStack = false
  #causeAt = -1
  #partsAt = -1
  #partsKey = ''

  constructor({ errorKey }: Pick<MappingOptions, 'errorKey'>) {
    this.#errorKey = errorKey
  }

  /** Position after the value at `at`, or -1 if it is neither an error nor its message. */
  scan(text: string, at: number, end: number): number {
    this.#clear()
    if (text.charCodeAt(at) === QUOTE) {
      const after = findValueEnd(text, at, end)
      this.message = text.slice(at, after)
      return after
    }
    const after = this.#scanText(text, at, end)
    return after === -1 ? this.#parse(text, at, end) : after
  }

  #clear(): void {
    this.rest = this.#stack = this.type = this.message = ''
    this.omitted = 0
    this.#parsed = this.#parsedStack = undefined
  }

  /** The entry's `error`. */
  get json(): string {
    if (this.#parsed !== undefined) return stringifyExact(this.#parsed)
    if (this.type === '') return `{"message":${this.message}}`
    return (
      `{"type":${this.type}` +
      (this.message === '' ? '' : `,"message":${this.message}`) +
      (this.#stack === '' ? '}' : `,"stack":${this.#stack}}`)
    )
  }

  /** Removes the messages of causes that pino appended. Of the stack only the lines before the frames are decoded. */
  #removeCauses(): void {
    const message = JSON.parse(this.message) as string
    const own = findOwnMessage(message, JSON.parse(withoutFrames(this.#stack)) as string)
    if (own !== message) this.message = JSON.stringify(own)
  }

  #parse(text: string, at: number, end: number): number {
    const after = findValueEnd(text, at, end)
    const parsed = after === -1 ? undefined : parseErrorMember(text.slice(at, after), this.#errorKey)
    if (parsed === undefined) return -1
    const { error, rest, omitted } = parsed
    const { type, message, stack } = error
    this.#parsed = error
    this.type = type === undefined ? '' : JSON.stringify(type)
    this.message = message === undefined ? '' : JSON.stringify(message)
    this.rest = stringifyExact(rest).slice(1, -1)
    this.omitted = omitted
    this.#stack = ''
    this.#parsedStack = stack ?? ''
    return after
  }

  /** As `scan`; -1 if the error must be parsed. */
  #scanText(text: string, at: number, end: number): number {
    let hasName = false
    this.#causeAt = this.#partsAt = -1
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
        // Other names of the stack.
        case 'stack_trace':
        case 'stacktrace':
          return -1
        case 'cause':
          this.#causeAt = member.valueAt
          break
        case 'aggregateErrors':
        case 'errors':
          if (this.#partsAt !== -1) return -1
          this.#partsAt = member.valueAt
          this.#partsKey = key
          break
        default:
          if (key.includes('\\') || PARSED_MEMBERS.has(key) || INDEX.test(key)) return -1
          if (member.isContainer() && mustBeParsed(member.value())) return -1
          if (key === 'name') hasName = true
          this.rest = joinMembers(this.rest, member.member())
      }
    }
    // The name may be the type.
    if (this.type === '' || this.type === DOM_TYPE || (hasName && this.type === GENERIC_TYPE)) return -1
    if (this.message.includes(CAUSE_SEPARATOR) && this.#stack.includes(CAUSE_LABEL)) this.#removeCauses()
    this.#hasStack = this.#stack.length > EMPTY_TEXT.length
    if (this.#causeAt !== -1 && !this.#foldCause(text, this.#causeAt, end)) return -1
    if (this.#partsAt !== -1 && !this.#foldParts(text, this.#partsAt, end)) return -1
    return member.closedAt
  }

  /** False if the error must be parsed. */
  #foldCause(text: string, at: number, end: number): boolean {
    const inner = this.#scanInner(text, at, end)
    if (inner === undefined) return false
    this.rest = joinMembers(this.rest, `"cause":${inner.json}`)
    this.#append(CAUSE_LABEL, inner.stack)
    return true
  }

  /** As `#foldCause`, for a list in which every part is an error. */
  #foldParts(text: string, at: number, end: number): boolean {
    // The parts' messages may be the error's own.
    if (this.message === EMPTY_TEXT || text.charCodeAt(at) !== OPEN_BRACKET) return false
    const parts: InnerError[] = []
    for (let next = at; text.charCodeAt(next) !== CLOSE_BRACKET;) {
      const inner = this.#scanInner(text, next + 1, end)
      if (inner === undefined) return false
      parts.push(inner)
      next = inner.after
    }
    this.rest = joinMembers(this.rest, `"${this.#partsKey}":[${parts.map(({ json }) => json).join(',')}]`)
    for (const [index, { stack }] of parts.entries()) this.#append(`error ${index + 1} of ${parts.length}: `, stack)
    return true
  }

  /** A cause or a part with a stack; undefined for any other value. */
  #scanInner(text: string, at: number, end: number): InnerError | undefined {
    const inner = (this.#inner ??= new ErrorScanner({ errorKey: this.#errorKey }))
    inner.#clear()
    const after = inner.#scanText(text, at, end)
    if (after === -1 || !inner.#hasStack) return undefined
    const { type, message, rest } = inner
    const fields = message === '' ? `"type":${type}` : `"type":${type},"message":${message}`
    return { after, stack: inner.#stack, json: `{${rest === '' ? fields : joinMembers(fields, rest)}}` }
  }

  #append(label: string, stack: string): void {
    this.#stack =
      this.#stack === '' ? `"${label}${stack.slice(1)}` : `${this.#stack.slice(0, -1)}\\n${label}${stack.slice(1)}`
  }

  /** The application's top frame as JSON text without quotes; '' if there is none. */
  findSource(): string {
    const stack = this.#stack
    if (this.#parsedStack !== undefined) return JSON.stringify(findTopFrame(this.#parsedStack) ?? '').slice(1, -1)
    let at = stack.indexOf('\\n')
    for (let frames = 0; at !== -1 && frames < MAX_FRAMES; frames += 1) {
      // An escape, as in a Windows path.
      if (stack.charCodeAt(at - 1) === BACKSLASH) return this.#decodeSource()
      const next = stack.indexOf('\\n', at + 2)
      const line = stack.slice(at + 2, next === -1 ? stack.length - 1 : next)
      if (line.includes('\\')) return this.#decodeSource()
      const location = parseFrameLocation(line)
      if (location !== undefined) return location
      at = next
    }
    return ''
  }

  #decodeSource(): string {
    this.#parsedStack = JSON.parse(this.#stack) as string
    return this.findSource()
  }
}

const LABEL = `\\n${CAUSE_LABEL}`
const FIRST_FRAME = '\\n    at '

/** The stack with only the beginning of the first frame of each error. @param stack in its quotes */
function withoutFrames(stack: string): string {
  // A backslash of the text may stand before an n.
  if (stack.includes('\\\\')) return stack
  return stack
    .slice(0, -1)
    .split(LABEL)
    .map((part) => {
      const frame = part.indexOf(FIRST_FRAME)
      return frame === -1 ? part : part.slice(0, frame + FIRST_FRAME.length)
    })
    .join(LABEL)
    .concat('"')
}
