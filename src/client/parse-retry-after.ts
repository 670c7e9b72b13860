/** Parses `Retry-After` headers. */
import type { HttpReply } from './http-types.js'

/** Upper limit, because a longer time is probably a mistake. */
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * The time to wait after a 429 or 503, in milliseconds: seconds, or a date relative to the Date of the reply, since the clocks may
 * differ. The longest of several values counts; other values are ignored. At most 1 h.
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfterMs(reply: Pick<HttpReply, 'status' | 'headers'>, wallNowMs: number): number | undefined {
  if (reply.status !== 429 && reply.status !== 503) return undefined
  const nowMs = parseHttpDate([reply.headers['date']].flat()[0] ?? '') ?? wallNowMs
  const waits = [reply.headers['retry-after'] ?? []]
    .flat()
    .flatMap(splitValues)
    .map((value) => waitMs(value, nowMs))
    .filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.min(Math.max(...waits), MAX_RETRY_AFTER_MS)
}

/** Repeated headers may be joined by commas. A date contains a comma, too. */
function splitValues(header: string): string[] {
  return header.match(/(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,[^,]*|[^,\s][^,]*/gi)?.map((value) => value.trim()) ?? []
}

/** RFC 9110 defines whole seconds, but some services send fractions. */
function waitMs(value: string, nowMs: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const at = parseHttpDate(value)
  return at === undefined ? undefined : Math.max(at - nowMs, 0)
}

/** The current form and the two obsolete ones (RFC 9110, section 5.6.7). The last one has no zone and is UTC. */
const HTTP_DATES = [
  /^[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/i,
  /^[a-z]{6,9}, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d GMT$/i,
  /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i,
]

/** `Date.parse` alone accepts "-5" and "try 3 times". */
function parseHttpDate(value: string): number | undefined {
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? undefined : at
}
