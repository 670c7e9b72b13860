/** The time of a filter as text (pure). */
import { timeRange } from '../view-format.js'
import type { Filter, LastRange } from '../view.js'

export const LAST_TITLES: Readonly<Record<LastRange, string>> = {
  '5m': 'Last 5 min',
  '15m': 'Last 15 min',
  '60m': 'Last 60 min',
}

/** Null if the filter has none. */
export function timeText({ last, since, until }: Pick<Filter, 'last' | 'since' | 'until'>): string | null {
  if (last !== null) return LAST_TITLES[last]
  if (since === null) return until === null ? null : `until ${until}`
  if (until === null) return `since ${since}`
  const sinceMs = Date.parse(since)
  const untilMs = Date.parse(until)
  // An address may have any text in it. An invalid time is shown unchanged; the service reports the problem.
  return Number.isNaN(sinceMs + untilMs) ? `${since} – ${until}` : timeRange(sinceMs, untilMs)
}
