/**
 * The last steps for an entry: redact secrets, then shorten. In this order, because a pattern may not match the rest of
 * a cut text.
 */
import type { JsonObject, LogEntry } from '../protocol/log-entry.js'
import { mayHaveSecret } from '../redaction/secret-text.js'
import { removeSecrets } from '../redaction/secret-members.js'
import type { Redactor } from '../redaction/redactor.js'
import { stringifyExact } from '../shared/exact-json.js'
import { addNote, dropMargins, shortenToFit } from './shorten-entry.js'

/**
 * Returns the entry as JSON; changes `entry`. @param removedBefore number of headers removed from the entry's record
 */
export function finishEntry(entry: LogEntry, maxEntryBytes: number, redactor: Redactor, removedBefore = 0): string {
  let json = stringifyExact(entry)
  const { names } = redactor
  const hasSecrets = mayHaveSecret(json, names)
  const removed = removedBefore + (hasSecrets ? removeSecrets(entry as unknown as JsonObject, names) : 0)
  if (removed > 0) addNote(entry, { removed_headers: removed })
  if (hasSecrets || removed > 0) json = stringifyExact(entry)
  return shortenToFit(dropMargins(redactor.redactJson(json)), maxEntryBytes)
}
