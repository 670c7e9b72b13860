/**
 * Maps a line in pino's usual form to its entry without JSON.parse: values that need no change are copied as text.
 *
 * Other lines (another shape, an escaped key, a key of the field table that this path does not know) are declined and
 * mapped by the reference path. Both paths must give the same entry.
 */
import type { MappingOptions } from '../reference/entry-fields.js'
import { ErrorScanner } from './error-scanner.js'
import {
  FINGERPRINT_SLOT,
  LEVEL,
  RELEASE_SLOT,
  REQUEST_ID_SLOT,
  SESSION_SLOT,
  SOURCE_SLOT,
  TRACE_SLOT,
  createKeyTable,
  isMappedKey,
  formatIdentity,
  formatSlots,
  createStaticText,
} from './fast-fields.js'
import type { Identity, KeyTable, StaticText } from './fast-fields.js'
import { MAX_KEYS } from '../clean-copy.js'
import { take, toIdText } from '../coerce.js'
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { parseExact, stringifyExact } from '../../shared/exact-json.js'
import { NOTE_KEY } from '../shorten-entry.js'
import { fingerprintOf } from '../error-fingerprint.js'
import { mayHoldExchange } from '../http-error.js'
import { LevelTextCache, RecordHead, TimestampTextCache, toMessageText } from './entry-head.js'
import type { LevelText } from './entry-head.js'
import { INEXACT_INTEGER, RequestScanner } from './request-scanner.js'
import { SecretFinder } from './secret-finder.js'
import { FieldSlots, toIdJson, unquote } from './field-slots.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'
import { NextOccurrence } from './next-occurrence.js'
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
import { findNextSuspect } from '../../shared/json-scan.js'
import { setScope, toRequestPart } from '../mapped-record.js'
import type { MappedRecord, RequestPart } from '../mapped-record.js'

/** Upper limit of the text that an entry has besides its line and the options: field names, timestamp, source, path. */
const FRAME_CHARS = 4_000
/** Keys that `RecordHead` reads. */
const HEAD_KEYS = 4
const MAX_BYTES_PER_UNIT = 3

export class FastPath {
  readonly #options: MappingOptions
  readonly #static: StaticText
  readonly #table: KeyTable
  readonly #keys: RecordKeys
  readonly #maxLineChars: number
  readonly #isSupported: boolean
  readonly #suspects = new NextOccurrence(findNextSuspect)
  readonly #secrets: SecretFinder
  readonly #levels: LevelTextCache
  readonly #times = new TimestampTextCache()
  readonly #head: RecordHead
  readonly #members = new MemberCursor()
  readonly #error: ErrorScanner
  readonly #request = new RequestScanner()

  /** Of the last line. What is found in a text does not hold for another. */
  #text = ''
  #lastStart = -1
  readonly #slots = new FieldSlots()
  readonly #identity: Identity = { service: '', environment: '', version: '' }
  #hasIdentity = false
  #otherId = ''
  #otherIdMember = ''
  #level: LevelText | undefined
  #timestamp = ''
  #message = ''
  #duration = ''
  #name = ''
  /** JSON of the entry's fields. */
  #user = ''
  #tags = ''
  #hasError = false
  #hasReq = false
  #hasRes = false
  #metadata = ''

  constructor(options: MappingOptions) {
    const levelKey = options.levelKey ?? LEVEL
    const table = createKeyTable(options)
    const keys = new RecordKeys(options, table)
    this.#options = options
    this.#static = createStaticText(options)
    this.#levels = new LevelTextCache(options.levels)
    this.#secrets = new SecretFinder(options.redactor)
    this.#table = table
    this.#keys = keys
    this.#head = new RecordHead(levelKey, this.#levels, this.#times, keys)
    this.#error = new ErrorScanner(options)
    // The metadata keeps the rest of these members, which wins over the options' own metadata.
    const keptKeys = ['level', 'error', NOTE_KEY, table.req, table.res]
    this.#isSupported =
      table.isSupported &&
      (levelKey === LEVEL || !isMappedKey(levelKey, { ...options, levelKey: undefined })) &&
      !keptKeys.some((key) => this.#static.metadataKeys.has(key))
    // A UTF-16 unit takes at most three bytes. The reference path measures lines that may be too long.
    this.#maxLineChars = Math.floor(options.maxEntryBytes / 3) - this.#static.chars - FRAME_CHARS
  }

  /**
   * Within one text, lines should come in rising order: what was found further on is not searched for again.
   *
   * @param record is filled
   * @param requestThreshold as `threshold`, for entries with a request
   * @returns false if the line is declined; `record` is undefined then
   */
  map(
    text: string,
    start: number,
    end: number,
    threshold: number,
    record: MappedRecord,
    requestThreshold = threshold,
  ): boolean {
    if (!this.#isSupported || end - start > this.#maxLineChars) return false
    // A text may be equal to the last one, so the position counts as well.
    if (text !== this.#text || start <= this.#lastStart) this.#beginText(text)
    this.#lastStart = start
    if (this.#suspects.isWithin(text, start, end)) return false
    this.#reset()
    if (!this.#scan(text, start, end)) return false
    const level = this.#level
    if (level === undefined || this.#timestamp === '' || this.#message === '') return false
    // The reference path would use the error's message.
    if (this.#hasError && this.#message === EMPTY_TEXT) return false
    const { isEmpty } = this.#slots
    const hasRequest = this.#hasReq || this.#hasRes
    const part = hasRequest ? this.#requestPart() : 'none'
    record.requestPart = part
    record.requestId = part === 'none' ? '' : this.#slots.decode(REQUEST_ID_SLOT)
    if (this.#hasReq) this.#placeRequestId()
    if (this.#otherId !== '') this.#placeOtherId()
    const { severity } = level
    // The record's own: one that is computed is added to the entry only.
    record.fingerprint = isEmpty ? '' : this.#slots.decode(FINGERPRINT_SLOT)
    const isComposed = severity >= (hasRequest ? requestThreshold : threshold) || part === 'start' || part === 'end'
    const openJson = isComposed ? this.#compose(level) : ''
    if (openJson === undefined) return false
    const { redactor, maxEntryBytes } = this.#options
    const hasHeader = this.#secrets.mayHoldHeader(text, start, end, this.#unsentEnd)
    if (isComposed && hasHeader) return false
    const hasUrlSecret = this.#secrets.mayHoldUrlSecret(text, start, end, this.#unsentEnd)
    record.openJson = openJson
    record.json = isComposed ? `${openJson}}` : ''
    if (isComposed && redactor !== undefined && (hasUrlSecret || redactor.hasPatterns)) {
      const json = redactor.redactJson(record.json)
      if (json !== record.json) {
        // A marker may be longer than what it replaces.
        if (json.length * MAX_BYTES_PER_UNIT > maxEntryBytes) return false
        record.json = json
        record.openJson = json.slice(0, -1)
      }
    }
    record.isFreeOfSecrets = !hasHeader && !hasUrlSecret
    record.severity = severity
    record.hasBreadcrumbs = false
    record.hasRequest = hasRequest
    record.isFastPath = true
    if (isEmpty && !this.#hasReq && this.#otherId === '') {
      setScope(record, '', false, '', '')
    } else {
      const slots = this.#slots
      const { hasTrace } = slots
      const traceId = hasTrace ? slots.decode(TRACE_SLOT) : this.#request.traceId
      setScope(record, traceId, !hasTrace, slots.decode(REQUEST_ID_SLOT), slots.decode(SESSION_SLOT))
    }
    return true
  }

  #beginText(text: string): void {
    this.#text = text
    this.#suspects.reset()
    this.#secrets.reset()
    this.#head.beginText()
  }

  #reset(): void {
    this.#slots.reset()
    this.#keys.reset()
    if (this.#hasIdentity) this.#identity.service = this.#identity.environment = this.#identity.version = ''
    if (this.#hasReq || this.#hasRes) this.#request.reset()
    this.#hasIdentity = this.#hasError = this.#hasReq = this.#hasRes = false
    this.#level = undefined
    this.#timestamp = this.#message = this.#duration = this.#name = this.#metadata = this.#otherId = ''
    this.#user = this.#tags = ''
  }

  readonly #unsentEnd = (position: number): number =>
    this.#hasReq || this.#hasRes ? this.#request.unsentEnd(position) : -1

  /** Reads every member; false if one is declined. */
  #scan(text: string, start: number, end: number): boolean {
    const keys = this.#keys
    const member = this.#members
    // Adjacent members that are copied are copied in one piece.
    let runStart = -1
    let runEnd = -1
    let count = HEAD_KEYS
    const head = this.#head
    if (head.read(text, start)) {
      this.#level = head.level
      this.#timestamp = head.timestamp
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
          if (runEnd !== -1) this.#metadata = joinMembers(this.#metadata, text.slice(runStart, runEnd))
          runStart = member.at
          runEnd = member.after
        }
      } else if (!this.#readMember(kind, key, text, member, end)) return false
    }
    if (runEnd !== -1) this.#metadata = joinMembers(this.#metadata, text.slice(runStart, runEnd))
    // The reference path removes the keys beyond.
    return member.closedAt === end && count <= MAX_KEYS
  }

  /** Whether a value under a key with a meaning has none, as `user_id: null`, and is copied like others. */
  #hasNoField(kind: number, key: string, member: MemberCursor): boolean {
    if (kind < NAME_KEY || kind === OTHER_ID_KEY || kind === TAGS_KEY || this.#static.metadataKeys.has(key))
      return false
    const isLeft = member.isLiteral() || (kind === USER_KEY && !member.isContainer())
    return isLeft && member.skipValue()
  }

  /** Reads a member with a meaning; false if it is declined. */
  #readMember(kind: number, key: string, text: string, member: MemberCursor, end: number): boolean {
    switch (kind) {
      case DECLINED:
        return false
      case ERROR_KEY:
        if (this.#hasError) return false
        this.#hasError = true
        member.after = this.#error.scan(text, member.valueAt, end)
        return member.after !== -1
      case REQ_KEY:
        if (this.#hasReq) return false
        this.#hasReq = true
        member.after = this.#request.scanReq(text, member.valueAt, end)
        return member.after !== -1
      case RES_KEY:
        if (this.#hasRes) return false
        this.#hasRes = true
        member.after = this.#request.scanRes(text, member.valueAt, end)
        return member.after !== -1
    }
    if (!member.skipValue()) return false
    if (kind >= FIRST_SLOT_KEY) return this.#slots.fill(kind - FIRST_SLOT_KEY, member)
    switch (kind) {
      case MESSAGE_KEY:
        return (this.#message = toMessageText(member)) !== ''
      case LEVEL_KEY:
        // The first level and the first time win: later ones are logged data.
        this.#level ??= this.#levels.get(member.value())
        return this.#level !== undefined
      case TIME_KEY:
        if (this.#timestamp === '') this.#timestamp = this.#times.get(member.value())
        return this.#timestamp !== ''
      case DURATION_KEY:
        if (!member.isNumber() || this.#duration !== '') return false
        this.#duration = member.value()
        return !INEXACT_INTEGER.test(this.#duration) // which is kept in the metadata
      case OTHER_ID_KEY:
        return this.#readOtherId(key, member)
      case USER_KEY:
        return this.#readUser(member)
      case TAGS_KEY:
        return this.#readTags(member)
    }
    if (!member.isText()) return false
    if (kind === NAME_KEY) {
      if (this.#name !== '') return false
      this.#name = member.value()
      return true
    }
    const field = IDENTITY_FIELDS.get(kind) as keyof Identity
    if (this.#identity[field] !== '') return false
    this.#identity[field] = member.value()
    return (this.#hasIdentity = true)
  }

  #readUser(member: MemberCursor): boolean {
    if (this.#user !== '' || !member.isObject() || mayHoldExchange(member.value())) return false
    const source = parseExact(member.value()) as JsonObject
    const user: JsonObject = {}
    for (const field of ['id', 'email', 'name']) {
      const text = take(source, [field], toIdText)
      if (text !== undefined) user[field] = text
    }
    if (Object.keys(user).length === 0) return false
    this.#user = stringifyExact(user)
    this.#keep('user', stringifyExact(source).slice(1, -1))
    return true
  }

  /** A list of texts. */
  #readTags(member: MemberCursor): boolean {
    if (this.#tags !== '') return false
    const tags = JSON.parse(member.value()) as Json
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) return false
    const { tags: added } = this.#options
    this.#tags = JSON.stringify([...tags, ...added.filter((tag) => !tags.includes(tag))])
    return true
  }

  /** Whether a container must be mapped by the reference path. */
  #isDeclined(kind: number, member: MemberCursor): boolean {
    if (kind === HOLDER_KEY) return true
    return mayHoldExchange(member.value())
  }

  /** The entry without its closing brace; undefined if the line is declined. */
  #compose(level: LevelText): string | undefined {
    if (level.metadata !== '') this.#metadata = joinMembers(this.#metadata, level.metadata)
    if (this.#name !== '' && !this.#placeName()) return undefined
    let parts = ''
    if (this.#hasReq || this.#hasRes) {
      if (this.#request.request === '') return undefined
      const duration = this.#duration === '' ? '' : `,"duration_ms":${this.#duration}`
      parts = `,"request":{${this.#request.request}${duration}}`
      this.#keep(this.#table.req, this.#request.reqRest)
      this.#keep(this.#table.res, this.#request.resRest)
    } else if (this.#duration !== '') parts = `,"perf":{"duration_ms":${this.#duration}}`
    if (this.#user !== '') parts += `,"user":${this.#user}`
    if (this.#hasError) {
      if (!this.#placeSource()) return undefined
      parts += `,"error":${this.#error.json}`
      this.#keep('error', this.#error.rest)
      if (this.#error.omitted > 0) this.#keep(NOTE_KEY, `"omitted_http_members":${this.#error.omitted}`)
    }
    if (this.#static.releaseId !== '' && this.#slots.texts[RELEASE_SLOT] === '')
      this.#slots.set(RELEASE_SLOT, this.#static.releaseId)
    if (this.#static.metadata !== '') this.#metadata = joinMembers(this.#metadata, this.#static.metadata)
    return (
      level.opening +
      this.#message +
      this.#timestamp +
      (this.#hasIdentity ? formatIdentity(this.#identity, this.#options) : this.#static.identity) +
      parts +
      (this.#slots.isEmpty && !this.#hasReq ? '' : formatSlots(this.#slots.texts, this.#request.trace)) +
      this.#static.deploy +
      (this.#tags === '' ? this.#static.tags : `,"tags":${this.#tags}`) +
      (this.#metadata === '' ? '' : `,"metadata":{${this.#metadata}}`)
    )
  }

  /** pino's `name` is the service if neither the record nor the options name one. */
  #placeName(): boolean {
    if (this.#identity.service === '' && this.#options.service === undefined) {
      this.#identity.service = this.#name
      this.#hasIdentity = true
      return true
    }
    this.#metadata = joinMembers(this.#metadata, `"name":${this.#name}`)
    return !this.#static.metadataKeys.has('name')
  }

  /** False if the value is declined. */
  #readOtherId(key: string, member: MemberCursor): boolean {
    if (this.#otherId !== '' || this.#static.metadataKeys.has(key)) return false
    this.#otherId = toIdJson(member)
    this.#otherIdMember = member.member()
    return this.#otherId !== '' && this.#otherId !== EMPTY_TEXT
  }

  /** An id that differs from the request's own is kept in the metadata. */
  #placeOtherId(): void {
    const known = this.#slots.texts[REQUEST_ID_SLOT]
    if (known === '') this.#slots.set(REQUEST_ID_SLOT, this.#otherId)
    else if (known !== this.#otherId) this.#metadata = joinMembers(this.#metadata, this.#otherIdMember)
  }

  #requestPart(): RequestPart {
    const { hasStart, status } = this.#request
    return toRequestPart(hasStart, status !== '', this.#slots.texts[REQUEST_ID_SLOT] !== '')
  }

  /** pino-http writes the id inside `req`. */
  #placeRequestId(): void {
    const known = this.#slots.texts[REQUEST_ID_SLOT]
    const id = this.#request.id === '' ? '' : `"${this.#request.id}"`
    if (known === '') this.#slots.set(REQUEST_ID_SLOT, id || this.#request.headerId)
    else if (id !== '' && known !== id) this.#request.keepId()
  }

  #placeSource(): boolean {
    const needsFingerprint = this.#options.fingerprint === 'auto' && this.#slots.texts[FINGERPRINT_SLOT] === ''
    const needsSource = this.#slots.texts[SOURCE_SLOT] === ''
    if (!needsSource && !needsFingerprint) return true
    const source = this.#error.findSource()
    if (needsSource && source !== '') this.#slots.set(SOURCE_SLOT, `"${source}"`)
    if (needsFingerprint) {
      const { type, message } = this.#error
      const fingerprint = fingerprintOf(unquote(type), unquote(message), unquote(`"${source}"`))
      this.#slots.set(FINGERPRINT_SLOT, `"${fingerprint}"`)
    }
    return true
  }

  #keep(key: string, members: string): void {
    if (members !== '') this.#metadata = joinMembers(this.#metadata, `"${key}":{${members}}`)
  }
}

const IDENTITY_FIELDS: ReadonlyMap<number, keyof Identity> = new Map([
  [SERVICE_KEY, 'service'],
  [ENVIRONMENT_KEY, 'environment'],
  [VERSION_KEY, 'version'],
])
const EMPTY_TEXT = '""'

/** Whether the line may have the key twice: of duplicates the last counts. */
function isRepeated(key: string, text: string, start: number, end: number): boolean {
  const line = text.slice(start, end)
  const quoted = `"${key}":`
  return line.indexOf(quoted) !== line.lastIndexOf(quoted)
}
