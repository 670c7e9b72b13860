/** Implements `GET fields` and `GET values`: lists the fields of the records, and their values by frequency (pure). */
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import type { FieldInfo, FieldValues } from './api-types.js'
import { findFieldRule, resolveFieldName } from './language/fields.js'
import type { FieldType } from './language/fields.js'
import { ENTRIES, findReader, isIndexed } from './matching/field-readers.js'
import type { SearchedKind } from './matching/field-readers.js'
import { foldCase } from '../store/record-texts.js'
import { collectFields } from './matching/stored-fields.js'
import { listTexts, REQUEST_READERS } from './matching/record-readers.js'
import type { FieldValue } from './matching/record-readers.js'
import { compareTexts } from './compare-texts.js'

const MAX_FIELDS = 1000
/** Longer values are omitted: nobody selects them from a list. */
const MAX_VALUE = 500
/** Maximum number of records for a list of all fields, which is slower than reading one field. */
const MAX_READ = 20_000
/** Maximum number of records for fields without an index: reading them is several times slower, and every record can have another value. */
const MAX_COUNTED = 50_000

/** Fields whose values are listed with them, so that a query can be checked for a wrong one. */
const LISTED: readonly string[] = ['service', 'environment', 'metadata.logger']
const MAX_LISTED = 50

/** Lists fields, most frequent first, from the newest 20,000 entries. @param entries oldest first */
export function listEntryFields(entries: readonly IndexedEntry[]): readonly FieldInfo[] {
  const newest = entries.slice(-MAX_READ)
  const found = new Map<string, { count: number; type: FieldType }>()
  for (const { record, fingerprint } of newest) {
    collectFields(record, fingerprint !== undefined, (name, type = findFieldRule(name)?.type ?? 'text') => {
      const known = found.get(name)
      if (known === undefined) found.set(name, { count: 1, type })
      else {
        known.count += 1
        if (known.type !== type) known.type = 'text'
      }
    })
  }
  return sortFields(
    [...found].map(([name, { count, type }]) => ({ name, type, count, ...listValuesIfFew(newest, name) })),
  )
}

function listValuesIfFew(entries: readonly IndexedEntry[], name: string): Pick<FieldInfo, 'values'> {
  if (!LISTED.includes(name)) return {}
  const { items, more } = countValues(ENTRIES, entries, { field: name, limit: MAX_LISTED })
  return more ? {} : { values: items.map(({ value }) => value) }
}

/** Lists the fields of request logs like `listEntryFields`. */
export function listRequestFields(requests: readonly IndexedRequest[]): readonly FieldInfo[] {
  const newest = requests.slice(-MAX_READ)
  return sortFields(
    Object.entries(REQUEST_READERS).flatMap(([name, read]) => {
      let count = 0
      for (const { record } of newest) if (read(record) !== undefined) count++
      return count === 0 ? [] : [{ name, type: findFieldRule(name)?.type ?? 'text', count }]
    }),
  )
}

function sortFields(fields: readonly FieldInfo[]): readonly FieldInfo[] {
  return fields.toSorted((a, b) => b.count - a.count || compareTexts(a.name, b.name)).slice(0, MAX_FIELDS)
}

export interface ValueQuery {
  /** Field name as typed in a query. */
  readonly field: string
  /** Prefix of the values; ignores case. */
  readonly prefix?: string
  readonly limit: number
}

/** Counts values, most frequent first. A duplicate within one record counts once. @param all oldest first */
export function countValues<R>(kind: SearchedKind<R>, all: readonly R[], query: ValueQuery): FieldValues {
  const { prefix = '', limit } = query
  const name = resolveFieldName(query.field)
  const read = findReader(kind, name, true)
  const records = name !== 'timestamp' && isIndexed(kind, name) ? all : all.slice(-MAX_COUNTED)
  const counts = new Map<string, number>()
  const lower = foldCase(prefix)
  for (const record of records)
    for (const text of listValues(read(record))) {
      if (text.length > MAX_VALUE || (lower !== '' && !foldCase(text).startsWith(lower))) continue
      counts.set(text, (counts.get(text) ?? 0) + 1)
      // The others are the e-mail address and the name of the same user.
      if (name === 'user') break
    }
  const items = [...counts].toSorted(([a, n], [b, m]) => m - n || compareTexts(a, b)).slice(0, limit)
  return {
    items: items.map(([value, count]) => ({ value, count })),
    more: counts.size > limit,
    ...(records.length < all.length && { counted: records.length }),
  }
}

/** The distinct values of a field as text. */
export function listValues(value: FieldValue): Iterable<string> {
  const values = listTexts(value)
  // Avoids a Set for most lists, which have one or two values.
  return values.length === 1 || (values.length === 2 && values[0] !== values[1]) ? values : new Set(values)
}
