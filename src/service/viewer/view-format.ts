/** Formats times, durations, counts and sizes (pure). */
const NUMBER = new Intl.NumberFormat('en')
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const two = (value: number): string => String(value).padStart(2, '0')
const three = (value: number): string => String(value).padStart(3, '0')

/** Local time of day: `14:03:07.512`. Invalid times stay unchanged. */
export function formatShortTime(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${three(at.getMilliseconds())}`
}

/** Local date and time: `2026-11-21 14:03:07.512`. */
export function formatFullTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : `${dateOf(at)} ${formatShortTime(iso)}`
}

/** UTC offset of local time at that moment in minutes; daylight saving time changes it. */
export function findLocalOffset(at: string | number): number {
  return 0 - new Date(at).getTimezoneOffset()
}

/** Formats a UTC offset in minutes: `UTC+1`, `UTC-3:30`, `UTC`. */
export function formatZone(aheadMinutes: number): string {
  const minutes = Math.abs(aheadMinutes)
  if (minutes === 0) return 'UTC'
  return `UTC${aheadMinutes < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${minutes % 60 === 0 ? '' : `:${two(minutes % 60)}`}`
}

/** Relative time, rounded down: `3 min ago`, `1 h 59 min ago`; `in 5 s` if clocks differ. */
export function formatAgo(iso: string, nowMs: number): string {
  const passedMs = nowMs - Date.parse(iso)
  const length = Math.abs(passedMs)
  if (length < SECOND_MS) return 'now'
  const stepMs =
    length < MINUTE_MS ? SECOND_MS : length < 10 * HOUR_MS ? MINUTE_MS : length < 2 * DAY_MS ? HOUR_MS : DAY_MS
  const text = formatDuration(Math.floor(length / stepMs) * stepMs)
  return Number.isNaN(length) ? '' : passedMs < 0 ? `in ${text}` : `${text} ago`
}

/** Formats a duration: `0.4 ms`, `12 ms`, `1.25 s`, `3 min 5 s`, `2 h 10 min`, `4 days`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return ''
  if (ms < 0) return `-${formatDuration(-ms)}`
  if (ms < 10) return `${decimals(ms, 1)} ms`
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${decimals(ms / SECOND_MS, 2)} s`
  if (ms < HOUR_MS) return inTwo(ms, MINUTE_MS, 'min', SECOND_MS, 's')
  return ms < 2 * DAY_MS ? inTwo(ms, HOUR_MS, 'h', MINUTE_MS, 'min') : `${NUMBER.format(Math.round(ms / DAY_MS))} days`
}

export function formatCount(n: number): string {
  return NUMBER.format(n)
}

/** Formats any number with about four digits: `0.0042`, `12.35`, `1,235`, `12.4K`. */
export function formatNumber(n: number): string {
  if (Math.abs(n) >= 10_000) return COMPACT.format(n)
  return Math.abs(n) < 1 ? String(Number(n.toPrecision(3))) : NUMBER.format(Number(n.toPrecision(4)))
}

export function formatShortCount(n: number): string {
  return n < 10_000 ? NUMBER.format(n) : COMPACT.format(n)
}

/** Formats a ratio: `0 %`, `0.4 %`, `12 %`. */
export function formatPercent(ratio: number): string {
  const value = ratio * 100
  return `${value !== 0 && Math.abs(value) < 10 ? decimals(value, 1) : Math.round(value)} %`
}

export function formatBytes(n: number): string {
  if (n < 1000) return `${n} B`
  if (n < 1_000_000) return `${decimals(n / 1000, 1)} kB`
  return `${decimals(n / 1_000_000, 1)} MB`
}

export function formatPlural(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`
}

/** Formats a time range. The date is shown once if both ends are on the same day; the precision depends on the length. */
export function formatTimeRange(sinceMs: number, untilMs: number): string {
  const since = new Date(sinceMs)
  const until = new Date(untilMs)
  const end = untilMs - sinceMs < 10 * SECOND_MS ? 12 : 8
  const time = (at: Date): string => formatShortTime(at.toISOString()).slice(0, end)
  const isOneDay = dateOf(since) === dateOf(until)
  return `${dateOf(since)} ${time(since)} – ${isOneDay ? '' : `${dateOf(until)} `}${time(until)}`
}

function dateOf(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

function decimals(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}

function inTwo(ms: number, bigMs: number, big: string, smallMs: number, small: string): string {
  const smalls = Math.round(ms / smallMs)
  const perBig = bigMs / smallMs
  const rest = smalls % perBig
  return `${Math.floor(smalls / perBig)} ${big}${rest === 0 ? '' : ` ${rest} ${small}`}`
}
