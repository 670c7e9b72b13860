/** The result of mapping one line. */
import type { ScopeHash } from './scope.js'

/** Start or end of a request, with an id that joins the two, or `whole` for both in one record. */
export type RequestPart = 'none' | 'start' | 'end' | 'whole'

/** Bytes of an entry, or of several that are separated by commas, in memory that the next ones overwrite. */
export interface EntryBytes {
  readonly memory: Buffer
  readonly start: number
  readonly end: number
}

/** The mapper reuses one object for all lines. Its values are valid until the next line is mapped. */
export class MappedRecord {
  /** The entry, until `json` is set. */
  bytes: EntryBytes | undefined
  #json: string | undefined
  /** Index of the level in `LEVELS`, 0 to 4 for debug to fatal; -1 for trace, which is sent as debug. */
  severity = 0
  traceId = ''
  fingerprint = ''
  readonly scope: ScopeHash = { one: 0, other: 0 }
  /** Whether the record itself has breadcrumbs. */
  hasBreadcrumbs = false
  /** Whether the entry has a request, unless it was shortened. */
  hasRequest = false
  requestPart: RequestPart = 'none'
  /** The framework's id of a request outside `req`; '' if there is none. */
  requestId = ''
  isMappedByKernel = false
  /** Whether the kernel searched the line for secrets, and the sent parts have none. */
  isFreeOfSecrets = false

  /** The entry as JSON; '' if its severity is below the threshold, unless it is the start or the end of a request. */
  get json(): string {
    return (this.#json ??= this.bytes?.memory.toString('utf8', this.bytes.start, this.bytes.end) ?? '')
  }

  set json(text: string) {
    this.bytes = undefined
    this.#json = text
  }

  /** Sets the entry, which is decoded when `json` is read. */
  setBytes(bytes: EntryBytes): void {
    this.bytes = bytes
    this.#json = undefined
  }

  get isEmpty(): boolean {
    return this.bytes === undefined && this.json === ''
  }
}

export function toRequestPart(hasStart: boolean, hasEnd: boolean, hasId: boolean): RequestPart {
  if (!hasId || !(hasStart || hasEnd)) return 'none'
  return hasStart ? (hasEnd ? 'whole' : 'start') : 'end'
}
