/** Formats the time of a filter (pure). */
import { formatTimeRange } from '../view-format.js'
import type { Filter, LastRange } from '../view.js'

export const LAST_TITLES: Readonly<Record<LastRange, string>> = {
  '5m': 'Last 5 min',
  '15m': 'Last 15 min',
  '60m': 'Last 60 min',
}

/** @returns null if the filter has no time */
export function formatTimeText({ last, since, until }: Pick<Filter, 'last' | 'since' | 'until'>): string | null {
  if (last !== null) return LAST_TITLES[last]
  if (since === null) return until === null ? null : `until ${until}`
  if (until === null) return `since ${since}`
  const sinceMs = Date.parse(since)
  const untilMs = Date.parse(until)
  // An address can contain any text. Invalid times are shown unchanged; the service reports the error.
  return Number.isNaN(sinceMs + untilMs) ? `${since} – ${until}` : formatTimeRange(sinceMs, untilMs)
}
