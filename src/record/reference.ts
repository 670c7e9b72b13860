/**
 * The plain path: JSON.parse, map, JSON.stringify. It takes every line there can be, and is the measure for the
 * fast path, which takes the usual ones.
 */
import { removeMembers } from '../scrub/headers.js'
import { toEntry } from './entry.js'
import type { MappedEntry, MappingOptions } from './entry.js'
import { hasMeaning } from './fast-fields.js'
import { finish } from './finish.js'
import { cleanText } from './limits.js'
import type { Cuts } from './limits.js'
import { parseRecord } from './parse.js'
import { note } from './shorten.js'

export interface Mapped extends Pick<MappedEntry, 'level' | 'ids'> {
  /** The entry as JSON. */
  readonly json: string
}

/** Never throws. `receivedAt` is ISO 8601. */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string): Mapped {
  const cuts: Cuts = { depth: 0, keys: 0 }
  const isKept = (key: string): boolean => key === options.messageKey || key === options.errorKey || hasMeaning(key)
  const record = parseRecord(line, cuts, isKept)
  // Here too, since what a record calls `name` and `value` may become parts of different fields.
  const removed = record === undefined ? 0 : removeMembers(record)
  const { entry, level, ids } = record === undefined
    ? textEntry(line, options, receivedAt)
    : toEntry(record, options, receivedAt)
  if (cuts.depth > 0) note(entry, { cut_for_depth: cuts.depth })
  if (cuts.keys > 0) note(entry, { cut_keys: cuts.keys })
  return { json: finish(entry, options.maxEntryBytes, options.scrubber, removed), level, ids }
}

/** A line that is no JSON object is a message. */
function textEntry(line: string, options: MappingOptions, receivedAt: string): ReturnType<typeof toEntry> {
  return toEntry({ msg: cleanText(line) }, { ...options, messageKey: 'msg', nestedKey: undefined }, receivedAt)
}
