/** Request ids that are unique across processes. Pure. */

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
export function toUniqueId(id: string, tag: string): string {
  const isUnique = id.length >= MIN_UNIQUE_CHARS && id.replace(WORDS, '').length >= MIN_UNIQUE_CHARS
  return isUnique ? id : `${tag}-${id}`
}
