/** A name with its value, for the lists of the panel (pure). */
import type { FilterName } from '../view.js'

export interface Fact {
  readonly name: string
  readonly value: string
  /** The filter of the list of entries that it belongs to. */
  readonly filter?: FilterName
}

/** Leaves out what the entry does not have. */
export function createFacts(rows: Readonly<Record<string, string | number | undefined>>): readonly Fact[] {
  return Object.entries(rows).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [{ name, value: String(value) }],
  )
}

/** Longer values do not fit into an address. */
const MAX_FILTER_CHARS = 500

/** Whether entries can be filtered by this value. */
export function isFilterable(value: string): boolean {
  return value !== '' && value.length <= MAX_FILTER_CHARS
}
