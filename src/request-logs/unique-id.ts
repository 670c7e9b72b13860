/** Request ids that are unique across processes. Pure. */

/** UUIDs, ULIDs, trace ids and random ids have at least as many characters; counters have a few. */
const MIN_UNIQUE_CHARS = 16
/** A prefix of words, such as `checkout-req-`. */
const WORDS = /^(?:[a-z]+[-_.:])+/i

/**
 * The interface asks for a unique id (Request log, `request_id`); Fastify's `req-1` and pino-http's `1` repeat in every
 * process. An id with fewer than 16 characters after its prefix counts as such a counter.
 * @param tag of this process
 * @returns the id, or `tag-id`
 */
export function toUniqueId(id: string, tag: string): string {
  const isUnique = id.length >= MIN_UNIQUE_CHARS && id.replace(WORDS, '').length >= MIN_UNIQUE_CHARS
  return isUnique ? id : `${tag}-${id}`
}
