/**
 * The plain path: JSON.parse, map, JSON.stringify. It takes every line there can be, and is the measure for the
 * fast path, which takes the usual ones.
 */
import type { JsonObject, LogEntry } from '../protocol/entry.js'
import { mayHoldHeaders, removeHeaders } from '../scrub/headers.js'
import { toEntry } from './entry.js'
import type { MappedEntry, MappingOptions } from './entry.js'
import { hasMeaning } from './fast-fields.js'
import { cleanText } from './limits.js'
import type { Cuts } from './limits.js'
import { parseExact, stringifyExact } from './numbers.js'
import { parseRecord } from './parse.js'
import { note, shortenToFit } from './shorten.js'

export interface Mapped extends Pick<MappedEntry, 'level' | 'ids'> {
  /** The entry as JSON. */
  readonly json: string
}

/** Never throws. `receivedAt` is ISO 8601. */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string): Mapped {
  const cuts: Cuts = { depth: 0, keys: 0 }
  const isKept = (key: string): boolean => key === options.messageKey || key === options.errorKey || hasMeaning(key)
  const record = parseRecord(line, cuts, isKept)
  const { entry, level, ids } = record === undefined
    ? textEntry(line, options, receivedAt)
    : toEntry(record, options, receivedAt)
  if (cuts.depth > 0) note(entry, { cut_for_depth: cuts.depth })
  if (cuts.keys > 0) note(entry, { cut_keys: cuts.keys })
  const removed = mayHoldHeaders(line, 0) === Infinity ? 0 : removeHeaders(entry as unknown as JsonObject)
  if (removed > 0) note(entry, { removed_headers: removed })
  // Scrubbed before it is cut: of what is cut a pattern may not find the rest.
  const json = stringifyExact(entry)
  const clean = options.scrubber?.scrubJson(json) ?? json
  const whole = clean === json ? entry : parseExact(clean) as LogEntry
  return { json: shortenToFit(whole, options.maxEntryBytes, clean), level, ids }
}

/** A line that is no JSON object is a message. */
function textEntry(line: string, options: MappingOptions, receivedAt: string): ReturnType<typeof toEntry> {
  return toEntry({ msg: cleanText(line) }, { ...options, messageKey: 'msg', nestedKey: undefined }, receivedAt)
}
