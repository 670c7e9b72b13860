/** Joins the records of one request: Fastify logs it in two, and only the first has method, URL and address. */
import type { RequestKeys } from '../options/settings.js'
import type { EntryRequest, Json, JsonObject, LogEntry } from '../protocol/log-entry.js'
import type { MappedRecord } from '../record/mapped-record.js'
import { requestPartKeys } from '../record/reference/entry-request.js'
import { shortenToFit } from '../record/shorten-entry.js'
import type { Clock } from '../shared/clock.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import { parseRequestId } from './request-log.js'
import { RequestStarts } from './request-starts.js'

export interface RequestJoinerOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly requestKeys: RequestKeys
  readonly maxEntryBytes: number
}

/** The parts of the first entry that the others lack. */
interface RequestStart {
  readonly request: EntryRequest
  readonly metadata: JsonObject
}

/** The message of Fastify's first record of a request. */
export const FASTIFY_START = 'incoming request'

export class RequestJoiner {
  readonly #requestKeys: RequestKeys
  readonly #maxEntryBytes: number
  readonly #starts: RequestStarts

  constructor({ clock, requestKeys, maxEntryBytes }: RequestJoinerOptions) {
    this.#requestKeys = requestKeys
    this.#maxEntryBytes = maxEntryBytes
    this.#starts = new RequestStarts(clock)
  }

  /**
   * Completes the entry of a record that has a response and no request. Records must come in the order in which they were
   * logged. Never throws.
   *
   * @param record whose `json` is as it would be sent: a start is kept without its secrets
   */
  join(record: MappedRecord): void {
    if (record.json === '' || (record.requestPart === 'whole' && this.#starts.size === 0)) return
    const entry = parseExact(record.json) as LogEntry
    const key = parseRequestId(entry, this.#requestKeys)?.key
    const { request } = entry
    if (key === undefined || request === undefined) return // an entry that was shortened
    const known = this.#starts.get(key)
    const hasStart = (request.method ?? request.path ?? request.url) !== undefined
    if (hasStart && request.status_code === undefined) {
      // A later record may describe a request that the application itself makes: so the first wins, and Fastify's own always does.
      if (known === undefined || entry.message === FASTIFY_START) this.#starts.set(key, this.#startOf(entry, request))
      return
    }
    if (known === undefined) return
    const start = parseExact(known) as RequestStart
    const isOther = hasStart && (request.method !== start.request.method || request.path !== start.request.path)
    if (request.duration_ms !== undefined && !isOther) this.#starts.delete(key)
    if (hasStart) return
    record.json = shortenToFit(stringifyExact(complete(entry, start)), this.#maxEntryBytes)
    record.openJson = ''
  }

  /** Whether the request has begun and not ended. @param key see `RequestId` */
  isOpen(key: string): boolean {
    return this.#starts.get(key) !== undefined
  }

  #startOf({ metadata = {} }: LogEntry, { duration_ms: _durationMs, ...request }: EntryRequest): string {
    const kept = ['route', ...requestPartKeys(this.#requestKeys)].filter((key) => Object.hasOwn(metadata, key))
    const start: RequestStart = {
      request,
      metadata: Object.fromEntries(kept.map((key) => [key, metadata[key] as Json])),
    }
    return stringifyExact(start)
  }
}

function complete(entry: LogEntry, { request, metadata }: RequestStart): LogEntry {
  const completed = { ...entry, request: { ...request, ...entry.request } }
  if (Object.keys(metadata).length > 0) completed.metadata = { ...entry.metadata, ...metadata, ...entry.metadata }
  return completed
}
