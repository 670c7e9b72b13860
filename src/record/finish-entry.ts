/** The last of an entry: secrets out, then cut to its bound. In this order, since of what is cut a pattern may not find the rest. */
import type { JsonObject, LogEntry } from '../protocol/log-entry.js'
import { findNextHeader } from '../redaction/header-text.js'
import { removeHeaders } from '../redaction/header-members.js'
import type { Redactor } from '../redaction/redactor.js'
import { parseExact, stringifyExact } from './exact-json.js'
import { addNote, shortenToFit } from './shorten-entry.js'

/** The entry as JSON; `entry` is used up. @param removedBefore headers that the entry's record has lost already */
export function finishEntry(
  entry: LogEntry,
  maxEntryBytes: number,
  scrubber: Redactor | undefined,
  removedBefore = 0,
): string {
  let json = stringifyExact(entry)
  const removed =
    removedBefore + (findNextHeader(json, 0) === Infinity ? 0 : removeHeaders(entry as unknown as JsonObject))
  if (removed > 0) json = stringifyExact(addNote(entry, { removed_headers: removed }))
  const clean = scrubber?.redactJson(json) ?? json
  return shortenToFit(clean === json ? entry : (parseExact(clean) as LogEntry), maxEntryBytes, clean)
}
