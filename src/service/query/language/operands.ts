/** Parses numbers, durations and times in queries (pure). */

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i

/** @returns undefined if the text is not a decimal number */
export function parseNumber(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined
}

const DURATION = /^(-?(?:\d+(?:\.\d+)?|\.\d+))(ms|s|m|min|h)$/
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/** Milliseconds of a number with a unit: `10m`, `-1.5h`. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ''] = DURATION.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * (UNITS_MS[unit] as number)
}

/** A date, or a date and time. The default zone is UTC. The year can have six digits, as in `toISOString()`. */
const TIME = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i

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
function isDay(date: string): boolean {
  return new Date(Date.parse(date)).toJSON()?.startsWith(date) === true
}

/** Whether the text can be a bound of a range. */
export function isOperand(text: string): boolean {
  return [parseNumber, parseDuration, parseTimeInterval].some((parse) => parse(text) !== undefined)
}
