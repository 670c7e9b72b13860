/** Percentiles by nearest rank: always a value that was measured (pure). */

/** Place of the percentile among `count` sorted values, from 0. `percent` is an integer, so nothing is rounded twice. */
export function nearestRank(percent: number, count: number): number {
  return Math.max(0, Math.ceil((percent * count) / 100) - 1)
}

/** `sorted` ascending, of at least one value. */
export function findPercentile(sorted: ArrayLike<number>, percent: number): number {
  return sorted[nearestRank(percent, sorted.length)] ?? Number.NaN
}
