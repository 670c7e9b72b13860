/**
 * Reads the members of a line in pino's usual form: mapped members into fields, all others as text for the metadata.
 */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { parseExact, stringifyExact } from '../../shared/exact-json.js'
import { MAX_KEYS } from '../clean-copy.js'
import { take, toIdText } from '../coerce.js'
import { mayContainExchange } from '../http-error.js'
import { toRequestPart } from '../mapped-record.js'
import type { RequestPart } from '../mapped-record.js'
import { MemberCursor, joinMembers, joinObject } from '../member-cursor.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { LevelTextCache, RecordHead, TimestampTextCache, toMessageText } from './entry-head.js'
import type { LevelText } from './entry-head.js'
import { ErrorScanner } from './error-scanner.js'
import { LEVEL, REQUEST_ID_SLOT } from './fast-fields.js'
import type { Identity, KeyTable, StaticText } from './fast-fields.js'
import { FieldSlots, toIdJson } from './field-slots.js'
import {
  DECLINED,
  DURATION_KEY,
  ENVIRONMENT_KEY,
  ERROR_KEY,
  FIRST_COPIED_KEY,
  FIRST_SLOT_KEY,
  HOLDER_KEY,
  LEVEL_KEY,
  MESSAGE_KEY,
  NAME_KEY,
  OTHER_ID_KEY,
  REQ_KEY,
  RES_KEY,
  RecordKeys,
  SERVICE_KEY,
  TAGS_KEY,
  TIME_KEY,
  USER_KEY,
  VERSION_KEY,
} from './record-keys.js'
import { INEXACT_INTEGER, RequestScanner } from './request-scanner.js'

/** Keys that `RecordHead` reads. */
const HEAD_KEYS = 4
const EMPTY_TEXT = '""'

export class RecordMembers {
  level: LevelText | undefined
  /** '' if the record has none, like the strings below. */
  timestamp = ''
  message = ''
  duration = ''
  /** pino's own `name`. */
  name = ''
  /** JSON of the entry's fields. */
  user = ''
  tags = ''
  otherId = ''
  otherIdMember = ''
  readonly identity: Identity = { service: '', environment: '', version: '' }
  hasIdentity = false
  hasError = false
  hasReq = false
  hasRes = false
  readonly slots = new FieldSlots()
  readonly error: ErrorScanner
  readonly request = new RequestScanner()
  /** Members of the entry's metadata. */
  metadata = ''
  readonly #options: MappingOptions
  readonly #static: StaticText
  readonly #keys: RecordKeys
  readonly #levels: LevelTextCache
  readonly #times = new TimestampTextCache()
  readonly #head: RecordHead
  readonly #members = new MemberCursor()

  constructor(options: MappingOptions, staticText: StaticText, table: KeyTable) {
    this.#options = options
    this.#static = staticText
    this.#keys = new RecordKeys(options, table)
    this.#levels = new LevelTextCache(options.levels)
    this.#head = new RecordHead(options.levelKey ?? LEVEL, this.#levels, this.#times, this.#keys)
    this.error = new ErrorScanner(options)
  }

  get hasRequest(): boolean {
    return this.hasReq || this.hasRes
  }

  /** Which part of a request's log this is. */
  get requestPart(): RequestPart {
    if (!this.hasRequest) return 'none'
    const { hasStart, status } = this.request
    return toRequestPart(hasStart, status !== '', this.slots.texts[REQUEST_ID_SLOT] !== '')
  }

  /** Chooses one of several request ids as the field of the entry. */
  placeRequestIds(): void {
    if (this.hasReq) this.#placeRequestId()
    if (this.otherId !== '') this.#placeOtherId()
  }

  /** Uses the id within `req`, as pino-http writes it. */
  #placeRequestId(): void {
    const known = this.slots.texts[REQUEST_ID_SLOT]
    const id = this.request.id === '' ? '' : `"${this.request.id}"`
    if (known === '') this.slots.set(REQUEST_ID_SLOT, id || this.request.headerId)
    else if (id !== '' && known !== id) this.request.keepId()
  }

  /** Keeps an id that differs from the request's own in the metadata. */
  #placeOtherId(): void {
    const known = this.slots.texts[REQUEST_ID_SLOT]
    if (known === '') this.slots.set(REQUEST_ID_SLOT, this.otherId)
    else if (known !== this.otherId) this.metadata = joinMembers(this.metadata, this.otherIdMember)
  }

  #reset(): void {
    this.slots.reset()
    this.#keys.reset()
    if (this.hasIdentity) this.identity.service = this.identity.environment = this.identity.version = ''
    if (this.hasReq || this.hasRes) this.request.reset()
    this.hasIdentity = this.hasError = this.hasReq = this.hasRes = false
    this.level = undefined
    this.timestamp = this.message = this.duration = this.name = this.metadata = this.otherId = ''
    this.user = this.tags = ''
  }

  /** Reads every member of a line. Returns false if one is declined. */
  scan(text: string, start: number, end: number): boolean {
    this.#reset()
    const keys = this.#keys
    const member = this.#members
    // Copies adjacent members in one piece.
    let runStart = -1
    let runEnd = -1
    let count = HEAD_KEYS
    const head = this.#head
    if (head.read(text, start)) {
      this.level = head.level
      this.timestamp = head.timestamp
      if (head.baseStart !== head.end) {
        runStart = head.baseStart
        runEnd = head.end
      }
      member.resume(text, head.end, end)
    } else member.open(text, start, end)
    while (member.next()) {
      const key = member.key()
      const kind = keys.kindOf(key)
      count += 1
      const isCopied = kind >= FIRST_COPIED_KEY || kind === HOLDER_KEY
      if (isCopied && !member.skipValue()) return false
      if (isCopied || (this.#hasNoField(kind, key, member) && !isRepeated(key, text, start, end))) {
        if (!keys.add(key, kind) || (member.isContainer() && this.#isDeclined(kind, member))) return false
        if (runEnd !== -1 && runEnd + 1 === member.at) runEnd = member.after
        else {
          if (runEnd !== -1) this.metadata = joinMembers(this.metadata, text.slice(runStart, runEnd))
          runStart = member.at
          runEnd = member.after
        }
      } else if (!this.#readMember(kind, key, text, member, end)) return false
    }
    if (runEnd !== -1) this.metadata = joinMembers(this.metadata, text.slice(runStart, runEnd))
    // The reference path removes further keys.
    return member.closedAt === end && count <= MAX_KEYS
  }

  /** Whether the value of a mapped key cannot be mapped, as in `user_id: null`, and is copied to the metadata. */
  #hasNoField(kind: number, key: string, member: MemberCursor): boolean {
    if (kind < NAME_KEY || kind === OTHER_ID_KEY || kind === TAGS_KEY || this.#static.metadataKeys.has(key))
      return false
    const hasNoField = member.isLiteral() || (kind === USER_KEY && !member.isContainer())
    return hasNoField && member.skipValue()
  }

  /** Reads a mapped member. Returns false if it is declined. */
  #readMember(kind: number, key: string, text: string, member: MemberCursor, end: number): boolean {
    switch (kind) {
      case DECLINED:
        return false
      case ERROR_KEY:
        if (this.hasError) return false
        this.hasError = true
        member.after = this.error.scan(text, member.valueAt, end)
        return member.after !== -1
      case REQ_KEY:
        if (this.hasReq) return false
        this.hasReq = true
        member.after = this.request.scanReq(text, member.valueAt, end)
        return member.after !== -1
      case RES_KEY:
        if (this.hasRes) return false
        this.hasRes = true
        member.after = this.request.scanRes(text, member.valueAt, end)
        return member.after !== -1
    }
    if (!member.skipValue()) return false
    if (kind >= FIRST_SLOT_KEY) return this.slots.fill(kind - FIRST_SLOT_KEY, member)
    switch (kind) {
      case MESSAGE_KEY:
        return (this.message = toMessageText(member)) !== ''
      case LEVEL_KEY:
        // A later level or time is logged data.
        if (this.level !== undefined) return false
        this.level = this.#levels.get(member.value())
        return this.level !== undefined
      case TIME_KEY:
        if (this.timestamp !== '') return false
        this.timestamp = this.#times.get(member.value())
        return this.timestamp !== ''
      case DURATION_KEY:
        if (!member.isNumber() || this.duration !== '') return false
        this.duration = member.value()
        return !INEXACT_INTEGER.test(this.duration) // which is kept in the metadata
      case OTHER_ID_KEY:
        return this.#readOtherId(key, member)
      case USER_KEY:
        return this.#readUser(member)
      case TAGS_KEY:
        return this.#readTags(member)
    }
    if (!member.isText()) return false
    if (kind === NAME_KEY) {
      if (this.name !== '') return false
      this.name = member.value()
      return true
    }
    const field = IDENTITY_FIELDS.get(kind) as keyof Identity
    if (this.identity[field] !== '') return false
    this.identity[field] = member.value()
    return (this.hasIdentity = true)
  }

  #readUser(member: MemberCursor): boolean {
    if (this.user !== '' || !member.isObject() || mayContainExchange(member.value())) return false
    const source = parseExact(member.value()) as JsonObject
    const user: JsonObject = {}
    for (const field of ['id', 'email', 'name']) {
      const text = take(source, [field], toIdText)
      if (text !== undefined) user[field] = text
    }
    if (Object.keys(user).length === 0) return false
    this.user = stringifyExact(user)
    this.metadata = joinObject(this.metadata, 'user', stringifyExact(source).slice(1, -1))
    return true
  }

  /** Reads a list of strings. */
  #readTags(member: MemberCursor): boolean {
    if (this.tags !== '') return false
    const tags = JSON.parse(member.value()) as Json
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) return false
    const { tags: added } = this.#options
    this.tags = JSON.stringify([...tags, ...added.filter((tag) => !tags.includes(tag))])
    return true
  }

  /** Whether a container must be mapped by the reference path. */
  #isDeclined(kind: number, member: MemberCursor): boolean {
    if (kind === HOLDER_KEY) return true
    return mayContainExchange(member.value())
  }

  /** Returns false if the value is declined. */
  #readOtherId(key: string, member: MemberCursor): boolean {
    if (this.otherId !== '' || this.#static.metadataKeys.has(key)) return false
    this.otherId = toIdJson(member)
    this.otherIdMember = member.member()
    return this.otherId !== '' && this.otherId !== EMPTY_TEXT
  }
}

const IDENTITY_FIELDS: ReadonlyMap<number, keyof Identity> = new Map([
  [SERVICE_KEY, 'service'],
  [ENVIRONMENT_KEY, 'environment'],
  [VERSION_KEY, 'version'],
])

/** Whether the line may have the key twice: the last of duplicate keys wins. */
function isRepeated(key: string, text: string, start: number, end: number): boolean {
  const line = text.slice(start, end)
  const quoted = `"${key}":`
  return line.indexOf(quoted) !== line.lastIndexOf(quoted)
}
