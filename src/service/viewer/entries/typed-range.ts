/** Parses a typed time range (pure). */
import { readLast } from '../view.js'
import type { Filter } from '../view.js'

/** One end of a range. */
interface Moment {
  readonly fromMs: number
  /** End of the day, minute or second. */
  readonly toMs: number
  /** `day` for a date, `time` for a time of today, `moment` for both. */
  readonly kind: 'day' | 'time' | 'moment'
}

/**
 * `2h` is a sliding window; `09:00..09:30`, `2026-11-20`, `2026-11-20 18:00..19:00` are ranges in local time, and times
 * with an offset in that. Times of day that have not come yet are those of yesterday, and so is the start of a range
 * that would end before it.
 *
 * @returns undefined for another text
 */
export function parseTimeRange(text: string, now: Date): Pick<Filter, 'last' | 'since' | 'until'> | undefined {
  const typed = text.trim()
  const window = typed.replace(/\s*(?:min|minutes?)$/, 'm').replaceAll(' ', '')
  const last = readLast(window)
  if (last !== null) return { last, since: null, until: null }
  const [first = '', second, ...others] = typed.split('..').map((part) => part.trim())
  if (others.length > 0 || (first === '' && (second ?? '') === '')) return undefined
  // A time after a date and a time is of that date.
  const date = /^\d{4}-\d\d-\d\d(?=[ T])/.exec(first)?.[0]
  const final = second !== undefined && date !== undefined && TIME_OF_DAY.test(second) ? `${date} ${second}` : second
  for (const daysAgo of [0, 1]) {
    const from = first === '' ? null : parseMoment(first, now, daysAgo)
    const end = !final ? null : daysAgo === 0 ? parseMoment(final, now, 0) : parseEnd(final, now, from)
    if (from === undefined || end === undefined) return undefined
    const untilMs =
      final === undefined ? endOfOne(from) : end === null ? null : end.kind === 'day' ? end.toMs : end.fromMs
    const isFuture = from?.kind === 'time' && from.fromMs > now.getTime()
    if (!isFuture && (from === null || untilMs === null || untilMs > from.fromMs))
      return { last: null, since: toIso(from?.fromMs ?? null), until: toIso(untilMs) }
    // Equal times are an empty range.
    if (from?.kind !== 'time' || (end !== null && end.kind !== 'time') || untilMs === from.fromMs) return undefined
  }
  return undefined
}

/** The end of a range that began yesterday: today, unless that has not come yet. */
function parseEnd(text: string, now: Date, from: Moment | null | undefined): Moment | undefined {
  const today = parseMoment(text, now, 0)
  const yesterday = parseMoment(text, now, 1)
  const isOfYesterday = yesterday !== undefined && from && yesterday.fromMs > from.fromMs
  return isOfYesterday ? yesterday : today
}

/** A single time of day has no end. */
function endOfOne(one: Moment | null | undefined): number | null {
  return !one || one.kind === 'time' ? null : one.toMs
}

function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

const TIME = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,3})?)?`
const TIME_OF_DAY = new RegExp(`^${TIME}$`)
const DATE = new RegExp(String.raw`^([1-9]\d{3})-(\d\d)-(\d\d)(?:[ T]${TIME}(Z|[+-]\d\d:\d\d)?)?$`, 'i')

function parseMoment(text: string, now: Date, daysAgo: number): Moment | undefined {
  if (text === 'now') return { fromMs: now.getTime(), toMs: now.getTime(), kind: 'moment' }
  const time = TIME_OF_DAY.exec(text)
  const date = time === null ? DATE.exec(text) : null
  if (time === null && date === null) return undefined
  const [year = 0, month = 0, day = 0] =
    date === null ? [now.getFullYear(), now.getMonth() + 1, now.getDate() - daysAgo] : date.slice(1, 4).map(Number)
  const parts = (time?.slice(1) ?? date?.slice(4, 8) ?? []).map((part) => Number(part ?? 0))
  const [hours = 0, minutes = 0, seconds = 0, fraction = 0] = parts
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  if (date !== null && new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return undefined
  if (month < 1 || month > 12) return undefined
  const zone = date?.[8]
  const local = new Date(year, month - 1, day, hours, minutes, seconds, fraction * 1000).getTime()
  const fromMs =
    zone === undefined ? local : toUtc(Date.UTC(year, month - 1, day, hours, minutes, seconds, fraction * 1000), zone)
  if (date !== null && date[4] === undefined)
    return { fromMs, toMs: new Date(year, month - 1, day + 1).getTime(), kind: 'day' }
  return { fromMs, toMs: fromMs + (/:\d\d:/.test(text) ? 1000 : 60_000), kind: time === null ? 'moment' : 'time' }
}

/** @param zone `Z` or `+02:00` */
function toUtc(ms: number, zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  return sign === undefined ? ms : ms - (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
