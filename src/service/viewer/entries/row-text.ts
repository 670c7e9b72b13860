/** Formats the texts of a row (pure). */
import type { EntrySummary } from '../../query/api-types.js'
import { formatDuration, formatFullTime, formatShortTime } from '../view-format.js'

const MAX_DETAILS = 4
const MINUTE_MS = 60_000

/** Returns the local date: `2026-11-21`. */
export function toLocalDay(timestamp: string): string {
  return formatFullTime(timestamp).slice(0, 10)
}

/** Formats the time of day; adds the date for other days than today, and the year for other years. */
export function formatRowTime(timestamp: string, today: string): string {
  const day = toLocalDay(timestamp)
  if (day === today) return formatShortTime(timestamp)
  const full = formatFullTime(timestamp)
  return day.slice(0, 4) === today.slice(0, 4) ? full.slice(5) : full.slice(0, 19)
}

/** Accessible name of a row: `Error, payment answered 502, 10:04:05`. */
export function formatRowName({ level, message, timestamp }: EntrySummary, today: string): string {
  const time =
    toLocalDay(timestamp) === today ? formatShortTime(timestamp).slice(0, 8) : formatFullTime(timestamp).slice(0, 19)
  return `${level.slice(0, 1).toUpperCase()}${level.slice(1)}, ${message}, ${time}`
}

/** Formats a delay: `3 min`; without seconds from 1 min. */
export function formatLate(ms: number): string {
  return formatDuration(ms < MINUTE_MS ? Math.round(ms / 1000) * 1000 : Math.floor(ms / MINUTE_MS) * MINUTE_MS)
}

/** Returns the names of details whose value is equal in all entries that have them, sorted. Needs at least two entries. */
export function findConstantDetails(entries: readonly EntrySummary[]): string[] {
  const values = new Map<string, { readonly value: unknown; isSame: boolean; count: number }>()
  for (const { details = {} } of entries) {
    for (const [name, value] of Object.entries(details)) {
      const known = values.get(name)
      if (known === undefined) values.set(name, { value, isSame: true, count: 1 })
      else {
        known.isSame &&= known.value === value
        known.count += 1
      }
    }
  }
  return [...values]
    .filter(([, { isSame, count }]) => isSame && count > 1)
    .map(([name]) => name)
    .toSorted()
}

/** Shortens a column name by removing the prefix that most names share. */
export function formatColumnTitle(name: string): string {
  return name.replace(/^metadata\./, '')
}

const DURATIONS: readonly string[] = ['duration', 'perf.duration_ms', 'request.duration_ms', 'duration_ms']

/** Adds the unit to a duration. */
export function formatColumnValue(name: string, value: string): string {
  return DURATIONS.includes(name) && value !== '' && Number.isFinite(Number(value))
    ? formatDuration(Number(value))
    : value
}

/** Returns the user and the first details that differ between rows, except those that have a column. */
export function formatRowDetails(
  { user, details = {} }: EntrySummary,
  constant: ReadonlySet<string>,
  columns: readonly string[],
): (readonly [name: string, value: string])[] {
  const isShown = (name: string): boolean => columns.includes(name) || columns.includes(`metadata.${name}`)
  const own = Object.entries(details).filter(([name]) => !constant.has(name) && !isShown(name))
  const withUser = user === undefined || isShown('user') ? own : [['user', user] as const, ...own]
  return withUser.slice(0, MAX_DETAILS).map(([name, value]) => [name, String(value)])
}
