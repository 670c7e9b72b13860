/**
 * Joins the records of one request: Fastify logs it in two, and only the first has method, URL and address. Works on the text of the
 * entries: parsing both would take three times as long as mapping them.
 */
import type { RequestKeys } from '../options/settings.js'
import type { LogEntry } from '../protocol/log-entry.js'
import type { MappedRecord } from '../record/mapped-record.js'
import { MemberCursor, joinMembers } from '../record/member-cursor.js'
import { requestPartKeys } from '../record/reference/entry-request.js'
import { shortenToFit } from '../record/shorten-entry.js'
import type { Clock } from '../shared/clock.js'
import { findValueEnd } from '../shared/json-scan.js'
import { RequestStarts } from './request-starts.js'
import type { RequestStart } from './request-starts.js'

export interface RequestJoinerOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly requestKeys: RequestKeys
  readonly maxEntryBytes: number
}

/** The message of Fastify's first record of a request. */
export const FASTIFY_START = 'incoming request'
const FASTIFY_MEMBER = `"message":"${FASTIFY_START}"`
/** The messages of its second record. */
const FASTIFY_END = /"message":"request (?:completed|errored)"/

/** The members before it hold no objects, so that the first occurrence is the entry's own. */
const REQUEST = '"request":{'
const METADATA = '"metadata":{'
const ERROR = '"error":{'
const DURATION = '"duration_ms":'
const PROCESS_KEYS = ['pid', 'hostname']
/** Of several requests under one key. */
const UNKNOWN_START = { request: '', metadata: '' }

export class RequestJoiner {
  readonly #maxEntryBytes: number
  /** Members of the metadata that belong to the start. */
  readonly #startKeys: readonly string[]
  readonly #starts: RequestStarts
  readonly #members = new MemberCursor()

  constructor({ clock, requestKeys, maxEntryBytes }: RequestJoinerOptions) {
    this.#maxEntryBytes = maxEntryBytes
    this.#startKeys = ['route', ...requestPartKeys(requestKeys)]
    this.#starts = new RequestStarts(clock)
  }

  /**
   * Completes the entry of a record that has a response and no request. Records must come in the order in which they were
   * logged. Never throws.
   *
   * @param record whose `json` is as it would be sent: a start is kept without its secrets
   */
  join(record: MappedRecord): void {
    const { json, requestPart, requestId } = record
    if (json === '' || (requestPart !== 'start' && this.#starts.size === 0)) return
    const key = this.#toKey(requestId, json)
    const known = this.#starts.get(key)
    if (requestPart === 'start') {
      // A later record may describe a request that the application itself makes: so the first wins, and Fastify's own always does.
      const isFastify = json.includes(FASTIFY_MEMBER)
      if (isFastify && known !== undefined && known.fastifyCount > 0)
        this.#starts.set(key, { ...UNKNOWN_START, fastifyCount: known.fastifyCount + 1 })
      else if (known === undefined || isFastify) this.#begin(key, json, isFastify)
      return
    }
    const request = requestIn(json)
    if (known === undefined || request === '') return
    // Other records may be of the answer of a service that the application calls. Fastify's own of an error has no duration.
    const isError = json.includes(ERROR) && !request.includes(DURATION)
    if (known.fastifyCount > 0 && requestPart === 'end' && !FASTIFY_END.test(json) && !isError) return
    const isOther = requestPart === 'whole' && !isSame(request, known.request)
    if (request.includes(DURATION) && !isOther) this.#end(key, known)
    if (requestPart === 'whole' || known.request === '') return
    const completed = json.replace(REQUEST, () => `${REQUEST}${known.request},`)
    record.json = shortenToFit(this.#addMetadata(completed, known, record.hasBreadcrumbs), this.#maxEntryBytes)
    record.openJson = ''
  }

  /** Whether the request has begun and not ended. @param id as in `MappedRecord` */
  isOpen(id: string, entryJson: string): boolean {
    return this.#starts.get(this.#toKey(id, entryJson)) !== undefined
  }

  #end(key: string, known: RequestStart): void {
    if (known.fastifyCount > 1) this.#starts.set(key, { ...known, fastifyCount: known.fastifyCount - 1 })
    else this.#starts.delete(key)
  }

  #begin(key: string, json: string, isFastify: boolean): void {
    const request = requestIn(json)
    // An entry that was shortened has none; a duration is of the end.
    if (request === '' || request.includes(DURATION)) return
    let metadata = ''
    for (const member of this.#startMembers(json)) metadata = joinMembers(metadata, member)
    this.#starts.set(key, { request, metadata, fastifyCount: isFastify ? 1 : 0 })
  }

  /** Breadcrumbs of the record's own may hold any object, also one that is called like the metadata. */
  #addMetadata(json: string, { metadata }: RequestStart, hasBreadcrumbs: boolean): string {
    if (metadata === '' || hasBreadcrumbs || this.#startMembers(json).length > 0) return json
    const at = json.indexOf(METADATA)
    if (at === -1) return `${json.slice(0, -1)},${METADATA}${metadata}}}`
    const inside = at + METADATA.length
    return json.slice(0, inside) + joinMembers(metadata, json.slice(inside))
  }

  #startMembers(json: string): string[] {
    return this.#membersOf(json, this.#startKeys)
  }

  /** Processes that log to one transport have the same ids. */
  #toKey(id: string, json: string): string {
    return [id, ...this.#membersOf(json, PROCESS_KEYS).toSorted()].join(' ')
  }

  /** Of the metadata. */
  #membersOf(json: string, keys: readonly string[]): string[] {
    const found: string[] = []
    const at = json.indexOf(METADATA)
    const member = this.#members.open(json, at === -1 ? json.length : at + METADATA.length - 1, json.length)
    while (member.next() && member.skipValue()) if (keys.includes(member.key())) found.push(member.member())
    return found
  }
}

/** Members of the entry's request; '' if it has none. */
function requestIn(json: string): string {
  const at = json.indexOf(REQUEST)
  if (at === -1) return ''
  const start = at + REQUEST.length
  const end = findValueEnd(json, start - 1, json.length)
  return end === -1 ? '' : json.slice(start, end - 1)
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((members) => JSON.parse(`{${members}}`) as NonNullable<LogEntry['request']>)
  return first?.method === second?.method && first?.path === second?.path
}
