/**
 * Reads pino's serialized error as slices of the line: type, message and stack, and all other members as one text.
 * Parses the other members if they contain an HTTP client's exchange, and the whole error if it has another form.
 */
import { MAX_KEYS } from '../clean-copy.js'
import { DOM_CONSTANTS, DOM_EXCEPTION } from '../dom-exception.js'
import {
  CAUSE_LABEL,
  GENERIC_TYPES as TYPES,
  MAX_FRAMES,
  findTopFrame,
  parseErrorMember,
  parseErrorRest,
  parseFrameLocation,
} from '../reference/entry-error.js'
import { HTTP_MEMBERS, INDEX, MAY_HOLD_HTTP_MESSAGE } from '../http-error.js'
import { MAY_HOLD_STATEMENT, STATEMENT_MEMBERS } from '../statement-values.js'
import { removeCauses } from './own-message.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'
import type { EntryError } from '../../protocol/log-entry.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { stringifyExact } from '../../shared/exact-json.js'
import { OPEN_BRACKET, QUOTE, findValueEnd } from '../../shared/json-scan.js'

const BACKSLASH = 92
const CLOSE_BRACKET = 93
const EMPTY_TEXT = '""'
const GENERIC_TYPE = '"Error"'
const GENERIC_TYPES: ReadonlySet<string> = new Set([...TYPES].map((type) => JSON.stringify(type ?? '')))
/** No stack, or one that starts with the generic type. */
const USUAL_STACK = /^(?:"?$|"Error(?:[: ]|\\n|$))/
/** Members that may be removed or changed. */
const PARSED_MEMBERS: ReadonlySet<string> = new Set([...HTTP_MEMBERS, ...STATEMENT_MEMBERS, ...DOM_CONSTANTS.keys()])
const DOM_TYPE = `"${DOM_EXCEPTION}"`

function mustBeParsed(key: string, member: MemberCursor): boolean {
  if (PARSED_MEMBERS.has(key) || INDEX.test(key)) return true
  if (!member.isContainer()) return false
  const value = member.value()
  return MAY_HOLD_HTTP_MESSAGE.test(value) || MAY_HOLD_STATEMENT.test(value)
}

interface InnerError {
  /** Position after the error. */
  readonly after: number
  readonly stack: string
  /** JSON without the stack, which is appended to that of the outer error. */
  readonly json: string
}

export class ErrorScanner {
  /** Type of the error, quoted; '' if it has none. */
  type = ''
  message = ''
  /** The other members, without braces, for `metadata.error`. */
  rest = ''
  /** Raw text of the stack without its closing quote, which allows appending; '' if the error has no stack. */
  #stack = ''
  /** Members of HTTP clients' errors that were removed. */
  omitted = 0
  #parsed: EntryError | undefined
  readonly #errorKey: string
  readonly #members = new MemberCursor()
  /** Scans a cause or a part of this error. */
  #inner: ErrorScanner | undefined
  /** Whether the error itself has a stack, apart from those of its causes and parts. */
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
    this.#parsed = undefined
  }

  /** The entry's `error`. */
  get json(): string {
    if (this.#parsed !== undefined) return stringifyExact(this.#parsed)
    if (this.type === '') return `{"message":${this.message}}`
    return (
      `{"type":${this.type}` +
      (this.message === '' ? '' : `,"message":${this.message}`) +
      (this.#stack === '' ? '}' : `,"stack":${this.#stack}"}`)
    )
  }

  #parse(text: string, at: number, end: number): number {
    const after = findValueEnd(text, at, end)
    const parsed = after === -1 ? undefined : parseErrorMember(text.slice(at, after), this.#errorKey)
    if (parsed === undefined) return -1
    const { error, rest, omitted } = parsed
    const { type, message } = error
    this.#parsed = error
    this.type = type === undefined ? '' : JSON.stringify(type)
    this.message = message === undefined ? '' : JSON.stringify(message)
    this.rest = stringifyExact(rest).slice(1, -1)
    this.omitted = omitted
    this.#stack = ''
    return after
  }

  /** Parses everything but message and stack. The type may change. */
  #parseRest(): void {
    if (this.rest === '') return
    const { type, rest, omitted } = parseErrorRest(`{${this.rest},"type":${this.type}}`, this.#errorKey)
    this.type = JSON.stringify(type)
    this.rest = stringifyExact(rest).slice(1, -1)
    this.omitted += omitted
  }

  /** As `scan`; -1 if the error must be parsed. */
  #scanText(text: string, at: number, end: number): number {
    let hasName = false
    let isParsed = false
    let keys = 0
    // Copies adjacent members in one piece.
    let runStart = -1
    let runEnd = -1
    this.#causeAt = this.#partsAt = -1
    const member = this.#members.open(text, at, end)
    while (member.next()) {
      // The reference path removes further keys.
      if (!member.skipValue() || ++keys > MAX_KEYS) return -1
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
          this.#stack = text.slice(member.valueAt, member.after - 1)
          break
        // Other names for the stack; and the parameters of a statement, which Drizzle repeats in message and stack.
        case 'stack_trace':
        case 'stacktrace':
        case 'params':
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
          if (key.includes('\\')) return -1
          isParsed ||= mustBeParsed(key, member)
          if (key === 'name') hasName = true
          if (runEnd + 1 !== member.at || runEnd === -1) {
            if (runEnd !== -1) this.rest = joinMembers(this.rest, text.slice(runStart, runEnd))
            runStart = member.at
          }
          runEnd = member.after
      }
    }
    if (runEnd !== -1) this.rest = joinMembers(this.rest, text.slice(runStart, runEnd))
    if (this.type === '') return -1
    // The name may be the type.
    if (isParsed || this.type === DOM_TYPE || (hasName && this.type === GENERIC_TYPE)) this.#parseRest()
    // The stack may have the type.
    if (this.type === GENERIC_TYPE ? !USUAL_STACK.test(this.#stack) : GENERIC_TYPES.has(this.type)) return -1
    this.message = removeCauses(this.message, this.#stack)
    this.#hasStack = this.#stack.length > 1
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

  /** As `#foldCause`, for a list with errors only. */
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
    this.omitted += inner.omitted
    const fields = message === '' ? `"type":${type}` : `"type":${type},"message":${message}`
    return { after, stack: inner.#stack, json: `{${rest === '' ? fields : joinMembers(fields, rest)}}` }
  }

  #append(label: string, stack: string): void {
    this.#stack = `${this.#stack === '' ? '"' : `${this.#stack}\\n`}${label}${stack.slice(1)}`
  }

  /** The application's top frame as JSON text without quotes; '' if there is none. */
  findSource(): string {
    const stack = this.#stack
    if (this.#parsed !== undefined) return JSON.stringify(findTopFrame(this.#parsed) ?? '').slice(1, -1)
    // The stack starts with the message, which may have frames of another error.
    if (this.message.includes('\\n')) return this.#decodeSource()
    let at = stack.indexOf('\\n')
    for (let frames = 0; at !== -1 && frames < MAX_FRAMES; frames += 1) {
      // An escaped backslash, as in a Windows path.
      if (stack.charCodeAt(at - 1) === BACKSLASH) return this.#decodeSource()
      const next = stack.indexOf('\\n', at + 2)
      const line = stack.slice(at + 2, next === -1 ? stack.length : next)
      if (line.includes('\\')) return this.#decodeSource()
      const location = parseFrameLocation(line)
      if (location !== undefined) return location
      at = next
    }
    return ''
  }

  #decodeSource(): string {
    const stack = JSON.parse(`${this.#stack || '"'}"`) as string
    const message = JSON.parse(this.message || '""') as string
    return JSON.stringify(findTopFrame({ stack, message }) ?? '').slice(1, -1)
  }
}
