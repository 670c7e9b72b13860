/** The entry point of this folder: maps a line to the JSON of an entry. */
import { FastPath } from './fast/fast-path.js'
import { createMappedRecord, setScope } from './mapped-record.js'
import type { MappedRecord } from './mapped-record.js'
import type { MappingOptions } from './reference/entry-fields.js'
import { mapByParsing } from './reference/reference-path.js'
import { resolveLevel } from './coerce.js'

const LEVEL_KEY = '{"level":'
/** pino's levels have two digits, custom levels a few more. */
const MAX_LEVEL_END = LEVEL_KEY.length + 6
const ZERO = 0x30
const NINE = 0x39
const COMMA = 0x2c
const MAX_BYTES_PER_UNIT = 3

export class Mapper {
  #options: MappingOptions
  readonly #threshold: number
  readonly #wallNow: () => number
  #fast: FastPath
  readonly #record = createMappedRecord()
  /** By the digits of pino's level number; an application has a few. */
  readonly #severities = new Map<string, number>()

  /**
   * @param threshold severity below which no entry is made, see `MappedRecord`
   * @param wallNow milliseconds since the epoch, for records without a time of their own
   */
  constructor(options: MappingOptions, threshold: number, wallNow: () => number) {
    this.#options = options
    this.#threshold = threshold
    this.#wallNow = wallNow
    this.#fast = new FastPath(options)
  }

  /** For every later entry whose record names no release. */
  setReleaseId(releaseId: string): void {
    this.#options = { ...this.#options, releaseId }
    this.#fast = new FastPath(this.#options)
  }

  /** Must be called before the lines of another text. */
  beginText(): void {
    this.#fast.beginText()
  }

  /** Severity of a line that begins as pino's lines do, read from its first characters; undefined for other lines. */
  peekSeverity(text: string, start: number): number | undefined {
    if (!text.startsWith(LEVEL_KEY, start)) return undefined
    let end = start + LEVEL_KEY.length
    while (end - start < MAX_LEVEL_END && text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1
    const digits = text.slice(start + LEVEL_KEY.length, end)
    if (digits === '' || text.charCodeAt(end) !== COMMA) return undefined
    let severity = this.#severities.get(digits)
    if (severity === undefined)
      this.#severities.set(digits, (severity = resolveLevel(Number(digits), this.#options.levels)?.severity ?? 0))
    return severity
  }

  /** Never throws. Within one text, lines must come in rising order. @returns the same object for every line */
  map(text: string, start: number, end: number): MappedRecord {
    const record = this.#record
    const { redactor, maxEntryBytes } = this.#options
    if (!this.#fast.map(text, start, end, this.#threshold, record)) return this.#mapByParsing(text, start, end)
    record.json = record.openJson === '' ? '' : `${record.openJson}}`
    if (record.json !== '' && redactor?.hasPatterns === true) {
      record.json = redactor.redactJson(record.json)
      // A marker may be longer than the match that it replaces.
      if (record.json.length * MAX_BYTES_PER_UNIT > maxEntryBytes) return this.#mapByParsing(text, start, end)
      record.openJson = record.json.slice(0, -1)
    }
    return record
  }

  #mapByParsing(text: string, start: number, end: number): MappedRecord {
    const line = start === 0 && end === text.length ? text : text.slice(start, end)
    const { json, level, ids } = mapByParsing(line, this.#options, new Date(this.#wallNow()).toISOString())
    const record = this.#record
    record.json = level.severity < this.#threshold ? '' : json
    record.openJson = ''
    record.severity = level.severity
    record.fingerprint = ids.fingerprint
    record.hasBreadcrumbs = ids.hasBreadcrumbs
    record.isFastPath = false
    setScope(record, ids.traceId, ids.isCallersTrace, ids.requestId, ids.sessionId)
    return record
  }
}
