/** A range of time cut into buckets of a round width (pure). */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Ascending; up to days that hold all of the years 0 to 9999 in one bucket. */
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[0, 1, 2, 3, 4, 5, 6].flatMap((tens) => [1, 2, 5].map((n) => n * 10 ** tens * DAY)),
]

/** First and last moment, both included. */
export interface TimeRange {
  readonly firstMs: number
  readonly lastMs: number
}

/** Buckets of `stepMs`, the first of which begins at `sinceMs`. */
export interface TimeBuckets {
  readonly sinceMs: number
  readonly stepMs: number
  readonly count: number
}

/**
 * At most `maxBuckets` that cover the range. They begin at multiples of their width, so that the same moments are put
 * together while the range moves; where so few buckets cannot do that, at the beginning of the range.
 */
export function createTimeBuckets({ firstMs, lastMs }: TimeRange, maxBuckets: number): TimeBuckets {
  const spanMs = lastMs - firstMs + 1
  const fits = STEPS.filter((stepMs) => stepMs * maxBuckets >= spanMs)
  // The next width nearly always holds what the first misses by its alignment.
  for (const stepMs of fits.slice(0, 2)) {
    const sinceMs = Math.floor(firstMs / stepMs) * stepMs
    const count = Math.floor((lastMs - sinceMs) / stepMs) + 1
    if (count <= maxBuckets) return { sinceMs, stepMs, count }
  }
  const stepMs = fits[0] ?? Math.ceil(spanMs / maxBuckets)
  return { sinceMs: firstMs, stepMs, count: Math.ceil(spanMs / stepMs) }
}

/** Below 0, or `count` and more, where the moment lies outside. */
export function bucketIndex({ sinceMs, stepMs }: TimeBuckets, timeMs: number): number {
  return Math.floor((timeMs - sinceMs) / stepMs)
}

export function formatBucketStart({ sinceMs, stepMs }: TimeBuckets, bucket: number): string {
  return new Date(sinceMs + bucket * stepMs).toISOString()
}

/** No timestamp lies outside: a year has four digits, and an offset is less than a day. */
const EARLIEST_MS = Date.UTC(-1, 0)
const LATEST_MS = Date.UTC(10_001, 0)

/** The range that was asked for, as far as it was; else that of what there is. Undefined where nothing is left of it. */
export function clampRange(
  asked: { readonly sinceMs: number | undefined; readonly untilMs: number | undefined },
  found: TimeRange | undefined,
): TimeRange | undefined {
  if (found === undefined) return undefined
  const firstMs = asked.sinceMs === undefined ? found.firstMs : Math.max(asked.sinceMs, EARLIEST_MS)
  const lastMs = asked.untilMs === undefined ? found.lastMs : Math.min(asked.untilMs, LATEST_MS) - 1
  return firstMs <= lastMs ? { firstMs, lastMs } : undefined
}

/** Counts of moments in equal parts of the range; what lies outside is in none. */
export function countTrend(range: TimeRange, parts: number, timesMs: Iterable<number>): number[] {
  const trend = Array.from({ length: parts }, () => 0)
  for (const timeMs of timesMs) {
    const part = partIndex(range, parts, timeMs)
    if (trend[part] !== undefined) trend[part]++
  }
  return trend
}

/** Which of `parts` equal parts of the range a moment lies in. */
export function partIndex({ firstMs, lastMs }: TimeRange, parts: number, timeMs: number): number {
  return Math.floor(((timeMs - firstMs) * parts) / (lastMs - firstMs + 1))
}
