/** How long a reply asks to wait. Pure. */
import type { HttpReply } from './http-types.js'

/** A longer wait is a mistake, or a date of another century. */
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * The wait that a 429 or 503 asks for, in milliseconds: seconds, or a date read against the reply's own Date, since the
 * two clocks may differ. Of several values the longest counts; what is neither is no wish. At most 1 h.
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

/** Repeated headers may be joined by commas, and a date has one of its own, after the day's name. */
function splitValues(header: string): string[] {
  return header.match(/(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,[^,]*|[^,\s][^,]*/gi)?.map((value) => value.trim()) ?? []
}

/** RFC 9110 has whole seconds; some services send fractions. */
function waitMs(value: string, nowMs: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const at = parseHttpDate(value)
  return at === undefined ? undefined : Math.max(at - nowMs, 0)
}

/** Today's form and the two obsolete ones (RFC 9110, section 5.6.7); the last has no zone and is UTC. */
const HTTP_DATES = [
  /^[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/i,
  /^[a-z]{6,9}, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d GMT$/i,
  /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i,
]

/** `Date.parse` alone reads a date into "-5" and into "try 3 times". */
function parseHttpDate(value: string): number | undefined {
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? undefined : at
}
