/** Collects the fields of an entry, including the paths of its metadata (pure). */
import type { Json } from '../../../protocol/log-entry.js'
import type { StoredEntry } from '../../store/stored-record.js'
import type { FieldType } from '../language/fields.js'
import { ENTRY_READERS, listTexts } from './record-readers.js'
import type { Scalar } from './value-predicates.js'

/** Limits the paths per entry, because keys can be data: `{ "user-1": … }`. */
const MAX_PATHS = 100
const MAX_PATH = 100
const MAX_DEPTH = 5

const KNOWN = Object.entries(ENTRY_READERS).filter(([name]) => name !== 'metadata' && name !== 'fingerprint')

/** @param name as in `language/fields.ts` @param type default: the type in the field's rule */
type AddField = (name: string, type?: FieldType) => void

/** Calls `add` once per field. @param hasFingerprint whether the entry has a fingerprint, its own or a computed one */
export function collectFields(record: StoredEntry, hasFingerprint: boolean, add: AddField): void {
  for (const [name, read] of KNOWN) {
    const value = read(record)
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) add(name)
  }
  if (hasFingerprint) add('fingerprint')
  const { metadata } = record.entry
  if (metadata !== undefined) for (const [path, type] of collectPaths(metadata)) add(`metadata.${path}`, type)
}

/** Returns the paths of all values, including members of objects in arrays. */
function collectPaths(metadata: Json): ReadonlyMap<string, FieldType> {
  const found = new Map<string, FieldType>()
  visitPaths(metadata, (path, value) => {
    if (path === '' || path.length > MAX_PATH) return false
    const isNumber = typeof value === 'number' && found.get(path) !== 'text'
    found.set(path, isNumber ? 'number' : 'text')
    return found.size >= MAX_PATHS
  })
  return found
}

/** Stops when `visit` returns true. @returns whether it stopped */
function visitPaths(value: Json, visit: (path: string, value: Scalar) => boolean, path = '', depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return visit(path, value)
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return value.some((item) => visitPaths(item, visit, path, depth + 1))
  for (const name in value)
    if (visitPaths(value[name] as Json, visit, path === '' ? name : `${path}.${name}`, depth + 1)) return true
  return false
}

const SEARCHED = KNOWN.filter(
  ([name]) => !/^(?:received_at|id|seq|notify.*|timestamp|level|duration|perf\..*)$/.test(name),
)

/** Finds the first field with a text for which the test returns true; in metadata, also by its name. */
export function findFieldWith(
  record: StoredEntry,
  test: (text: string) => boolean,
): { readonly field: string; readonly text: string } | undefined {
  for (const [field, read] of SEARCHED) {
    const text = listTexts(read(record)).find(test)
    if (text !== undefined) return { field, text }
  }
  let found: { readonly field: string; readonly text: string } | undefined
  visitPaths(record.entry.metadata ?? {}, (field, value) => {
    if (test(String(value)) || test(field)) found = { field, text: String(value) }
    return found !== undefined
  })
  return found
}
