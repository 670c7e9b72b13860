/** Monitors by their pings (pure). */
import type { MonitorSummary } from '../query/api-types.js'
import type { StoredHeartbeat } from '../store/store.js'

const MAX_RECENT = 50

/** Last ping first, as the pings themselves must come. */
export function summarizeMonitors(newestFirst: Iterable<StoredHeartbeat>): MonitorSummary[] {
  const pings = new Map<string, string[]>()
  for (const { monitor, received_at } of newestFirst) {
    const known = pings.get(monitor)
    if (known === undefined) pings.set(monitor, [received_at])
    else known.push(received_at)
  }
  return [...pings].map(([monitor, times]) => {
    const recent = times.slice(0, MAX_RECENT)
    return {
      monitor,
      pings: times.length,
      first_ping: times.at(-1) ?? '',
      last_ping: times[0] ?? '',
      interval_ms: medianInterval(recent),
      recent,
    }
  })
}

/** Of an even number of intervals the mean of the two in the middle, to the millisecond. */
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
