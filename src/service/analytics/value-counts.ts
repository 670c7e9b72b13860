/** Values of a field by frequency (pure). */
import type { FieldValues, ValueField } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'

/** The most frequent first. A tag that an entry has twice counts once. */
export function countValues(entries: readonly IndexedEntry[], field: ValueField, limit: number): FieldValues {
  const counts = new Map<string, number>()
  const count = (value: string | undefined): void => {
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  for (const entry of entries) {
    if (field === 'tag') new Set(entry.tags).forEach(count)
    else count(entry[field])
  }
  const sorted = [...counts].toSorted(([a, n], [b, m]) => m - n || compareTexts(a, b))
  return { items: sorted.slice(0, limit).map(([value, n]) => ({ value, count: n })), more: sorted.length > limit }
}

/** By UTF-16 code unit, independent of the locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
