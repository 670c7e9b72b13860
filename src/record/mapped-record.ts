/** The result of mapping one line. */

/** The relation between records that share breadcrumbs. */
export type ScopeKind = 'trace' | 'request' | 'session' | 'process'

/** Start or end of a request, with an id that joins the two, or `whole` for both in one record. */
export type RequestPart = 'none' | 'start' | 'end' | 'whole'

/** The mapper reuses one object of this type for all lines. Its values are valid until the next line is mapped. */
export interface MappedRecord {
  /** The entry as JSON; '' if its severity is below the threshold, unless it is the start or the end of a request. */
  json: string
  /** `json` without its closing brace if that needs no copy, else ''. */
  openJson: string
  /** Index of the level in `LEVELS`, 0 to 4 for debug to fatal; -1 for trace, which is sent as debug. */
  severity: number
  /** '' if the record has none. */
  traceId: string
  /** The record's own fingerprint, or ''. */
  fingerprint: string
  /**
   * The first of these that the record has: its own trace, its request, the caller's trace, its session, the process.
   */
  scopeKind: ScopeKind
  scopeId: string
  /** Whether the record itself has breadcrumbs. */
  hasBreadcrumbs: boolean
  /** Whether the entry has a request, unless it was shortened. */
  hasRequest: boolean
  requestPart: RequestPart
  /** The framework's id of a request outside `req`; '' if there is none. */
  requestId: string
  /** Whether the fast path mapped the line, so its strings can be copied without decoding. */
  isFastPath: boolean
  /** Whether the line was searched for secrets and the sent parts have none. */
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
