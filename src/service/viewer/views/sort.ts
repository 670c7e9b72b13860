/** Sorts table rows by one column (pure). */
export interface SortOrder<K extends string> {
  readonly key: K
  readonly isDescending: boolean
}

export function sortRows<T, K extends keyof T & string>(
  rows: readonly T[],
  { key, isDescending }: SortOrder<K>,
): readonly T[] {
  const sign = isDescending ? -1 : 1
  return rows.toSorted((a, b) => sign * compare(a[key], b[key]))
}

function compare(a: unknown, b: unknown): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
}

/** Parses the order in an address: `-count`. Default: the first key, descending. */
export function parseOrder<K extends string>(text: string | null, keys: readonly [K, ...(readonly K[])]): SortOrder<K> {
  const key = keys.find((one) => text === one || text === `-${one}`)
  return { key: key ?? keys[0], isDescending: key !== text }
}

export function formatOrder({ key, isDescending }: SortOrder<string>): string {
  return isDescending ? `-${key}` : key
}

/** Returns the order after a click on a column header: reverses the current column; numbers start descending, texts ascending. */
export function toggleOrder<K extends string>(order: SortOrder<K>, key: K, isText: boolean): SortOrder<K> {
  return order.key === key ? { key, isDescending: !order.isDescending } : { key, isDescending: !isText }
}
