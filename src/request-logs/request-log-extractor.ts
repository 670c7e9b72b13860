/** The entry point of this folder: creates the JSON of the request log that an entry completes. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { RequestKeys } from '../options/settings.js'
import type { Clock } from '../shared/clock.js'
import { FASTIFY_START } from './request-joiner.js'
import type { RequestJoiner } from './request-joiner.js'
import { toSeverity, parseRequest, toRequestLog } from './request-log.js'
import { toUniqueId } from './unique-id.js'

export interface RequestLogExtractorOptions {
  readonly clock: Pick<Clock, 'wallNow'>
  /** Has completed the entries. */
  readonly joiner: RequestJoiner
  readonly requestKeys: RequestKeys
  /** Marks this process's ids; must need no escaping in JSON. Default: 12 random hexadecimal digits. */
  readonly tag?: string
  /** For requests without an id of their own. Default `crypto.randomUUID`. */
  readonly newId?: () => string
}

export interface ExtractedRequestLog {
  /** Of the request that the entry completes (interface: Request log), as JSON; undefined if it completes none. */
  readonly json: string | undefined
  /** Index in `LEVELS`: 3 for 5xx, 2 for 4xx, else 1. */
  readonly severity: number
  /** Whether the request log holds the content of the entry: with `requestLogs: 'only'` it is then not sent as a log entry. */
  readonly isCovered: boolean
}

/** Text that every entry with a request holds; other entries need not be passed to `extract`. */
export const REQUEST_MEMBER = '"request":{'

export const NO_REQUEST_LOG: ExtractedRequestLog = { json: undefined, severity: 0, isCovered: false }

export class RequestLogExtractor {
  readonly #clock: Pick<Clock, 'wallNow'>
  readonly #joiner: RequestJoiner
  readonly #requestKeys: RequestKeys
  readonly #tag: string
  readonly #newId: () => string

  constructor({ clock, joiner, requestKeys, tag, newId }: RequestLogExtractorOptions) {
    this.#clock = clock
    this.#joiner = joiner
    this.#requestKeys = requestKeys
    this.#tag = tag ?? randomBytes(6).toString('hex')
    this.#newId = newId ?? randomUUID
  }

  /** Never throws. @param entryJson as it would be sent, after redaction */
  extract(entryJson: string): ExtractedRequestLog {
    const seen = parseRequest(entryJson, this.#requestKeys)
    if (seen?.start === undefined) return NO_REQUEST_LOG
    const { id, start, end, message, hasOtherContent } = seen
    if (end === undefined) {
      return { ...NO_REQUEST_LOG, isCovered: id !== undefined && message === FASTIFY_START && !hasOtherContent }
    }
    const timestamp = seen.timestamp ?? new Date(this.#clock.wallNow()).toISOString()
    // The request with this id has not ended: this is another one, such as one that the application itself makes.
    const isOther = id === undefined || this.#joiner.isOpen(id, entryJson)
    const log = toRequestLog(start, end, seen, isOther ? this.#newId() : toUniqueId(id, this.#tag), timestamp)
    return { json: JSON.stringify(log), severity: toSeverity(end.statusCode), isCovered: !hasOtherContent }
  }
}
