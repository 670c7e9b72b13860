/** Parses a typed time range (pure). */
import { parseLast } from '../view.js'
import type { Filter } from '../view.js'

const DAY_MS = 86_400_000

/** One end of a range. */
interface Moment {
  readonly fromMs: number
  /** End of the day, minute or second. */
  readonly toMs: number
  readonly isTimeOfDay: boolean
}

/**
 * `2h` is a sliding window; `09:00..09:30`, `2026-11-20`, `2026-11-20 18:00..` are ranges in local time, and times with
 * an offset in that. A range of times of day that ends before it starts began yesterday.
 *
 * @returns undefined for another text
 */
export function parseTimeRange(text: string, now: Date): Pick<Filter, 'last' | 'since' | 'until'> | undefined {
  const typed = text.trim()
  const window = typed.replace(/\s*(?:min|minutes?)$/, 'm').replaceAll(' ', '')
  if (parseLast(window) !== null) return { last: window, since: null, until: null }
  const [first = '', second, ...others] = typed.split('..').map((part) => part.trim())
  if (others.length > 0 || (first === '' && (second ?? '') === '')) return undefined
  const from = first === '' ? null : parseMoment(first, now)
  const to = second === undefined ? from : second === '' ? null : parseMoment(second, now)
  if (from === undefined || to === undefined) return undefined
  // A single time of day has no end.
  const untilMs =
    to === null || (second === undefined && to.isTimeOfDay) ? null : second === undefined ? to.toMs : endOf(to)
  let sinceMs = from === null ? null : from.fromMs
  if (sinceMs !== null && untilMs !== null && untilMs <= sinceMs) {
    if (from?.isTimeOfDay !== true || to?.isTimeOfDay !== true) return undefined
    sinceMs -= DAY_MS
  }
  return { last: null, since: toIso(sinceMs), until: toIso(untilMs) }
}

/** A date includes its day; a time ends the range. */
function endOf({ fromMs, toMs }: Moment): number {
  return toMs - fromMs > DAY_MS / 2 ? toMs : fromMs
}

function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

const TIME = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,3})?)?`
const TIME_OF_DAY = new RegExp(`^${TIME}$`)
const DATE = new RegExp(String.raw`^(\d{4})-(\d\d)-(\d\d)(?:[ T]${TIME}(Z|[+-]\d\d:\d\d)?)?$`, 'i')

function parseMoment(text: string, now: Date): Moment | undefined {
  if (text === 'now') return { fromMs: now.getTime(), toMs: now.getTime(), isTimeOfDay: false }
  const time = TIME_OF_DAY.exec(text)
  const date = time === null ? DATE.exec(text) : null
  if (time === null && date === null) return undefined
  const [year, month, day] =
    date === null ? [now.getFullYear(), now.getMonth() + 1, now.getDate()] : date.slice(1, 4).map(Number)
  const [hours, minutes, seconds, fraction] = (time?.slice(1) ?? date?.slice(4, 8) ?? []).map((part) =>
    Number(part ?? 0),
  )
  const hasTime = time !== null || date?.[4] !== undefined
  const at = new Date(year as number, (month as number) - 1, day, hours, minutes, seconds, (fraction ?? 0) * 1000)
  const isValid =
    at.getMonth() === (month as number) - 1 &&
    at.getDate() === day &&
    at.getHours() === (hours ?? 0) &&
    at.getMinutes() === (minutes ?? 0)
  if (!isValid) return undefined
  const fromMs = date?.[8] === undefined ? at.getTime() : Date.parse(text.replace(' ', 'T'))
  if (Number.isNaN(fromMs)) return undefined
  const nextDay = new Date(year as number, (month as number) - 1, (day as number) + 1).getTime()
  const lengthMs = hasTime ? (/:\d\d:/.test(text) ? 1000 : 60_000) : nextDay - fromMs
  return { fromMs, toMs: fromMs + lengthMs, isTimeOfDay: time !== null }
}
