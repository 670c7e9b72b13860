/**
 * Joins the records of one request: Fastify logs two, and only the first has method, URL and address. Works on the text
 * of the entries, because parsing both would take three times as long as mapping them.
 */
import type { RequestKeys } from '../options/settings.js'
import type { LogEntry } from '../protocol/log-entry.js'
import type { MappedRecord } from '../record/mapped-record.js'
import { MemberCursor, joinMembers } from '../record/member-cursor.js'
import { listRequestPartKeys } from '../record/reference/entry-request.js'
import { shortenToFit } from '../record/shorten-entry.js'
import type { Clock } from '../shared/clock.js'
import { findValueEnd } from '../shared/json-scan.js'
import { FASTIFY_START } from './request-log.js'
import { RequestStarts } from './request-starts.js'
import type { RequestStart } from './request-starts.js'

export interface RequestJoinerOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly requestKeys: RequestKeys
  readonly maxEntryBytes: number
}

const FASTIFY_MEMBER = `"message":"${FASTIFY_START}"`
/** The messages of Fastify's second record. */
const FASTIFY_END = /"message":"request (?:completed|errored)"/

/**
 * Members before these contain no objects with such keys, so the first occurrence is the entry's own. Without the
 * opening quote, because V8 searches for a rare first character four times as fast.
 */
const REQUEST = 'request":{'
const METADATA = 'metadata":{'
const ERROR = 'error":{'
const DURATION = '"duration_ms":'
const PROCESS_KEYS = ['pid', 'hostname']
/** The start of the metadata as pino writes it. */
const PROCESS = /"pid":\d+,"hostname":"[^"\\]*"/y
/** Start for several concurrent requests under one key. */
const UNKNOWN_START = { request: '', metadata: '' }

export class RequestJoiner {
  readonly #maxEntryBytes: number
  /** Members of the metadata that belong to the start. */
  readonly #startKeys: readonly string[]
  readonly #starts: RequestStarts
  readonly #members = new MemberCursor()
  /** Start of the metadata in the latest record with a process, and the part of the key derived from it. */
  #process = ''
  #processKey = ''

  constructor({ clock, requestKeys, maxEntryBytes }: RequestJoinerOptions) {
    this.#maxEntryBytes = maxEntryBytes
    this.#startKeys = ['route', ...listRequestPartKeys(requestKeys)]
    this.#starts = new RequestStarts(clock)
  }

  /**
   * Completes the entry of a record that has a response and no request. Records must arrive in the order in which they
   * were logged. Never throws.
   *
   * @param record whose `json` is already redacted, since a start is stored without its secrets
   */
  join(record: MappedRecord): void {
    const { requestPart, requestId } = record
    if (record.isEmpty || (requestPart !== 'start' && !this.hasStarts)) return
    const { json } = record
    const metadataAt = findMetadata(json)
    const key = this.#toKey(requestId, json, metadataAt)
    const known = this.#starts.get(key)
    if (requestPart === 'start') {
      // A later record may describe a request that the application makes, so the first record wins. Fastify's own
      // record always wins.
      const isFastify = json.startsWith(FASTIFY_MEMBER, json.indexOf(',') + 1)
      if (isFastify && known !== undefined && known.fastifyCount > 0)
        this.#starts.set(key, { ...UNKNOWN_START, fastifyCount: known.fastifyCount + 1 })
      else if (known === undefined || isFastify) this.#begin(key, json, metadataAt, isFastify)
      return
    }
    const requestAt = findRequest(json)
    if (known === undefined || requestAt === -1) return
    const request = requestIn(json, requestAt)
    if (request === '') return
    const hasEnded = request.includes(DURATION)
    // Other records may describe the response of a service that the application calls. Fastify's own record of an error
    // has no duration.
    if (known.fastifyCount > 0 && requestPart === 'end' && !FASTIFY_END.test(json)) {
      if (hasEnded || !json.includes(ERROR)) return
    }
    const isOther = requestPart === 'whole' && !isSame(request, known.request)
    if (hasEnded && !isOther) this.#end(key, known)
    if (requestPart === 'whole' || known.request === '') return
    const completed = `${json.slice(0, requestAt)}${known.request},${json.slice(requestAt)}`
    const completedAt = metadataAt === -1 ? -1 : metadataAt + completed.length - json.length
    record.json = shortenToFit(
      this.#addMetadata(completed, completedAt, known, record.hasBreadcrumbs),
      this.#maxEntryBytes,
    )
  }

  /** Whether a request has started and not ended. */
  get hasStarts(): boolean {
    return this.#starts.size > 0
  }

  /** Whether the request has started and not ended. @param id as in `MappedRecord` */
  isOpen(id: string, entryJson: string): boolean {
    if (!this.hasStarts) return false
    return this.#starts.get(this.#toKey(id, entryJson, findMetadata(entryJson))) !== undefined
  }

  #end(key: string, known: RequestStart): void {
    if (known.fastifyCount > 1) this.#starts.set(key, { ...known, fastifyCount: known.fastifyCount - 1 })
    else this.#starts.delete(key)
  }

  #begin(key: string, json: string, metadataAt: number, isFastify: boolean): void {
    const request = requestIn(json, findRequest(json))
    // A shortened entry has no request; one with a duration is an end.
    if (request === '' || request.includes(DURATION)) return
    const metadata = this.#membersOf(json, metadataAt, this.#startKeys)
    this.#starts.set(key, { request, metadata, fastifyCount: isFastify ? 1 : 0 })
  }

  /** Skipped if the record has its own breadcrumbs, which may contain an object named like the metadata. */
  #addMetadata(json: string, at: number, { metadata }: RequestStart, hasBreadcrumbs: boolean): string {
    if (metadata === '' || hasBreadcrumbs || this.#membersOf(json, at, this.#startKeys) !== '') return json
    if (at === -1) return `${json.slice(0, -1)},"${METADATA}${metadata}}}`
    return json.slice(0, at) + joinMembers(metadata, json.slice(at))
  }

  /** Several processes that log to one transport may use the same ids. */
  #toKey(id: string, json: string, metadataAt: number): string {
    if (this.#process === '' || json.slice(metadataAt, metadataAt + this.#process.length) !== this.#process) {
      PROCESS.lastIndex = Math.max(metadataAt, 0)
      this.#process = PROCESS.exec(json)?.[0] ?? ''
      this.#processKey = PROCESS_KEYS.map((key) => this.#membersOf(json, metadataAt, [key])).join(' ')
    }
    return `${id} ${this.#processKey}`
  }

  /** Members with these keys. @param at start of the metadata's members; -1 if there are none */
  #membersOf(json: string, at: number, keys: readonly string[]): string {
    let found = ''
    const member = this.#members.open(json, at === -1 ? json.length : at - 1, json.length)
    while (member.next() && member.skipValue())
      if (keys.includes(member.key())) found = joinMembers(found, member.member())
    return found
  }
}

/** Start of the members of the entry's request; -1 if it has none. */
function findRequest(json: string): number {
  const at = json.indexOf(REQUEST)
  return at === -1 ? -1 : at + REQUEST.length
}

function findMetadata(json: string): number {
  const at = json.indexOf(METADATA)
  return at === -1 ? -1 : at + METADATA.length
}

function requestIn(json: string, at: number): string {
  const end = at === -1 ? -1 : findValueEnd(json, at - 1, json.length)
  return end === -1 ? '' : json.slice(at, end - 1)
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((members) => JSON.parse(`{${members}}`) as NonNullable<LogEntry['request']>)
  return first?.method === second?.method && first?.path === second?.path
}
