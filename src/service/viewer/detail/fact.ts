/** A name with its value, as the panel lists them (pure). */
import type { FilterName } from '../view.js'

export interface Fact {
  readonly name: string
  readonly value: string
  /** What the list of entries can be filtered by. */
  readonly filter?: FilterName
}

/** Leaves out what the entry does not have. */
export function createFacts(rows: Readonly<Record<string, string | number | undefined>>): readonly Fact[] {
  return Object.entries(rows).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [{ name, value: String(value) }],
  )
}

/** An address has no room for more; who logs such a value does not filter by it. */
const MAX_FILTER_CHARS = 500

/** Whether the entries that share this value can be asked for. */
export function isFilterable(value: string): boolean {
  return value !== '' && value.length <= MAX_FILTER_CHARS
}
