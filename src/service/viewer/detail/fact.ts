/** A name with its value, for the lists of the panel (pure). */
import type { FieldValue } from './value-field.js'

export interface Fact {
  readonly name: string
  readonly value: FieldValue
  /** As it is shown, if not the value itself: `1.28 s`. */
  readonly text?: string
  /** The field of the query language that it belongs to. */
  readonly field?: string
  /** It is shared by few entries, so it is a link to them. */
  readonly isLink?: boolean
}

type Row = readonly [name: string, field: string | null, value: FieldValue | undefined, text?: string | undefined]

/** Leaves out what the entry does not have. */
export function createFacts(rows: readonly Row[]): readonly Fact[] {
  return rows.flatMap(([name, field, value, text]) =>
    value === undefined || value === ''
      ? []
      : [{ name, value, ...(field !== null && { field }), ...(text !== undefined && { text }) }],
  )
}

/** Longer values do not fit into an address. */
const MAX_FILTER_CHARS = 500

/** Whether entries can be filtered by this value. */
export function isFilterable(value: string): boolean {
  return value !== '' && value.length <= MAX_FILTER_CHARS
}
