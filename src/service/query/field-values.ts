/** Implements `GET fields` and `GET values`: lists the fields of the records, and their values by frequency (pure). */
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import type { FieldInfo, FieldValues } from './api-types.js'
import { findFieldRule, resolveFieldName } from './language/fields.js'
import type { FieldType } from './language/fields.js'
import {
  findEntryReader,
  findRequestReader,
  isIndexedEntryField,
  isIndexedRequestField,
} from './matching/field-readers.js'
import { foldCase } from '../store/record-texts.js'
import { collectFields } from './matching/stored-fields.js'
import { REQUEST_READERS } from './matching/record-readers.js'
import type { FieldReader, FieldValue } from './matching/record-readers.js'
import { compareTexts } from './compare-texts.js'

const MAX_FIELDS = 1000
/** Longer values are omitted: nobody selects them from a list. */
const MAX_VALUE = 500
/** Maximum number of records for a list of all fields, which is slower than reading one field. */
const MAX_READ = 20_000
/** Maximum number of records for fields without an index: reading them is several times slower, and every record can have another value. */
const MAX_COUNTED = 50_000

/** Lists fields, most frequent first, from the newest 20,000 entries. @param entries oldest first */
export function listEntryFields(entries: readonly IndexedEntry[]): readonly FieldInfo[] {
  const found = new Map<string, { count: number; type: FieldType }>()
  for (const { record, fingerprint } of entries.slice(-MAX_READ)) {
    collectFields(record, fingerprint !== undefined, (name, type = findFieldRule(name)?.type ?? 'text') => {
      const known = found.get(name)
      if (known === undefined) found.set(name, { count: 1, type })
      else {
        known.count += 1
        if (known.type !== type) known.type = 'text'
      }
    })
  }
  return sortFields([...found].map(([name, { count, type }]) => ({ name, type, count })))
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

/** @param entries oldest first */
export function countEntryValues(entries: readonly IndexedEntry[], query: ValueQuery): FieldValues {
  const name = resolveFieldName(query.field)
  const isIndexed = name !== 'timestamp' && isIndexedEntryField(name)
  return countValues(entries, findEntryReader(name, true), isIndexed, query)
}

/** @param requests oldest first */
export function countRequestValues(requests: readonly IndexedRequest[], query: ValueQuery): FieldValues {
  const name = resolveFieldName(query.field)
  const isIndexed = name !== 'timestamp' && isIndexedRequestField(name)
  return countValues(requests, findRequestReader(name, true), isIndexed, query)
}

/** Counts values, most frequent first. A duplicate within one record counts once. */
function countValues<R>(
  all: readonly R[],
  read: FieldReader<R>,
  isIndexed: boolean,
  { prefix = '', limit }: ValueQuery,
): FieldValues {
  const records = isIndexed ? all : all.slice(-MAX_COUNTED)
  const counts = new Map<string, number>()
  const add = (text: string): void => {
    if (text.length <= MAX_VALUE) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  for (const record of records) {
    const value = read(record)
    if (typeof value === 'string') add(value)
    else for (const text of listValues(value)) add(text)
  }
  const lower = foldCase(prefix)
  const found = [...counts].filter(([text]) => lower === '' || foldCase(text).startsWith(lower))
  const items = found.toSorted(compareCounted).slice(0, limit)
  return {
    items: items.map(([value, count]) => ({ value, count })),
    more: found.length > limit,
    ...(records.length < all.length && { counted: records.length }),
  }
}

/** The distinct values of a field as text. */
export function listValues(value: FieldValue): Iterable<string> {
  return withoutRepetition(collectValues(value))
}

function collectValues(value: FieldValue): readonly string[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null) return [String(value)]
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as readonly string[]
  return Object.values(value).flatMap((item: FieldValue) => collectValues(item))
}

/** Avoids a Set for most lists, which have one or two values. */
function withoutRepetition(values: readonly string[]): Iterable<string> {
  return values.length === 1 || (values.length === 2 && values[0] !== values[1]) ? values : new Set(values)
}

type Counted = readonly [text: string, count: number]

function compareCounted(a: Counted, b: Counted): number {
  return b[1] - a[1] || compareTexts(a[0], b[0])
}
