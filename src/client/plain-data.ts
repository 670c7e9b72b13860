/** Copies the entries of a batch as plain data, as for logged records. */
import type { EntryError, Json, JsonObject } from '../protocol/log-entry.js'
import { createObject, putUnderFreeKey } from '../record/clean-copy.js'
import { hasMembers } from '../record/coerce.js'
import { copyPlain, isError, readMembers, serializeError } from '../record/error-serializer.js'
import { omitHttpMembers } from '../record/http-error.js'
import { takeError } from '../record/reference/entry-error.js'
import { isObject } from '../shared/argument-checks.js'

/**
 * Converts errors in the entries to plain data, without changing the batch. For an Error in an entry's `error`, type,
 * message and stack become the field and the rest becomes `metadata.error`. Other values are kept for the validation.
 */
export function toPlainBatch(batch: unknown): unknown {
  const members = isObject(batch) ? readMembers(batch) : undefined
  const logs = members?.['logs']
  return Array.isArray(logs) ? { ...members, logs: Array.from(logs, toPlainEntry) } : (members ?? batch)
}

function toPlainEntry(entry: unknown): unknown {
  const copy = copyPlain(entry, toErrorData)
  if (isObject(entry) && isError(entry['error'])) placeError(copy as JsonObject)
  return copy
}

/** Removes the exchange of an HTTP client and the values of a statement. */
function toErrorData(error: Error): unknown {
  const holder = { err: serializeError(error) as Json }
  omitHttpMembers(holder, 'err')
  return holder.err
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
