/** Counts entries by level, also over time (pure). */
import type { Level } from '../../protocol/log-entry.js'
import type { Histogram } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import type { LevelCounts } from '../store/stored-record.js'
import { findBucketIndex, formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'

export const NO_HISTOGRAM: Histogram = { since: null, until: null, step_ms: 0, buckets: [], before: 0, after: 0 }

type MutableLevelCounts = { -readonly [K in keyof LevelCounts]: number }

const createLevelCounts = (): MutableLevelCounts => ({ debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 })

function addToCounts(counts: MutableLevelCounts, level: Level): void {
  counts[level]++
  counts.total++
}

export function countLevels(entries: Iterable<{ readonly level: Level }>): LevelCounts {
  const counts = createLevelCounts()
  for (const { level } of entries) addToCounts(counts, level)
  return counts
}

export function isErrorLevel(level: Level): boolean {
  return level === 'error' || level === 'fatal'
}

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
