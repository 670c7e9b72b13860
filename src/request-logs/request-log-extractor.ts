/** The entry point of this folder: creates the JSON of the request log that an entry completes. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.js'
import { RequestJoiner } from './request-joiner.js'
import { toSeverity, parseRequest, toRequestLog } from './request-log.js'
import type { RequestStart, LoggedRequest } from './request-log.js'
import { toUniqueId } from './unique-id.js'

export interface RequestLogExtractorOptions {
  readonly clock: Pick<Clock, 'now' | 'wallNow'>
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

/** The message of Fastify's first record of a request. */
const FASTIFY_OPENING = 'incoming request'

const NONE: ExtractedRequestLog = { json: undefined, severity: 0, isCovered: false }

export class RequestLogExtractor {
  readonly #clock: Pick<Clock, 'now' | 'wallNow'>
  readonly #tag: string
  readonly #newId: () => string
  readonly #join: RequestJoiner

  constructor({ clock, tag, newId }: RequestLogExtractorOptions) {
    this.#clock = clock
    this.#tag = tag ?? randomBytes(6).toString('hex')
    this.#newId = newId ?? randomUUID
    this.#join = new RequestJoiner(clock)
  }

  /**
   * Entries must come in the order in which they were logged. Never throws.
   * @param entryJson as it would be sent, after redaction
   */
  extract(entryJson: string): ExtractedRequestLog {
    const seen = parseRequest(entryJson)
    if (seen === undefined) return NONE
    return seen.end === undefined ? this.#begin(seen) : this.#complete(seen, seen.end)
  }

  /**
   * Any record with a request may be the first of two. A later record may describe another request, which the application itself
   * makes: so the first record wins, and Fastify's own always does.
   */
  #begin({ id, start, message, hasOtherContent }: LoggedRequest): ExtractedRequestLog {
    if (id === undefined || start === undefined) return NONE
    const isFastify = message === FASTIFY_OPENING
    if (isFastify || this.#join.get(id) === undefined) this.#join.set(id, start)
    return { ...NONE, isCovered: isFastify && !hasOtherContent }
  }

  #complete(seen: LoggedRequest, ending: NonNullable<LoggedRequest['end']>): ExtractedRequestLog {
    const { id } = seen
    const begun = id === undefined ? undefined : this.#join.get(id)
    const start = seen.start ?? begun
    if (start === undefined) return NONE
    // A record of another request with the same id, such as an outgoing one, does not complete this request and does not get its id.
    const isOther = begun !== undefined && !isSame(start, begun)
    if (id !== undefined && !isOther) this.#join.delete(id)
    const timestamp = seen.timestamp ?? new Date(this.#clock.wallNow()).toISOString()
    const requestId = id === undefined || isOther ? this.#newId() : toUniqueId(id, this.#tag)
    const log = toRequestLog(start, ending, seen, requestId, timestamp)
    return { json: JSON.stringify(log), severity: toSeverity(ending.statusCode), isCovered: !seen.hasOtherContent }
  }
}

function isSame(one: RequestStart, other: RequestStart): boolean {
  return one.method === other.method && one.path === other.path
}
