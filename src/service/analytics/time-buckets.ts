/** Divides a time range into buckets of a round width (pure). */
import type { TimeBounds } from '../query/query-filters.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Bucket widths, ascending. The widest covers the years 0 to 9999 in one bucket. */
const WIDTHS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[0, 1, 2, 3, 4, 5, 6].flatMap((tens) => [1, 2, 5].map((n) => n * 10 ** tens * DAY)),
]

/** A time range; both ends are inclusive. */
export interface TimeRange {
  readonly firstMs: number
  readonly lastMs: number
}

/** Buckets of width `stepMs`; the first begins at `sinceMs`. */
export interface TimeBuckets {
  readonly sinceMs: number
  readonly stepMs: number
  readonly count: number
}

/**
 * Creates at most `maxBuckets` buckets that cover the range. Buckets begin at multiples of their width, so their limits do not move
 * with the range. If that needs more than `maxBuckets`, they begin at the start of the range.
 */
export function createTimeBuckets({ firstMs, lastMs }: TimeRange, maxBuckets: number): TimeBuckets {
  const spanMs = lastMs - firstMs + 1
  const wideEnough = WIDTHS_MS.filter((stepMs) => stepMs * maxBuckets >= spanMs)
  // Alignment can need one bucket more than `maxBuckets`; the next width is nearly always sufficient.
  for (const stepMs of wideEnough.slice(0, 2)) {
    const sinceMs = Math.floor(firstMs / stepMs) * stepMs
    const count = Math.floor((lastMs - sinceMs) / stepMs) + 1
    if (count <= maxBuckets) return { sinceMs, stepMs, count }
  }
  const stepMs = wideEnough[0] ?? Math.ceil(spanMs / maxBuckets)
  return { sinceMs: firstMs, stepMs, count: Math.ceil(spanMs / stepMs) }
}

/** Index of the bucket that contains the time. For a time outside, the index is negative, or `count` or greater. */
export function findBucketIndex({ sinceMs, stepMs }: TimeBuckets, timeMs: number): number {
  return Math.floor((timeMs - sinceMs) / stepMs)
}

export function formatBucketStart({ sinceMs, stepMs }: TimeBuckets, bucket: number): string {
  return new Date(sinceMs + bucket * stepMs).toISOString()
}

/** At each end up to 1 in 50 records, and at least one, may be treated as outliers. */
const OUTLIER_SHARE = 50
const MIN_OUTLIER_DISTANCE_MS = HOUR
const OUTLIER_FACTOR = 10

/**
 * The time range of the records without outliers. Otherwise one record of 2001 would flatten a chart. An outlier is among the first
 * or last 2 % of the records (at least one at each end), and its distance from the other records exceeds both an hour and ten times
 * their span.
 * @param sorted sorted by time @returns undefined if there is no record
 */
export function findTimeRange(sorted: readonly { readonly timeMs: number }[]): TimeRange | undefined {
  const count = sorted.length
  if (count === 0) return undefined
  const at = (index: number): number => (sorted[index] as { readonly timeMs: number }).timeMs
  const most = Math.min(Math.max(1, Math.floor(count / OUTLIER_SHARE)), (count - 1) >> 1)
  let [first, last] = [most, count - 1 - most]
  const [restFirstMs, restLastMs] = [at(first), at(last)]
  const distanceMs = Math.max(MIN_OUTLIER_DISTANCE_MS, OUTLIER_FACTOR * (restLastMs - restFirstMs))
  while (first > 0 && restFirstMs - at(first - 1) <= distanceMs) first--
  while (last < count - 1 && at(last + 1) - restLastMs <= distanceMs) last++
  return { firstMs: at(first), lastMs: at(last) }
}

/** Limits of all valid timestamps: years have four digits, and offsets are shorter than a day. */
const EARLIEST_MS = Date.UTC(-1, 0)
const LATEST_MS = Date.UTC(10_001, 0)

/** The requested range; missing bounds are taken from the records. Undefined if there is no record or the range is empty. */
export function clampRange({ sinceMs, untilMs }: TimeBounds, found: TimeRange | undefined): TimeRange | undefined {
  if (found === undefined) return undefined
  const firstMs = sinceMs === undefined ? found.firstMs : Math.max(sinceMs, EARLIEST_MS)
  const lastMs = untilMs === undefined ? found.lastMs : Math.min(untilMs, LATEST_MS) - 1
  return firstMs <= lastMs ? { firstMs, lastMs } : undefined
}

/** Counts times in equal parts of the range. Ignores times outside. */
export function countTrend({ firstMs, lastMs }: TimeRange, parts: number, timesMs: Iterable<number>): number[] {
  const trend = Array.from({ length: parts }, () => 0)
  for (const timeMs of timesMs) {
    const part = Math.floor(((timeMs - firstMs) * parts) / (lastMs - firstMs + 1))
    if (trend[part] !== undefined) trend[part]++
  }
  return trend
}
