/** Request ids that no other process gives. Pure. */

/** UUIDs, ULIDs, trace ids and the random ids in use have as many characters and more; counters have a few. */
const MIN_UNIQUE_CHARS = 16
/** Words before the id itself, as `checkout-req-`. */
const WORDS = /^(?:[a-z]+[-_.:])+/i

/**
 * The interface asks for a unique id (Request log, `request_id`); Fastify's `req-1` and pino-http's `1` begin anew in every
 * process. One with fewer than 16 characters behind its words is taken for such a counter.
 * @param tag of this process
 * @returns the id, or `tag-id`
 */
export function toUniqueId(id: string, tag: string): string {
  return id.replace(WORDS, '').length >= MIN_UNIQUE_CHARS ? id : `${tag}-${id}`
}
