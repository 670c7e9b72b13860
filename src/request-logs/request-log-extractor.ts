/** The entry point of this folder: creates the JSON of the request log that an entry completes. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { RequestKeys } from '../options/settings.js'
import type { Clock } from '../shared/clock.js'
import type { RequestJoiner } from './request-joiner.js'
import { formatRequestLog, toSeverity } from './request-log.js'
import { RequestReader } from './request-reader.js'

export interface RequestLogExtractorOptions {
  readonly clock: Pick<Clock, 'wallNow'>
  /** The joiner that has already completed the entries. */
  readonly joiner: RequestJoiner
  readonly requestKeys: RequestKeys
  /** Paths without request logs; one that ends with `*` is a prefix. Default: none. */
  readonly ignore?: readonly string[]
  /** Marks the ids of this process; must not need escaping in JSON. Default: 12 random hexadecimal digits. */
  readonly tag?: string
  /** Creates ids for requests that have none. Default `crypto.randomUUID`. */
  readonly newId?: () => string
}

export interface ExtractedRequestLog {
  /**
   * The request log as JSON (interface: Request log); '' if its path is ignored, undefined if the entry does not
   * complete a request.
   */
  readonly json: string | undefined
  /** Index in `LEVELS`: 3 for 5xx, 2 for 4xx, else 1. */
  readonly severity: number
  /** Whether the request log has all content of the entry. With `requestLogs: 'only'`, such an entry is not sent. */
  readonly isCovered: boolean
}

export const NO_REQUEST_LOG: ExtractedRequestLog = { json: undefined, severity: 0, isCovered: false }

export class RequestLogExtractor {
  readonly #clock: Pick<Clock, 'wallNow'>
  readonly #joiner: RequestJoiner
  readonly #reader: RequestReader
  /** Beginnings of the path as JSON. That of a whole path contains the closing quote. */
  readonly #ignored: readonly string[]
  readonly #tag: string
  readonly #newId: () => string

  constructor({ clock, joiner, requestKeys, ignore = [], tag, newId }: RequestLogExtractorOptions) {
    this.#clock = clock
    this.#joiner = joiner
    this.#reader = new RequestReader(requestKeys)
    this.#ignored = ignore.map((path) => JSON.stringify(path).replace(/\*"$/, ''))
    this.#tag = tag ?? randomBytes(6).toString('hex')
    this.#newId = newId ?? randomUUID
  }

  /** Never throws. @param entryJson as it would be sent, after redaction; the metadata is its last member */
  extract(entryJson: string): ExtractedRequestLog {
    const seen = this.#reader.read(entryJson)
    if (seen === undefined || seen.method === '' || seen.path === '') return NO_REQUEST_LOG
    const { end, hasOtherContent } = seen
    const { id } = seen.metadata
    const isIgnored = this.#ignored.some((beginning) => seen.path.startsWith(beginning))
    if (end === undefined) {
      const isCovered = id !== '' && seen.isFastifyStart && !hasOtherContent && !isIgnored
      return { ...NO_REQUEST_LOG, isCovered }
    }
    if (isIgnored) return { ...NO_REQUEST_LOG, json: '' }
    const timestamp = seen.timestamp || `"${new Date(this.#clock.wallNow()).toISOString()}"`
    // The request with this id has not ended, so this is another request, such as one that the application makes.
    const isOther = id === '' || this.#joiner.isOpen(id, entryJson)
    const json = formatRequestLog(seen, end, isOther ? this.#newId() : toUniqueId(id, this.#tag), timestamp)
    return { json, severity: toSeverity(end.statusCode), isCovered: !hasOtherContent }
  }
}

/** UUIDs, ULIDs, trace ids and random ids have at least this many characters; counters have fewer. */
const MIN_UNIQUE_CHARS = 16
/** A prefix of words, such as `checkout-req-`. */
const WORDS = /^(?:[a-z]+[-_.:])+/i

/**
 * The interface requires a unique id (Request log, `request_id`), but Fastify's `req-1` and pino-http's `1` repeat in
 * every process. An id with fewer than 16 characters after its prefix counts as such a counter.
 * @param tag of this process
 * @returns the id, or `tag-id`
 */
function toUniqueId(id: string, tag: string): string {
  const isUnique = id.length >= MIN_UNIQUE_CHARS && id.replace(WORDS, '').length >= MIN_UNIQUE_CHARS
  return isUnique ? id : `${tag}-${id}`
}
