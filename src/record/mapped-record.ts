/** The result of mapping one line. */

/** The relation by which records share breadcrumbs. */
export type ScopeKind = 'trace' | 'request' | 'session' | 'process'

/** The start of a request or its end, with an id by which it can be joined to the other; or both. */
export type RequestPart = 'none' | 'start' | 'end' | 'whole'

/** The mapper fills one object of this type for all lines: its values are valid until the next line is mapped. */
export interface MappedRecord {
  /** The entry as JSON; '' if its severity is below the threshold, unless it is the start or the end of a request. */
  json: string
  /** `json` without its closing brace if that needs no copy, else ''. */
  openJson: string
  /** Index of the level in `LEVELS`, 0 to 4 for debug to fatal; -1 for trace, which is sent as debug. */
  severity: number
  /** '' if the record has none. */
  traceId: string
  /** Fingerprint that the record itself names, or ''. */
  fingerprint: string
  /** The first of these that the record has: its own trace, its request, the caller's trace, its session; else the process. */
  scopeKind: ScopeKind
  scopeId: string
  /** Whether the entry has breadcrumbs of the record's own. */
  hasBreadcrumbs: boolean
  /** Whether the entry has a request, unless it was shortened. */
  hasRequest: boolean
  requestPart: RequestPart
  /** The framework's id of a request, which is not in `req`; '' if there is none. */
  requestId: string
  /** Whether the fast path mapped the line: its strings can be copied without decoding. */
  isFastPath: boolean
  /** Whether the line was searched for secrets, and has none in what is sent. */
  isFreeOfSecrets: boolean
}

export function createMappedRecord(): MappedRecord {
  return {
    json: '',
    openJson: '',
    severity: 0,
    traceId: '',
    fingerprint: '',
    scopeKind: 'process',
    scopeId: '',
    hasBreadcrumbs: false,
    hasRequest: false,
    requestPart: 'none',
    requestId: '',
    isFastPath: false,
    isFreeOfSecrets: false,
  }
}

/** A request identifies a record better than the caller's trace, which may have several requests at once. */
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
