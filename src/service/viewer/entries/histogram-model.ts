/** Computes the bars of the histogram, and describes them (pure). */
import type { Level } from '../../../protocol/log-entry.js'
import type { HistogramBucket } from '../../query/api-types.js'
import type { Bar } from '../plot-scale.js'
import { formatPlural } from '../view-format.js'

/** Levels from bottom to top with their minimum height in pixels. Errors are at the axis, and are always seen. */
const STACK: readonly (readonly [Level, number])[] = [
  ['fatal', 3],
  ['error', 3],
  ['warn', 2],
  ['info', 1],
  ['debug', 1],
]

/** @param most entries of a bar of the full height */
export function createBars(bucket: HistogramBucket, most: number, height: number): readonly Bar[] {
  const bars = STACK.flatMap(([level, least]) =>
    bucket[level] === 0 ? [] : [{ class: `area-${level}`, height: Math.max(least, (bucket[level] / most) * height) }],
  )
  // Minimum heights can exceed the available height; then the greatest bar gives way.
  const excess = bars.reduce((sum, bar) => sum + bar.height, 0) - height
  const greatest = Math.max(...bars.map((bar) => bar.height))
  const at = bars.findLastIndex((bar) => bar.height === greatest)
  return bars.map((bar, index) => (index === at && excess > 0 ? { ...bar, height: bar.height - excess } : bar))
}

/** `12 entries, 2 error, 10 info` */
export function describeCounts(buckets: readonly HistogramBucket[]): string {
  const sum = (key: Level | 'total'): number => buckets.reduce((total, bucket) => total + bucket[key], 0)
  const levels = STACK.flatMap(([level]) => (sum(level) > 0 ? [`${sum(level)} ${level}`] : []))
  return [formatPlural(sum('total'), 'entry', 'entries'), ...levels].join(', ')
}
