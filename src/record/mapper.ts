/** The one door of this folder: a line in, an entry's JSON out. */
import type { MappingOptions, RecordIds } from './reference/entry-fields.js'
import { FastPath } from './fast/fast-path.js'
import { toPreciseSeverity } from './coerce.js'
import { mapByParsing } from './reference/reference-path.js'

const LEVEL_KEY = '{"level":'
/** pino's levels have two digits, custom ones a few more. */
const MAX_LEVEL_END = LEVEL_KEY.length + 6
const ZERO = 0x30
const NINE = 0x39
const COMMA = 0x2c
const MAX_BYTES_PER_UNIT = 3

/** What ties records together. */
export type ScopeKind = 'trace' | 'request' | 'session' | 'process'

export class Mapper {
  /** Level of the last entry, 0 to 4, debug to fatal. */
  severity = 0
  /** The same as it is compared with a lowest one: -1 for trace. */
  preciseSeverity = 0
  /** Of the last record; '' where it has none. */
  traceId = ''
  fingerprint = ''
  /** The first that the last record names: its own trace, its request, the caller's trace, its session; else the process. */
  scopeKind: ScopeKind = 'process'
  scopeId = ''
  /** Whether the last entry has crumbs of its own. */
  hasBreadcrumbs = false
  /** The last entry without the brace that closes it, where that comes for nothing; else ''. */
  openJson = ''
  /** Whether the last line was one as pino writes it: compact, nothing in it that needs a second look. */
  isFastPath = false
  #options: MappingOptions
  readonly #minPosition: number
  readonly #wallNow: () => number
  #fast: FastPath
  /** By the digits of pino's number, of which an app has a few. */
  readonly #positions = new Map<string, number>()

  /**
   * @param minPosition entries of a lower level are not made: -1 for trace, 0 to 4 for debug to fatal
   * @param wallNow ms since the epoch, for records without a time of their own.
   */
  constructor(options: MappingOptions, minPosition: number, wallNow: () => number) {
    this.#options = options
    this.#minPosition = minPosition
    this.#wallNow = wallNow
    this.#fast = new FastPath(options)
  }

  /** For every later entry that names no release itself. */
  setReleaseId(releaseId: string): void {
    this.#options = { ...this.#options, releaseId }
    this.#fast = new FastPath(this.#options)
  }

  /** To be called before the lines of another text. */
  beginText(): void {
    this.#fast.beginText()
  }

  /** Level of a line that begins as pino begins it, by a look at its beginning; undefined for others. */
  peekSeverity(text: string, start: number): number | undefined {
    if (!text.startsWith(LEVEL_KEY, start)) return undefined
    let end = start + LEVEL_KEY.length
    while (end - start < MAX_LEVEL_END && text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1
    const digits = text.slice(start + LEVEL_KEY.length, end)
    if (digits === '' || text.charCodeAt(end) !== COMMA) return undefined
    let position = this.#positions.get(digits)
    if (position === undefined)
      this.#positions.set(
        digits,
        (position = toPreciseSeverity(mapByParsing(`{"level":${digits}}`, this.#options, '').level)),
      )
    return position
  }

  /** The entry of a line, '' where its level is too low. Never throws. Within one text, lines come in rising order. */
  map(text: string, start: number, end: number): string {
    const fast = this.#fast
    if (!fast.map(text, start, end, this.#minPosition)) return this.#mapByParsing(text, start, end)
    let json = fast.openJson === '' ? '' : `${fast.openJson}}`
    if (json !== '' && this.#options.redactor?.hasPatterns === true) {
      json = this.#options.redactor.redactJson(json)
      // What takes the place of a match may be longer than it was.
      if (json.length * MAX_BYTES_PER_UNIT > this.#options.maxEntryBytes) return this.#mapByParsing(text, start, end)
    }
    this.severity = fast.severity
    this.preciseSeverity = fast.preciseSeverity
    this.fingerprint = fast.fingerprint
    this.hasBreadcrumbs = false
    this.openJson = json === '' ? '' : this.#options.redactor?.hasPatterns === true ? json.slice(0, -1) : fast.openJson
    this.isFastPath = true
    this.#setScope(fast)
    return json
  }

  #mapByParsing(text: string, start: number, end: number): string {
    const line = start === 0 && end === text.length ? text : text.slice(start, end)
    const { json, level, ids } = mapByParsing(line, this.#options, new Date(this.#wallNow()).toISOString())
    this.severity = level.severity
    this.preciseSeverity = toPreciseSeverity(level)
    this.fingerprint = ids.fingerprint
    this.hasBreadcrumbs = ids.hasBreadcrumbs
    this.openJson = ''
    this.isFastPath = false
    this.#setScope(ids)
    return this.preciseSeverity < this.#minPosition ? '' : json
  }

  /** A request knows itself better than the caller's trace, of which there may be several at once. */
  #setScope({
    traceId,
    isCallersTrace,
    requestId,
    sessionId,
  }: Pick<RecordIds, 'traceId' | 'isCallersTrace' | 'requestId' | 'sessionId'>): void {
    this.traceId = traceId
    const isTrace = traceId !== '' && (!isCallersTrace || requestId === '')
    this.scopeKind = isTrace ? 'trace' : requestId !== '' ? 'request' : sessionId !== '' ? 'session' : 'process'
    this.scopeId = isTrace ? traceId : requestId !== '' ? requestId : sessionId
  }
}
