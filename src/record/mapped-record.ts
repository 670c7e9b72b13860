/** The result of mapping one line. */

/** The relation between records that share breadcrumbs. */
export type ScopeKind = 'trace' | 'request' | 'session' | 'process'

/** Start or end of a request, with an id that joins the two, or `whole` for both in one record. */
export type RequestPart = 'none' | 'start' | 'end' | 'whole'

/** Bytes of an entry in memory that the next entry overwrites. */
export interface EntryBytes {
  readonly memory: Buffer
  readonly start: number
  readonly end: number
}

/** The mapper reuses one object for all lines. Its values are valid until the next line is mapped. */
export class MappedRecord {
  /** The entry, until `json` is read or set. */
  bytes: EntryBytes | undefined
  #json = ''
  /** Index of the level in `LEVELS`, 0 to 4 for debug to fatal; -1 for trace, which is sent as debug. */
  severity = 0
  /** '' if the record has none. */
  traceId = ''
  /** The record's own fingerprint, or ''. */
  fingerprint = ''
  /**
   * The first of these that the record has: its own trace, its request, the caller's trace, its session, the process.
   */
  scopeKind: ScopeKind = 'process'
  scopeId = ''
  /** Whether the record itself has breadcrumbs. */
  hasBreadcrumbs = false
  /** Whether the entry has a request, unless it was shortened. */
  hasRequest = false
  requestPart: RequestPart = 'none'
  /** The framework's id of a request outside `req`; '' if there is none. */
  requestId = ''
  /** Whether the kernel mapped the line. */
  isMappedByKernel = false
  /** Whether the line was searched for secrets and the sent parts have none. */
  isFreeOfSecrets = false

  /** The entry as JSON; '' if its severity is below the threshold, unless it is the start or the end of a request. */
  get json(): string {
    const { bytes } = this
    if (bytes !== undefined) {
      this.bytes = undefined
      this.#json = bytes.memory.toString('utf8', bytes.start, bytes.end)
    }
    return this.#json
  }

  set json(text: string) {
    this.bytes = undefined
    this.#json = text
  }

  /** Whether there is no entry. */
  get isEmpty(): boolean {
    return this.bytes === undefined && this.#json === ''
  }
}

/** A request takes precedence over the caller's trace, which may have several concurrent requests. */
export function setScope(
  record: MappedRecord,
  traceId: string,
  isCallersTrace: boolean,
  requestId: string,
  sessionId: string,
): void {
  record.traceId = traceId
  if (traceId !== '' && (!isCallersTrace || requestId === '')) {
    record.scopeKind = 'trace'
    record.scopeId = traceId
  } else if (requestId !== '') {
    record.scopeKind = 'request'
    record.scopeId = requestId
  } else {
    record.scopeKind = sessionId === '' ? 'process' : 'session'
    record.scopeId = sessionId
  }
}

export function toRequestPart(hasStart: boolean, hasEnd: boolean, hasId: boolean): RequestPart {
  if (!hasId || !(hasStart || hasEnd)) return 'none'
  return hasStart ? (hasEnd ? 'whole' : 'start') : 'end'
}
