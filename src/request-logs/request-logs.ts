/** The one door of this folder: an entry's JSON in, the JSON of the request log that it completes out. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.js'
import { Join } from './join.js'
import { rankOf, readRequest, toRequestLog } from './request-log.js'
import type { Opening, SeenRequest } from './request-log.js'
import { uniqueId } from './unique-id.js'

export interface RequestLogsOptions {
  readonly clock: Pick<Clock, 'now' | 'wallNow'>
  /** Marks this process's ids; must need no escaping in JSON. Default: 12 random hexadecimal digits. */
  readonly tag?: string
  /** For requests without an id of their own. Default `crypto.randomUUID`. */
  readonly newId?: () => string
}

export interface TakenEntry {
  /** Of the request that the entry completes (interface: Request log), as JSON; undefined where it completes none. */
  readonly json: string | undefined
  /** Position in `LEVELS`: 3 for 5xx, 2 for 4xx, else 1. */
  readonly rank: number
  /** Whether request analytics has, or will have, what the entry says: with `requestLogs: 'only'` it is no log entry. */
  readonly isCovered: boolean
}

/** What an entry with a request holds; all others need not be given to `take`. */
export const REQUEST_MARK = '"request":{'

/** What Fastify calls its first record of a request. */
const FASTIFY_OPENING = 'incoming request'

const NONE: TakenEntry = { json: undefined, rank: 0, isCovered: false }

export class RequestLogs {
  readonly #clock: Pick<Clock, 'now' | 'wallNow'>
  readonly #tag: string
  readonly #newId: () => string
  readonly #join: Join

  constructor({ clock, tag, newId }: RequestLogsOptions) {
    this.#clock = clock
    this.#tag = tag ?? randomBytes(6).toString('hex')
    this.#newId = newId ?? randomUUID
    this.#join = new Join(clock)
  }

  /**
   * Entries come in the order in which they were logged. Never throws.
   * @param entryJson as it would be sent: what is to be scrubbed from it was scrubbed before
   */
  take(entryJson: string): TakenEntry {
    const seen = readRequest(entryJson)
    if (seen === undefined) return NONE
    return seen.ending === undefined ? this.#begin(seen) : this.#complete(seen, seen.ending)
  }

  /**
   * Whatever carries a request may be its first half. But a record in the midst of a request may tell of another one, which it
   * makes itself: so the first counts, and Fastify's own before all.
   */
  #begin({ id, opening, message, saysMore }: SeenRequest): TakenEntry {
    if (id === undefined || opening === undefined) return NONE
    const isFastify = message === FASTIFY_OPENING
    if (isFastify || this.#join.peek(id) === undefined) this.#join.open(id, opening)
    return { ...NONE, isCovered: isFastify && !saysMore }
  }

  #complete(seen: SeenRequest, ending: NonNullable<SeenRequest['ending']>): TakenEntry {
    const { id } = seen
    const begun = id === undefined ? undefined : this.#join.peek(id)
    const opening = seen.opening ?? begun
    if (opening === undefined) return NONE
    // What tells of another request with the same id, as one that was made meanwhile, does not end this one, nor takes its id.
    const isOther = begun !== undefined && !isSame(opening, begun)
    if (id !== undefined && !isOther) this.#join.close(id)
    const timestamp = seen.timestamp ?? new Date(this.#clock.wallNow()).toISOString()
    const requestId = id === undefined || isOther ? this.#newId() : uniqueId(id, this.#tag)
    const log = toRequestLog(opening, ending, seen, requestId, timestamp)
    return { json: JSON.stringify(log), rank: rankOf(ending.statusCode), isCovered: !seen.saysMore }
  }
}

function isSame(one: Opening, other: Opening): boolean {
  return one.method === other.method && one.path === other.path
}
