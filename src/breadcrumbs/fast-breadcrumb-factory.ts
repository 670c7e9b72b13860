/** Maps a line that the fast path of entries has mapped to a breadcrumb, without JSON.parse; `undefined` if it must be parsed. */
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { ErrorScanner } from '../record/fast/error-scanner.js'
import { OTHER_REQUEST_ID, SLOT_FIELDS, createKeyTable, isEntryKey } from '../record/fast/fast-fields.js'
import type { KeyTable } from '../record/fast/fast-fields.js'
import { LevelTextCache, TimestampTextCache, toMessageText } from '../record/fast/entry-head.js'
import { INEXACT_INTEGER, RequestScanner } from '../record/fast/request-scanner.js'
import { FieldSlots } from '../record/fast/field-slots.js'
import { MemberCursor, joinMembers } from '../record/member-cursor.js'
import { SeenKeys } from '../record/fast/seen-keys.js'
import { NOTE_KEY } from '../record/shorten-entry.js'
import { CATEGORY_KEYS, NOT_DATA } from './breadcrumb-keys.js'

/** Longer lines are rare, and a parser is as fast for them. */
const MAX_LINE_CHARS = 16 * 1024
/** A UTF-16 unit has at most three bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const STACK = /"stack(?:_?trace)?":/
const ACTION_SLOT = SLOT_FIELDS.indexOf('action')
const IDENTITY: readonly string[] = ['service', 'environment', 'env', 'version', 'name']
/** Names of a breadcrumb's data that are derived from the error or request. A line with such a member is parsed. */
const DERIVED_KEYS: readonly string[] = ['method', 'url', 'status_code', 'error_type', 'error_message']

export class FastBreadcrumbFactory {
  readonly #options: MappingOptions
  readonly #maxBytes: number
  readonly #keys: KeyTable
  readonly #levels: LevelTextCache
  readonly #times = new TimestampTextCache()
  readonly #members = new MemberCursor()
  readonly #error: ErrorScanner
  readonly #request = new RequestScanner()
  readonly #seen = new SeenKeys()
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
    this.#options = options
    this.#maxBytes = maxBytes
    this.#keys = createKeyTable(options)
    this.#levels = new LevelTextCache(options.levels)
    this.#error = new ErrorScanner(options)
  }

  /** @param line was accepted by the fast path of entries: its strings can be copied unchanged */
  create(line: string): string | undefined {
    if (!this.#keys.isSupported || line.length > MAX_LINE_CHARS) return undefined
    this.#seen.reset()
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
      if (message !== this.#message) put('error_message', message)
      if (omitted > 0) put(NOTE_KEY, `{"omitted_http_members":${omitted}}`)
      if (rest !== '') put('error', `{${rest}}`)
    }
    return this.#rest === '' ? data : joinMembers(data, this.#rest)
  }

  /** @returns false if the member requires the reference path */
  #place(line: string, member: MemberCursor): boolean {
    const key = member.key()
    // Of duplicates the first level and time count, otherwise the last: left to the reference path.
    if (key.includes('\\') || !this.#seen.add(key)) return false
    if (key === this.#options.errorKey) {
      this.#hasError = true
      return (member.after = this.#error.scan(line, member.valueAt, line.length)) !== -1
    }
    if (key === this.#keys.req || key === this.#keys.res) {
      this.#hasRequest = true
      const end =
        key === this.#keys.req
          ? this.#request.scanReq(line, member.valueAt, line.length)
          : this.#request.scanRes(line, member.valueAt, line.length)
      return (member.after = end) !== -1
    }
    if (!member.skipValue()) return false
    if (key === this.#options.messageKey) return (this.#message = toMessageText(member)) !== ''
    if (key === (this.#options.levelKey ?? 'level')) return this.#placeLevel(member.value())
    if (key === 'time') return (this.#timestamp = this.#times.get(member.value())) !== ''
    if (key === this.#keys.responseTime) return this.#placeDuration(member)
    const slot = this.#keys.slotOf.get(key)
    if (slot !== undefined) return slot !== ACTION_SLOT && slot !== OTHER_REQUEST_ID && this.#slots.fill(slot, member)
    if (IDENTITY.includes(key)) return member.isText()
    if (isEntryKey(key) || DERIVED_KEYS.includes(key) || key === NOTE_KEY) return false
    if (NOT_DATA.has(key)) return true
    // A pattern may make a number a text.
    if (CATEGORY_KEYS.includes(key) && (member.isText() || member.isNumber())) return this.#placeCategory(member)
    if (member.isObject() && STACK.test(member.value())) return false
    this.#rest = joinMembers(this.#rest, member.member())
    return true
  }

  #placeLevel(value: string): boolean {
    const level = this.#levels.get(value)
    if (level === undefined || level.metadata !== '') return false
    this.#level = level.level
    return true
  }

  /** A longer integer is kept as a separate value by the reference path. */
  #placeDuration(member: MemberCursor): boolean {
    this.#duration = member.value()
    return member.isNumber() && !INEXACT_INTEGER.test(this.#duration)
  }

  #placeCategory(member: MemberCursor): boolean {
    if (this.#category !== '' || !member.isText() || member.value() === '""') return false
    this.#category = member.value()
    return true
  }
}
