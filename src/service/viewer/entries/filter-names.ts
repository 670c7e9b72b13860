/** Titles of filters (pure). */
import { timeRange } from '../view-format.js'
import type { FilterName, Filters } from '../view.js'

export const FILTER_TITLES: Readonly<Record<FilterName, string>> = {
  level: 'Level',
  service: 'Service',
  environment: 'Environment',
  version: 'Version',
  release_id: 'Release',
  tag: 'Tag',
  trace_id: 'Trace',
  request_id: 'Request',
  fingerprint: 'Fingerprint',
  q: 'Text',
  since: 'Since',
  until: 'Until',
}

export interface Chip {
  readonly names: readonly FilterName[]
  readonly title: string
  readonly value: string
}

/** `since` and `until` together are one chip. */
export function createChips(filters: Filters): Chip[] {
  const { since, until } = filters
  const range = since === undefined || until === undefined ? null : rangeText(since, until)
  const single = (Object.keys(FILTER_TITLES) as FilterName[]).flatMap((name): Chip[] => {
    const value = filters[name]
    if (value === undefined || (range !== null && (name === 'since' || name === 'until'))) return []
    return [
      { names: [name], title: FILTER_TITLES[name], value: name === 'level' ? value.replaceAll(',', ', ') : value },
    ]
  })
  return range === null ? single : [...single, { names: ['since', 'until'], title: 'Time', value: range }]
}

function rangeText(since: string, until: string): string {
  const sinceMs = Date.parse(since)
  const untilMs = Date.parse(until)
  // An address may have any text in it. An invalid time is shown unchanged; the service reports the problem.
  return Number.isNaN(sinceMs + untilMs) ? `${since} – ${until}` : timeRange(sinceMs, untilMs)
}
