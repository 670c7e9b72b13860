/** Formats the time of a filter (pure). */
import { formatTimeRange } from '../view-format.js'
import type { Filter } from '../view.js'

const UNITS: Readonly<Record<string, string>> = { s: 's', m: 'min', h: 'h', d: 'days' }

/** Formats a sliding window: `Last 5 min`. */
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
