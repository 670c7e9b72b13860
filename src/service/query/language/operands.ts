/** Parses numbers and times in queries (pure). */

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i

/** @returns undefined if the text is not a decimal number */
export function parseNumber(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined
}

/** A date, or a date and time. The default zone is UTC. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i

export interface TimeInterval {
  readonly startMs: number
  /** Exclusive end: the start plus the precision of the text (a day, a minute, a second or a millisecond). */
  readonly endMs: number
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** @returns undefined if the text is not a time */
export function parseTimeInterval(text: string): TimeInterval | undefined {
  const [, date, minute, second = '', zone = 'Z'] = TIME.exec(text) ?? []
  if (date === undefined) return undefined
  const startMs = Date.parse(minute === undefined ? date : `${date}T${minute}${second || ':00'}${zone.toUpperCase()}`)
  if (Number.isNaN(startMs) || !isDay(date)) return undefined
  const isWhole = !second.includes('.')
  const lengthMs = minute === undefined ? DAY_MS : second === '' ? MINUTE_MS : isWhole ? 1000 : 1
  return { startMs, endMs: startMs + lengthMs }
}

/** Whether the day exists: V8 parses February 30 as March 2. @param date `2026-01-31`, or with a six-digit year as in `toISOString()` */
export function isDay(date: string): boolean {
  return new Date(Date.parse(date)).toJSON()?.startsWith(date) === true
}

/** Whether the text is a version: `1.9.3`, `v2`, `1.10.0-rc.1`. */
export function isVersion(text: string): boolean {
  return /^v?\d/.test(text)
}

/** Whether the text can be a bound of a range. */
export function isOperand(text: string): boolean {
  return parseNumber(text) !== undefined || parseTimeInterval(text) !== undefined
}
