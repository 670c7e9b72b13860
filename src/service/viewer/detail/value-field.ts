/** Finds the field of the query language for a value of an entry (pure). */
import type { Path } from './tree.js'

/** A value that the query language can compare. */
export type FieldValue = string | number | boolean | null

/** Omits indices, because a term matches any element of an array. */
export function toMetadataField(path: Path): string {
  return ['metadata', ...path.filter((key) => typeof key === 'string')].join('.')
}

/** Fields whose values are too long for a column. */
const LONG_FIELDS = ['breadcrumbs', 'error.message', 'error.stack']

export function isColumnName(field: string): boolean {
  return field !== '' && !LONG_FIELDS.includes(field)
}

export function toggleColumn(columns: readonly string[], field: string): readonly string[] {
  return columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field]
}
