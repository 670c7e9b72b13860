/**
 * Maps a line in pino's usual form to its entry without JSON.parse: copies values that need no change as text.
 *
 * Other lines (another format, an escaped key, a key of the field table that this path does not support) are declined
 * and mapped by the reference path. Both paths must produce the same entry.
 */
import { NextOccurrence } from './next-occurrence.js'
import { findNextSuspect } from '../../shared/json-scan.js'
import { setScope } from '../mapped-record.js'
import type { MappedRecord } from '../mapped-record.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { isMappedKey } from '../reference/mapped-keys.js'
import { NOTE_KEY } from '../shorten-entry.js'
import { EntryComposer } from './entry-composer.js'
import {
  FINGERPRINT_SLOT,
  LEVEL,
  REQUEST_ID_SLOT,
  SESSION_SLOT,
  TRACE_SLOT,
  createKeyTable,
  createStaticText,
} from './fast-fields.js'
import { RecordMembers } from './record-members.js'
import { SecretFinder } from './secret-finder.js'

/** Upper limit of the text that an entry adds to its line and the options: field names, timestamp, source, path. */
const FRAME_CHARS = 4_000
const MAX_BYTES_PER_UNIT = 3
const EMPTY_TEXT = '""'

export class FastPath {
  readonly #options: MappingOptions
  readonly #maxLineChars: number
  readonly #isSupported: boolean
  readonly #suspects = new NextOccurrence(findNextSuspect)
  readonly #secrets: SecretFinder
  readonly #members: RecordMembers
  readonly #composer: EntryComposer
  /** The text of the last line. Cached positions are valid for one text only. */
  #text = ''
  #lastStart = -1

  constructor(options: MappingOptions) {
    const { levelKey = LEVEL, redactor, maxEntryBytes } = options
    const table = createKeyTable(options)
    const staticText = createStaticText(options)
    this.#options = options
    this.#secrets = new SecretFinder(redactor)
    this.#members = new RecordMembers(options, staticText, table)
    this.#composer = new EntryComposer(options, staticText, table)
    // The metadata keeps the rest of these members, which take precedence over the options' metadata.
    const keptKeys = ['level', 'error', NOTE_KEY, table.req, table.res]
    this.#isSupported =
      table.isSupported &&
      (levelKey === LEVEL || !isMappedKey(levelKey, { ...options, levelKey: undefined })) &&
      !keptKeys.some((key) => staticText.metadataKeys.has(key))
    // A UTF-16 unit has at most three bytes in UTF-8. The reference path measures lines that may be too long.
    this.#maxLineChars = Math.floor(maxEntryBytes / 3) - staticText.chars - FRAME_CHARS
  }

  /**
   * Within one text, lines should be passed in ascending order, so positions further on are searched only once.
   *
   * @param record is filled
   * @param requestThreshold as `threshold`, for entries with a request
   * @returns false if the line is declined; the content of `record` is then undefined
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
    const members = this.#members
    if (!members.scan(text, start, end)) return false
    const { level, slots, hasRequest, requestPart } = members
    if (level === undefined || members.timestamp === '' || members.message === '') return false
    // The reference path would use the error's message.
    if (members.hasError && members.message === EMPTY_TEXT) return false
    const hasNoIds = slots.isEmpty
    record.requestPart = requestPart
    record.requestId = requestPart === 'none' ? '' : slots.decode(REQUEST_ID_SLOT)
    members.placeRequestIds()
    const { severity } = level
    // The record's own fingerprint. A computed one is added to the entry only.
    record.fingerprint = hasNoIds ? '' : slots.decode(FINGERPRINT_SLOT)
    const isComposed =
      severity >= (hasRequest ? requestThreshold : threshold) || requestPart === 'start' || requestPart === 'end'
    const openJson = isComposed ? this.#composer.compose(members, level) : ''
    if (openJson === undefined) return false
    const hasHeader = this.#secrets.mayContainHeader(text, start, end, this.#unsentEnd)
    if (isComposed && hasHeader) return false
    const hasUrlSecret = this.#secrets.mayContainUrlSecret(text, start, end, this.#unsentEnd)
    record.openJson = openJson
    record.json = isComposed ? `${openJson}}` : ''
    if (isComposed && !this.#redact(record, hasUrlSecret)) return false
    record.isFreeOfSecrets = !hasHeader && !hasUrlSecret
    record.severity = severity
    record.hasBreadcrumbs = false
    record.hasRequest = hasRequest
    record.isFastPath = true
    if (hasNoIds && !members.hasReq && members.otherId === '') setScope(record, '', false, '', '')
    else {
      const { hasTrace } = slots
      const traceId = hasTrace ? slots.decode(TRACE_SLOT) : members.request.traceId
      setScope(record, traceId, !hasTrace, slots.decode(REQUEST_ID_SLOT), slots.decode(SESSION_SLOT))
    }
    return true
  }

  /** False if the line is declined. */
  #redact(record: MappedRecord, hasUrlSecret: boolean): boolean {
    const { redactor, maxEntryBytes } = this.#options
    if (redactor === undefined || !(hasUrlSecret || redactor.hasPatterns)) return true
    const json = redactor.redactJson(record.json)
    if (json === record.json) return true
    // A marker may be longer than the replaced text.
    if (json.length * MAX_BYTES_PER_UNIT > maxEntryBytes) return false
    record.json = json
    record.openJson = json.slice(0, -1)
    return true
  }

  #beginText(text: string): void {
    this.#text = text
    this.#suspects.reset()
    this.#secrets.reset()
  }

  readonly #unsentEnd = (position: number): number =>
    this.#members.hasRequest ? this.#members.request.unsentEnd(position) : -1
}
