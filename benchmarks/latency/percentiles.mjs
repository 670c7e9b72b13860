/** Percentiles by nearest rank: each is a measured value. */

/** Dense in the tail. */
const SHARES = [...Array.from({ length: 49 }, (_, n) => (n + 1) / 50), 0.985, 0.99, 0.995, 0.999, 1]

/** @param {readonly number[]} sorted at least one @param {number} share from 0 to 1 @returns {number} */
export function percentile(sorted, share) {
  return /** @type {number} */ (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)])
}

/** @param {readonly number[]} values @returns {[share: number, value: number][]} empty without values */
export function quantiles(values) {
  if (values.length === 0) return []
  const sorted = values.toSorted((a, b) => a - b)
  return [
    [0, /** @type {number} */ (sorted[0])],
    ...SHARES.map(
      (share) => /** @type {[number, number]} */ ([share, Number(percentile(sorted, share).toPrecision(4))]),
    ),
  ]
}
