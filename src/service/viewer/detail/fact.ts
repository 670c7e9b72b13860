/** Names and values for the lists of the panel (pure). */
import type { FieldValue } from './value-field.js'

export interface Fact {
  readonly name: string
  readonly value: FieldValue
  /** Text to show instead of the value: `1.28 s`. */
  readonly text?: string
  /** Field of the query language. */
  readonly field?: string
  /** Whether to show a link to the entries with this value, because there are few. */
  readonly isLink?: boolean
}

type Row = readonly [name: string, field: string | null, value: FieldValue | undefined, text?: string | undefined]

/** Creates facts, and omits those that the entry does not have. */
export function createFacts(rows: readonly Row[]): readonly Fact[] {
  return rows.flatMap(([name, field, value, text]) =>
    value === undefined || value === ''
      ? []
      : [{ name, value, ...(field !== null && { field }), ...(text !== undefined && { text }) }],
  )
}

/** Longer values do not fit into a URL. */
export const MAX_FILTER_CHARS = 500

/** Whether entries can be filtered by this value. */
export function isFilterable(value: string): boolean {
  return value !== '' && value.length <= MAX_FILTER_CHARS
}
