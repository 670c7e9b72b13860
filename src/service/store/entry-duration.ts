/** Duration of the operation whose end an entry reports (pure). */
import type { LogEntry } from '../../protocol/log-entry.js'

const METADATA_KEYS = ['duration_ms', 'durationMs', 'elapsed_ms', 'responseTime', 'response_time'] as const
/** 24 hours. A longer duration is an error or has another unit, so it is ignored. */
const MAX_MS = 86_400_000

/** The duration in milliseconds; undefined if the entry has none. */
export function findDurationMs({ request, perf, metadata }: LogEntry): number | undefined {
  const found = [request?.duration_ms, perf?.duration_ms].find(isDuration)
  if (found !== undefined || metadata === undefined) return found
  for (const key of METADATA_KEYS) {
    const value = metadata[key]
    if (isDuration(value)) return value
  }
  return undefined
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_MS
}
