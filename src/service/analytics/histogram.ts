/** Counts by bucket and level become the answer (pure). */
import type { Histogram } from '../answers.js'
import type { BucketCount } from '../store/store.js'
import { startOf } from './frame.js'
import type { Frame } from './frame.js'
import { addTo, noCounts } from './levels.js'

/** Where no entry matches there is no time to show. */
export const NO_HISTOGRAM: Histogram = { since: null, until: null, step_ms: 0, buckets: [] }

export function histogramOf(frame: Frame, found: Iterable<BucketCount>): Histogram {
  const buckets = Array.from({ length: frame.count }, (_, n) => ({ at: startOf(frame, n), ...noCounts() }))
  for (const { bucket, level, count } of found) {
    const counts = buckets[bucket]
    if (counts !== undefined) addTo(counts, level, count)
  }
  return { since: startOf(frame, 0), until: startOf(frame, frame.count), step_ms: frame.stepMs, buckets }
}
