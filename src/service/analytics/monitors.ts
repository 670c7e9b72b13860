/** Summarizes monitors from their pings (pure). */
import type { MonitorSummary } from '../query/api-types.js'
import type { StoredHeartbeat } from '../store/stored-record.js'

const MAX_RECENT = 50

export function summarizeMonitors(newestFirst: Iterable<{ readonly record: StoredHeartbeat }>): MonitorSummary[] {
  const monitors = new Map<string, { name: string | null; readonly times: string[] }>()
  for (const { record } of newestFirst) {
    const { monitor, name, received_at: time } = record
    const known = monitors.get(monitor)
    if (known === undefined) monitors.set(monitor, { name, times: [time] })
    else {
      known.name ??= name
      known.times.push(time)
    }
  }
  return [...monitors].map(([monitor, { name, times }]) => {
    const recent = times.slice(0, MAX_RECENT)
    return {
      monitor,
      name,
      pings: times.length,
      first_ping: times.at(-1) ?? '',
      last_ping: times[0] ?? '',
      interval_ms: medianInterval(recent),
      recent,
    }
  })
}

/** Median in whole milliseconds; for an even number of intervals, the mean of the middle two. Null for fewer than two pings. */
function medianInterval(newestFirst: readonly string[]): number | null {
  const times = newestFirst.map((time) => Date.parse(time)).toSorted((a, b) => a - b)
  const intervals = times
    .slice(1)
    .map((time, n) => time - (times[n] ?? time))
    .toSorted((a, b) => a - b)
  const upper = intervals[intervals.length >> 1]
  const lower = intervals[(intervals.length - 1) >> 1]
  return upper === undefined || lower === undefined ? null : Math.round((lower + upper) / 2)
}
