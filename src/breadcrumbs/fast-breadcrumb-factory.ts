/**
 * Maps a line to a breadcrumb without JSON.parse, if the fast path of entries accepted the line; `undefined` if it must
 * be parsed.
 */
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { ErrorScanner } from '../record/fast/error-scanner.js'
import { SLOT_FIELDS, createKeyTable } from '../record/fast/fast-fields.js'
import {
  DECLINED,
  DURATION_KEY,
  ENVIRONMENT_KEY,
  ERROR_KEY,
  FIRST_SLOT_KEY,
  HOLDER_KEY,
  LEVEL_KEY,
  MESSAGE_KEY,
  NAME_KEY,
  REQ_KEY,
  RES_KEY,
  SERVICE_KEY,
  TIME_KEY,
  VERSION_KEY,
  createKinds,
} from '../record/fast/record-keys.js'
import { LevelTextCache, TimestampTextCache, toMessageText } from '../record/fast/entry-head.js'
import { INEXACT_INTEGER, RequestScanner } from '../record/fast/request-scanner.js'
import { FieldSlots } from '../record/fast/field-slots.js'
import { MemberCursor, joinMembers } from '../record/member-cursor.js'
import { NOTE_KEY } from '../record/shorten-entry.js'
import { CATEGORY_KEYS, NOT_DATA } from './breadcrumb-keys.js'

/** Longer lines are rare, and parsing them is as fast. */
const MAX_LINE_CHARS = 16 * 1024
/** A UTF-16 unit has at most three bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const ACTION_KEY = FIRST_SLOT_KEY + SLOT_FIELDS.indexOf('action')
/** Kinds of keys in addition to those of the fast path of entries. */
const CATEGORY_KEY = -1
const LEFT_OUT_KEY = -2
/** Names of a breadcrumb's data that are derived from the error or request. A line with such a member is parsed. */
const DERIVED_KEYS: readonly string[] = ['method', 'url', 'status_code', 'error_type', 'error_message']

export class FastBreadcrumbFactory {
  readonly #maxBytes: number
  readonly #isSupported: boolean
  /** Other keys are copied to the data. */
  readonly #kinds: ReadonlyMap<string, number>
  readonly #levels: LevelTextCache
  readonly #times = new TimestampTextCache()
  readonly #members = new MemberCursor()
  readonly #error: ErrorScanner
  readonly #request = new RequestScanner()
  readonly #slots = new FieldSlots()
  #level = ''
  #timestamp = ''
  #message = ''
  #category = ''
  #duration = ''
  #rest = ''
  #hasError = false
  #hasRequest = false

  constructor(options: MappingOptions, maxBytes: number) {
    this.#maxBytes = maxBytes
    const table = createKeyTable(options)
    this.#isSupported = table.isSupported
    const named: [string, number][] = [
      ...CATEGORY_KEYS.map((key): [string, number] => [key, CATEGORY_KEY]),
      ...Array.from(NOT_DATA, (key): [string, number] => [key, LEFT_OUT_KEY]),
      ...DERIVED_KEYS.map((key): [string, number] => [key, DECLINED]),
    ]
    this.#kinds = new Map([...named, ...[...createKinds(options, table)].filter(([, kind]) => kind !== HOLDER_KEY)])
    this.#levels = new LevelTextCache(options.levels)
    this.#error = new ErrorScanner(options)
  }

  /** @param line accepted by the fast path of entries, so its strings can be copied unchanged */
  create(line: string): string | undefined {
    if (!this.#isSupported || line.length > MAX_LINE_CHARS) return undefined
    this.#slots.reset()
    this.#request.reset()
    this.#level = this.#timestamp = this.#message = this.#category = this.#duration = this.#rest = ''
    this.#hasError = this.#hasRequest = false
    const member = this.#members.open(line, 0, line.length)
    while (member.next()) if (!this.#place(line, member)) return undefined
    if (member.closedAt !== line.length || this.#level === '' || this.#timestamp === '' || this.#message === '')
      return undefined
    if (this.#hasRequest && this.#request.request === '') return undefined
    const json = this.#compose()
    return json.length * MAX_BYTES_PER_UNIT <= this.#maxBytes || Buffer.byteLength(json) <= this.#maxBytes
      ? json
      : undefined
  }

  #compose(): string {
    const type = this.#hasError ? '"error"' : this.#hasRequest ? '"http"' : '"log"'
    const data = this.#data()
    return (
      `{"type":${type},"category":${this.#category === '' ? type : this.#category},"message":${this.#message},"level":"${this.#level}"` +
      this.#timestamp +
      (data === '' ? '}' : `,"data":{${data}}}`)
    )
  }

  #data(): string {
    let data = ''
    const put = (name: string, value: string): void => {
      if (value !== '') data = joinMembers(data, `"${name}":${value}`)
    }
    if (this.#hasRequest) {
      const { method, url, status } = this.#request
      put('method', method)
      put('url', url)
      put('status_code', status)
      put('duration_ms', this.#duration)
    } else if (this.#duration !== '') put('perf', `{"duration_ms":${this.#duration}}`)
    if (this.#hasError) {
      const { type, message, rest, omitted } = this.#error
      put('error_type', type)
      if (!isSameText(message, this.#message)) put('error_message', message)
      if (omitted > 0) put(NOTE_KEY, `{"omitted_http_members":${omitted}}`)
      if (rest !== '') put('error', `{${rest}}`)
    }
    return this.#rest === '' ? data : joinMembers(data, this.#rest)
  }

  /** @returns false if the member requires the reference path */
  #place(line: string, member: MemberCursor): boolean {
    const kind = this.#kinds.get(member.key())
    switch (kind) {
      case ERROR_KEY:
        this.#hasError = true
        return (member.after = this.#error.scan(line, member.valueAt, line.length)) !== -1
      case REQ_KEY:
        this.#hasRequest = true
        return (member.after = this.#request.scanReq(line, member.valueAt, line.length)) !== -1
      case RES_KEY:
        this.#hasRequest = true
        return (member.after = this.#request.scanRes(line, member.valueAt, line.length)) !== -1
    }
    if (!member.skipValue()) return false
    switch (kind) {
      case undefined:
        this.#rest = joinMembers(this.#rest, member.member())
        return true
      case LEFT_OUT_KEY:
        return true
      case MESSAGE_KEY:
        return (this.#message = toMessageText(member)) !== ''
      case LEVEL_KEY:
        // A later level or time is logged data.
        return this.#level === '' && this.#placeLevel(member.value())
      case TIME_KEY:
        return this.#timestamp === '' && (this.#timestamp = this.#times.get(member.value())) !== ''
      case DURATION_KEY:
        return this.#placeDuration(member)
      case NAME_KEY:
      case SERVICE_KEY:
      case ENVIRONMENT_KEY:
      case VERSION_KEY:
        return member.isText()
      case CATEGORY_KEY:
        return this.#placeCategory(member)
    }
    return kind >= FIRST_SLOT_KEY && kind !== ACTION_KEY && this.#slots.fill(kind - FIRST_SLOT_KEY, member)
  }

  #placeLevel(value: string): boolean {
    const level = this.#levels.get(value)
    if (level === undefined || level.metadata !== '') return false
    this.#level = level.level
    return true
  }

  /** The reference path keeps a longer integer as a separate value. */
  #placeDuration(member: MemberCursor): boolean {
    this.#duration = member.value()
    return member.isNumber() && !INEXACT_INTEGER.test(this.#duration)
  }

  #placeCategory(member: MemberCursor): boolean {
    // A pattern may turn a number into a string.
    if (!member.isText() && !member.isNumber()) {
      this.#rest = joinMembers(this.#rest, member.member())
      return true
    }
    if (this.#category !== '' || !member.isText() || member.value() === '""') return false
    this.#category = member.value()
    return true
  }
}

/** Equal texts may be escaped differently. */
function isSameText(a: string, b: string): boolean {
  return a === b || ((a.includes('\\') || b.includes('\\')) && JSON.parse(a || '""') === JSON.parse(b))
}
