/** Collects the fields of an entry, including the paths of its metadata (pure). */
import type { Json } from '../../../protocol/log-entry.js'
import type { StoredEntry } from '../../store/stored-record.js'
import type { FieldType } from '../language/fields.js'
import { ENTRY_READERS } from './record-readers.js'

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
  const visit = (value: Json, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) {
      if (path === '' || path.length > MAX_PATH || found.size >= MAX_PATHS) return
      const isNumber = typeof value === 'number' && found.get(path) !== 'text'
      found.set(path, isNumber ? 'number' : 'text')
    } else if (depth > MAX_DEPTH) return
    else if (Array.isArray(value)) for (const item of value) visit(item, path, depth + 1)
    else for (const name in value) visit(value[name] as Json, path === '' ? name : `${path}.${name}`, depth + 1)
  }
  visit(metadata, '', 0)
  return found
}
