/**
 * The last steps for an entry: redact secrets, then shorten. In this order, because a pattern may not match the rest of
 * a cut text.
 */
import type { JsonObject, LogEntry } from '../protocol/log-entry.js'
import { findNextHeader } from '../redaction/header-text.js'
import { removeHeaders } from '../redaction/header-members.js'
import type { Redactor } from '../redaction/redactor.js'
import { stringifyExact } from '../shared/exact-json.js'
import { addNote, dropMargins, shortenToFit } from './shorten-entry.js'

/**
 * Returns the entry as JSON; changes `entry`. @param removedBefore number of headers removed from the entry's record
 */
export function finishEntry(
  entry: LogEntry,
  maxEntryBytes: number,
  redactor: Redactor | undefined,
  removedBefore = 0,
): string {
  let json = stringifyExact(entry)
  const hasHeaders = findNextHeader(json, 0) !== Infinity
  const removed = removedBefore + (hasHeaders ? removeHeaders(entry as unknown as JsonObject) : 0)
  if (removed > 0) json = stringifyExact(addNote(entry, { removed_headers: removed }))
  return shortenToFit(dropMargins(redactor?.redactJson(json) ?? json), maxEntryBytes)
}
