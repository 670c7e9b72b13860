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
  NAMED_KEYS,
  OTHER_REQUEST_ID,
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
import { MAY_HOLD_HTTP_MESSAGE } from '../http-error.js'
import { DIALECT_HOLDERS, HTTP_PREFIX, MIN_HTTP_KEY_CHARS } from '../reference/dialects.js'
import { LevelTextCache, TimestampTextCache, toMessageText } from './entry-head.js'
import type { LevelText } from './entry-head.js'
import { RequestScanner } from './request-scanner.js'
import { SecretFinder } from './secret-finder.js'
import { FieldSlots, toIdJson } from './field-slots.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'
import { NextOccurrence } from './next-occurrence.js'
import { findNextSuspect } from '../../shared/json-scan.js'
import { SeenKeys } from './seen-keys.js'
import { setScope, toRequestPart } from '../mapped-record.js'
import type { MappedRecord, RequestPart } from '../mapped-record.js'

/** Upper limit of the text that an entry has besides its line and the options: field names, timestamp, source, path. */
const FRAME_CHARS = 4_000

export class FastPath {
  readonly #options: MappingOptions
  readonly #static: StaticText
  readonly #levelKey: string
  readonly #keys: KeyTable
  readonly #maxLineChars: number
  readonly #isSupported: boolean
  readonly #suspects = new NextOccurrence(findNextSuspect)
  readonly #secrets: SecretFinder
  readonly #levels: LevelTextCache
  readonly #times = new TimestampTextCache()
  readonly #members = new MemberCursor()
  readonly #error = new ErrorScanner()
  readonly #request = new RequestScanner()

  readonly #slots = new FieldSlots()
  readonly #identity: Identity = { service: '', environment: '', version: '' }
  readonly #unknown = new SeenKeys()
  #hasIdentity = false
  #otherId = ''
  #otherIdMember = ''
  #level: LevelText | undefined
  #timestamp = ''
  #message = ''
  #duration = ''
  #name = ''
  #hasError = false
  #hasReq = false
  #hasRes = false
  #metadata = ''

  constructor(options: MappingOptions) {
    this.#options = options
    this.#static = createStaticText(options)
    this.#levelKey = options.levelKey ?? LEVEL
    this.#levels = new LevelTextCache(options.levels)
    this.#secrets = new SecretFinder(options.redactor)
    this.#keys = createKeyTable(options)
    // The metadata keeps the rest of these members, which wins over the options' own metadata.
    const keptKeys = ['level', 'error', this.#keys.req, this.#keys.res]
    this.#isSupported =
      this.#keys.isSupported &&
      (this.#levelKey === LEVEL || !isMappedKey(this.#levelKey, { ...options, levelKey: undefined })) &&
      !keptKeys.some((key) => this.#static.metadataKeys.has(key))
    // A UTF-16 unit takes at most three bytes. The reference path measures lines that may be too long.
    this.#maxLineChars = Math.floor(options.maxEntryBytes / 3) - this.#static.chars - FRAME_CHARS
  }

  /** Must be called before the lines of another text. */
  beginText(): void {
    this.#suspects.reset()
    this.#secrets.reset()
    this.#unknown.clear()
  }

  /**
   * Lines must come in rising order.
   *
   * @param record is filled, except `json`
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
    if (this.#suspects.isWithin(text, start, end)) return false
    this.#reset()
    if (!this.#scan(text, start, end) || this.#level === undefined) return false
    if (this.#secrets.hasSecret(text, start, end, this.#isUnsent)) return false
    if (this.#timestamp === '' || this.#message === '') return false
    // The reference path would use the error's message.
    if (this.#hasError && this.#message === EMPTY_TEXT) return false
    const hasRequest = this.#hasReq || this.#hasRes
    const part = hasRequest ? this.#requestPart() : 'none'
    record.requestPart = part
    record.requestId = part === 'none' ? '' : this.#slots.decode(REQUEST_ID_SLOT)
    if (this.#hasReq) this.#placeRequestId()
    if (this.#otherId !== '') this.#placeOtherId()
    const { severity } = this.#level
    const isMade = severity >= (hasRequest ? requestThreshold : threshold) || part === 'start' || part === 'end'
    const openJson = isMade ? this.#compose(this.#level) : ''
    if (openJson === undefined) return false
    record.openJson = openJson
    record.severity = severity
    record.fingerprint = this.#slots.decode(FINGERPRINT_SLOT)
    record.hasBreadcrumbs = false
    record.hasRequest = hasRequest
    record.isFastPath = true
    const { hasTrace } = this.#slots
    const traceId = hasTrace ? this.#slots.decode(TRACE_SLOT) : this.#request.traceId
    setScope(record, traceId, !hasTrace, this.#slots.decode(REQUEST_ID_SLOT), this.#slots.decode(SESSION_SLOT))
    return true
  }

  #reset(): void {
    this.#slots.reset()
    this.#unknown.reset()
    if (this.#hasIdentity) this.#identity.service = this.#identity.environment = this.#identity.version = ''
    if (this.#hasReq || this.#hasRes) this.#request.reset()
    this.#hasIdentity = this.#hasError = this.#hasReq = this.#hasRes = false
    this.#level = undefined
    this.#timestamp = this.#message = this.#duration = this.#name = this.#metadata = this.#otherId = ''
  }

  readonly #isUnsent = (position: number): boolean => (this.#hasReq || this.#hasRes) && this.#request.isUnsent(position)

  /** Reads every member; false if one is declined. */
  #scan(text: string, start: number, end: number): boolean {
    const { messageKey, errorKey } = this.#options
    const { req, res, slotOf } = this.#keys
    // Adjacent unknown members are copied in one piece.
    let runStart = -1
    let runEnd = -1
    const member = this.#members.open(text, start, end)
    while (member.next()) {
      const key = member.key()
      if (key === errorKey) {
        if (this.#hasError) return false
        this.#hasError = true
        member.after = this.#error.scan(text, member.valueAt, end)
      } else if (key === req) {
        if (this.#hasReq) return false
        this.#hasReq = true
        member.after = this.#request.scanReq(text, member.valueAt, end)
      } else if (key === res) {
        if (this.#hasRes) return false
        this.#hasRes = true
        member.after = this.#request.scanRes(text, member.valueAt, end)
      } else if (!member.skipValue()) return false
      else if (key === messageKey) {
        this.#message = toMessageText(member)
        if (this.#message === '') return false
      } else if (key === this.#levelKey) {
        // The first level and the first time win: later ones are logged data.
        this.#level ??= this.#levels.get(member.value())
        if (this.#level === undefined) return false
      } else if (key === 'time') {
        if (this.#timestamp === '') this.#timestamp = this.#times.get(member.value())
        if (this.#timestamp === '') return false
      } else {
        const slot = slotOf.get(key)
        if (slot !== undefined) {
          if (!(slot === OTHER_REQUEST_ID ? this.#readOtherId(key, member) : this.#slots.fill(slot, member)))
            return false
        } else if (!this.#isUnknown(key, member)) {
          if (!this.#fillNamed(key, member)) return false
        } else if (runEnd !== -1 && runEnd + 1 === member.at) runEnd = member.after
        else {
          if (runEnd !== -1) this.#metadata = joinMembers(this.#metadata, text.slice(runStart, runEnd))
          runStart = member.at
          runEnd = member.after
        }
      }
    }
    if (runEnd !== -1) this.#metadata = joinMembers(this.#metadata, text.slice(runStart, runEnd))
    return member.closedAt === end
  }

  /** Whether the member is copied to the metadata unchanged. */
  #isUnknown(key: string, member: MemberCursor): boolean {
    if (this.#keys.special.has(key) || this.#static.metadataKeys.has(key) || key.includes('\\')) return false
    if (key.length >= MIN_HTTP_KEY_CHARS && key.startsWith(HTTP_PREFIX)) return false
    if (member.isContainer() && (DIALECT_HOLDERS.has(key) || MAY_HOLD_HTTP_MESSAGE.test(member.value()))) return false
    return this.#unknown.add(key)
  }

  #fillNamed(key: string, member: MemberCursor): boolean {
    if (key === 'responseTime' || key === this.#keys.responseTime) {
      if (!member.isNumber() || this.#duration !== '') return false
      this.#duration = member.value()
      return !LONG_INTEGER.test(this.#duration) // which is kept in the metadata
    }
    if (!NAMED_KEYS.has(key) || !member.isText()) return false
    if (key === 'name') {
      if (this.#name !== '') return false
      this.#name = member.value()
      return true
    }
    const field = key === 'env' ? 'environment' : (key as keyof Identity)
    if (this.#identity[field] !== '') return false
    this.#identity[field] = member.value()
    return (this.#hasIdentity = true)
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
      this.#keep(this.#keys.req, this.#request.reqRest)
      this.#keep(this.#keys.res, this.#request.resRest)
    } else if (this.#duration !== '') parts = `,"perf":{"duration_ms":${this.#duration}}`
    if (this.#hasError) {
      if (!this.#placeSource()) return undefined
      parts += `,"error":${this.#error.json}`
      this.#keep('error', this.#error.rest)
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
      formatSlots(this.#slots.texts, this.#hasReq ? this.#request.trace : '') +
      this.#static.tail +
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
    if (this.#options.fingerprint === 'auto') return false // which needs the decoded texts
    if (this.#slots.texts[SOURCE_SLOT] !== '') return true
    const source = this.#error.findSource()
    if (source === undefined) return false
    if (source !== '') this.#slots.set(SOURCE_SLOT, `"${source}"`)
    return true
  }

  #keep(key: string, members: string): void {
    if (members !== '') this.#metadata = joinMembers(this.#metadata, `"${key}":{${members}}`)
  }
}

const EMPTY_TEXT = '""'
const LONG_INTEGER = /^-?\d{16,}$/
