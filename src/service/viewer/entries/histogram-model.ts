/** Computes the geometry of the histogram, and converts selections to filters (pure). */
import type { Level } from '../../../protocol/log-entry.js'
import type { Histogram, HistogramBucket } from '../../query/api-types.js'
import { formatPlural, formatTimeRange } from '../view-format.js'

/** Levels from bottom to top. The most severe is at the bottom, where heights are easiest to compare. */
export const STACK: readonly Level[] = ['fatal', 'error', 'warn', 'info', 'debug']

/** Minimum share of the chart's height, to keep every count above zero visible. */
const MIN_HEIGHT = 0.03

export interface Segment {
  readonly level: Level
  /** Shares of the chart's height, measured from the top. */
  readonly y: number
  readonly height: number
}

export function createSegments(bucket: HistogramBucket, most: number): Segment[] {
  const present = STACK.filter((level) => bucket[level] > 0)
  const heights = present.map((level) => Math.max(MIN_HEIGHT, bucket[level] / most))
  const sum = heights.reduce((total, height) => total + height, 0)
  // Minimum heights can exceed the available height; then all segments shrink.
  const scale = sum > 1 ? 1 / sum : 1
  let ground = 1
  return present.map((level, index) => {
    const height = (heights[index] ?? 0) * scale
    ground -= height
    return { level, y: ground, height }
  })
}

export function findMaxTotal(histogram: Histogram): number {
  return histogram.buckets.reduce((most, { total }) => Math.max(most, total), 1)
}

/** Index of the bucket at this share of the width; -1 if there is none. */
export function toIndex(part: number, buckets: number): number {
  return Math.max(Math.min(buckets - 1, 0), Math.min(buckets - 1, Math.floor(part * buckets)))
}

/** Returns the filter for a selection; both ends are inclusive. */
export function selectRange(
  { buckets, step_ms: stepMs }: Histogram,
  from: number,
  to: number,
): { since: string; until: string } | undefined {
  const first = buckets[Math.min(from, to)]
  const last = buckets[Math.max(from, to)]
  if (first === undefined || last === undefined) return undefined
  return { since: first.at, until: new Date(Date.parse(last.at) + stepMs).toISOString() }
}

/** Describes a selection: `2026-11-21 14:03:00 – 14:03:30: 12 entries, 2 error, 10 info`. */
export function describeRange(histogram: Histogram, from: number, to: number): string {
  const range = selectRange(histogram, from, to)
  if (range === undefined) return 'no entries'
  const chosen = histogram.buckets.slice(Math.min(from, to), Math.max(from, to) + 1)
  const sum = (key: Level | 'total'): number => chosen.reduce((total, bucket) => total + bucket[key], 0)
  const levels = STACK.filter((level) => sum(level) > 0).map((level) => `${sum(level)} ${level}`)
  const when = formatTimeRange(Date.parse(range.since), Date.parse(range.until))
  return `${when}: ${[formatPlural(sum('total'), 'entry', 'entries'), ...levels].join(', ')}`
}

/** Maximum number of labels on the axis. */
const MAX_LABELS = 8
/** Minimum gap between two labels. */
const GAP_PX = 16

/** Positions of labels: at bucket limits, as many as fit. */
export function createTicks(buckets: number, widthPx: number, labelPx: number): number[] {
  const most = Math.min(MAX_LABELS, Math.floor(widthPx / (labelPx + GAP_PX)))
  if (most < 1) return []
  const every = Math.max(1, Math.ceil(buckets / most))
  return Array.from({ length: Math.ceil(buckets / every) }, (_, index) => index * every).filter(
    (index) => (index / buckets) * widthPx + labelPx <= widthPx,
  )
}
