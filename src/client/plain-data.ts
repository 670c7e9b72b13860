/**
 * Copies entries so that JSON.stringify loses nothing: errors, maps, sets, big integers and cycles become plain data.
 */
import { types } from 'node:util'
import type { EntryError, Json, JsonObject } from '../protocol/log-entry.js'
import { createObject, putUnderFreeKey } from '../record/clean-copy.js'
import { hasMembers } from '../record/coerce.js'
import { isError, serializeError } from '../record/error-serializer.js'
import { omitHttpMembers } from '../record/http-error.js'
import { takeError } from '../record/reference/entry-error.js'

const CIRCULAR = '[Circular]'

/**
 * Converts a batch to plain data without changing it. For an Error in an entry's `error`, type, message and stack
 * become the field and the rest becomes `metadata.error`, as for a logged error. Values without a JSON form, such as
 * functions, are kept for the validation.
 *
 * @throws errors of a getter or a `toJSON` of the application
 */
export function toPlainBatch(batch: unknown): unknown {
  const copy = toPlain(batch, [])
  const given = (batch as { logs?: unknown } | null | undefined)?.logs
  const logs = (copy as { logs?: unknown } | null | undefined)?.logs
  if (!Array.isArray(given) || !Array.isArray(logs)) return copy
  for (const [index, entry] of logs.entries())
    if (isError((given[index] as { error?: unknown } | null | undefined)?.error)) placeError(entry as JsonObject)
  return copy
}

function placeError(entry: JsonObject): void {
  const parts = takeError({ error: entry['error'] as Json }, 'error')
  if (parts === undefined) return
  entry['error'] = parts.error as EntryError & JsonObject
  if (!hasMembers(parts.rest)) return
  const metadata = entry['metadata'] ?? createObject()
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return // the validation rejects it
  entry['metadata'] = metadata
  putUnderFreeKey(metadata as JsonObject, 'error', parts.rest)
}

/** @param open the containers around the value */
function toPlain(value: unknown, open: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (open.includes(value)) return CIRCULAR
  const within = [...open, value]
  if (isError(value)) return toErrorData(value, within)
  const { toJSON } = value as { toJSON?: unknown }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (typeof toJSON === 'function') return toPlain(toJSON.call(value), within)
  if (types.isBoxedPrimitive(value)) return toPlain(value.valueOf(), within)
  if (types.isSet(value)) return Array.from(value, (item) => toPlain(item, within))
  if (types.isMap(value)) return toMembers(value, within)
  // Not `map`, which preserves holes.
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => toPlain(item, within))
  return copyMembers(Object.entries(value), within)
}

/** Removes the exchange of an HTTP client and the values of a statement, as for a logged error. */
function toErrorData(error: Error, open: readonly object[]): unknown {
  const holder = { err: toPlain(serializeError(error), open) as Json }
  omitHttpMembers(holder, 'err')
  return holder.err
}

/** An object, or pairs where two keys have the same text. */
function toMembers(map: ReadonlyMap<unknown, unknown>, open: readonly object[]): unknown {
  const entries = Array.from(map, ([key, value]) => [String(key), value] as const)
  return new Set(entries.map(([key]) => key)).size === map.size
    ? copyMembers(entries, open)
    : Array.from(map, (pair) => toPlain(pair, open))
}

function copyMembers(entries: readonly (readonly [string, unknown])[], open: readonly object[]): object {
  const copy = Object.create(null) as Record<string, unknown> // without a prototype, `__proto__` is an ordinary key
  for (const [key, value] of entries) copy[key] = toPlain(value, open)
  return copy
}
