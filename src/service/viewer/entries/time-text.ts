/** Formats and parses the time of a filter (pure). */
import { formatTimeRange } from '../view-format.js'
import { readLast } from '../view.js'
import type { Filter } from '../view.js'

const UNITS: Readonly<Record<string, string>> = { s: 's', m: 'min', h: 'h', d: 'days' }

export function formatLast(last: string): string {
  return `Last ${last.slice(0, -1)} ${UNITS[last.slice(-1)] ?? ''}`
}

/** @returns null if the filter has no time */
export function formatTimeText({ last, since, until }: Pick<Filter, 'last' | 'since' | 'until'>): string | null {
  if (last !== null) return formatLast(last)
  if (since === null) return until === null ? null : `until ${until}`
  if (until === null) return `since ${since}`
  const sinceMs = Date.parse(since)
  const untilMs = Date.parse(until)
  // An address can contain any text. Invalid times are shown unchanged; the service reports the error.
  return Number.isNaN(sinceMs + untilMs) ? `${since} – ${until}` : formatTimeRange(sinceMs, untilMs)
}

const MOMENT = /^(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:^|[ T])(\d{1,2}):(\d\d)(?::(\d\d))?)?$/

/**
 * `2h` is a sliding window; `09:00..09:30`, `2026-11-20`, `2026-11-20 18:00..19:00` are ranges in local time. Times of day that have not
 * come yet are those of yesterday.
 *
 * @returns undefined for another text
 */
export function parseTimeRange(text: string, now: Date): Pick<Filter, 'last' | 'since' | 'until'> | undefined {
  const last = readLast(text.trim().replace(/\s*min$/, 'm'))
  if (last !== null) return { last, since: null, until: null }
  const [first = '', second, ...others] = text.split('..').map((part) => part.trim())
  const from = first === '' ? null : parseMoment(first, now, now)
  // A time after a date is of that date, as in `2026-11-20 18:00..19:00`.
  const isDated = first.includes('-')
  const until = !second ? null : parseMoment(second, isDated && from ? from : now, now)
  if (others.length > 0 || from === undefined || until === undefined || (from ?? until) === null) return undefined
  const isDay = (part: string | undefined): boolean => part?.includes('-') === true && !part.includes(':')
  const end = second === undefined && isDay(first) ? from : until
  const endMs = end === null ? null : isDay(second ?? first) ? new Date(end).setDate(end.getDate() + 1) : end.getTime()
  if (from !== null && endMs !== null && endMs <= from.getTime()) return undefined
  return { last, since: from?.toISOString() ?? null, until: endMs === null ? null : new Date(endMs).toISOString() }
}

/** @param day the date of a time of day */
function parseMoment(text: string, day: Date, now: Date): Date | undefined {
  const [found, year, month = 0, date, hours = 0, minutes = 0, seconds = 0] = MOMENT.exec(text) ?? []
  if (!found) return undefined
  const at = new Date(day)
  if (year !== undefined) at.setFullYear(Number(year), Number(month) - 1, Number(date))
  at.setHours(Number(hours), Number(minutes), Number(seconds), 0)
  if (at.getHours() !== Number(hours) || at.getMinutes() !== Number(minutes)) return undefined
  if (year !== undefined && (at.getMonth() + 1 !== Number(month) || at.getDate() !== Number(date))) return undefined
  if (year === undefined && day === now && at > now) at.setDate(at.getDate() - 1)
  return at
}
