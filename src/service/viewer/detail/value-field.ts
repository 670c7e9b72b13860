/** The fields of the query language that values of an entry belong to (pure). */
import type { Path } from './tree.js'

/** A value that the query language can compare. */
export type FieldValue = string | number | boolean | null

/** Indices are left out: a term matches any member of an array. */
export function metadataField(path: Path): string {
  return ['metadata', ...path.filter((key) => typeof key === 'string')].join('.')
}

/** Too long for a column. */
const LONG_FIELDS = ['breadcrumbs', 'error.message', 'error.stack']

export function isColumnName(field: string): boolean {
  return field !== '' && !LONG_FIELDS.includes(field)
}

export function toggleColumn(columns: readonly string[], field: string): readonly string[] {
  return columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field]
}
