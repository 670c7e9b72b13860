/** Counts entries by time and level (pure). */
import type { Histogram } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import { addToCounts, createLevelCounts } from './level-counts.js'
import { findBucketIndex, formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'

export const NO_HISTOGRAM: Histogram = { since: null, until: null, step_ms: 0, buckets: [], before: 0, after: 0 }

export function createHistogram(entries: Iterable<IndexedEntry>, buckets: TimeBuckets): Histogram {
  const counts = Array.from({ length: buckets.count }, createLevelCounts)
  let before = 0
  let after = 0
  for (const { timeMs, level } of entries) {
    const index = findBucketIndex(buckets, timeMs)
    const bucket = counts[index]
    if (bucket !== undefined) addToCounts(bucket, level)
    else if (index < 0) before++
    else after++
  }
  return {
    since: formatBucketStart(buckets, 0),
    until: formatBucketStart(buckets, buckets.count),
    step_ms: buckets.stepMs,
    buckets: counts.map((bucket, n) => ({ at: formatBucketStart(buckets, n), ...bucket })),
    before,
    after,
  }
}
