/** Values by how often they occur (pure). */
import type { ValueCounts } from '../store/store.js'
import { compareCodePoints } from './code-point-order.js'

export function countEach<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** The most frequent first, then by code point. */
export function mostFrequent(counts: ReadonlyMap<string, number>, limit: number): ValueCounts {
  const sorted = [...counts].toSorted(([a, n], [b, m]) => m - n || compareCodePoints(a, b))
  const items = sorted.slice(0, limit).map(([value, count]) => ({ value, count }))
  return { items, more: sorted.length > limit }
}
