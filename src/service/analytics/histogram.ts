/** Counts by bucket and level become the answer (pure). */
import type { Histogram } from '../query/api-types.js'
import type { BucketCount } from '../store/store.js'
import { formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'
import { addToCounts, createLevelCounts } from './level-counts.js'

/** Where no entry matches there is no time to show. */
export const NO_HISTOGRAM: Histogram = { since: null, until: null, step_ms: 0, buckets: [] }

export function createHistogram(frame: TimeBuckets, found: Iterable<BucketCount>): Histogram {
  const buckets = Array.from({ length: frame.count }, (_, n) => ({
    at: formatBucketStart(frame, n),
    ...createLevelCounts(),
  }))
  for (const { bucket, level, count } of found) {
    const counts = buckets[bucket]
    if (counts !== undefined) addToCounts(counts, level, count)
  }
  return {
    since: formatBucketStart(frame, 0),
    until: formatBucketStart(frame, frame.count),
    step_ms: frame.stepMs,
    buckets,
  }
}
