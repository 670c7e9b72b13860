/**
 * The plain path: JSON.parse, map, JSON.stringify. It takes every line there can be, and is the measure for the
 * fast path, which takes the usual ones.
 */
import { removeHeaderMembers } from '../../redaction/header-members.js'
import { toEntry } from './entry-fields.js'
import type { MappedEntry, MappingOptions } from './entry-fields.js'
import { isEntryKey } from '../fast/fast-fields.js'
import { finishEntry } from '../finish-entry.js'
import { cleanText } from '../clean-copy.js'
import type { CutCounts } from '../clean-copy.js'
import { parseRecord } from './parse-record.js'
import { addNote } from '../shorten-entry.js'

export interface ReferenceResult extends Pick<MappedEntry, 'level' | 'ids'> {
  /** The entry as JSON. */
  readonly json: string
}

/** Never throws. `receivedAt` is ISO 8601. */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string): ReferenceResult {
  const cuts: CutCounts = { depth: 0, keys: 0 }
  const isKept = (key: string): boolean => key === options.messageKey || key === options.errorKey || isEntryKey(key)
  const record = parseRecord(line, cuts, isKept)
  // Here too, since what a record calls `name` and `value` may become parts of different fields.
  const removed = record === undefined ? 0 : removeHeaderMembers(record)
  const { entry, level, ids } =
    record === undefined ? textEntry(line, options, receivedAt) : toEntry(record, options, receivedAt)
  if (cuts.depth > 0) addNote(entry, { cut_for_depth: cuts.depth })
  if (cuts.keys > 0) addNote(entry, { cut_keys: cuts.keys })
  return { json: finishEntry(entry, options.maxEntryBytes, options.redactor, removed), level, ids }
}

/** A line that is no JSON object is a message. */
function textEntry(line: string, options: MappingOptions, receivedAt: string): ReturnType<typeof toEntry> {
  return toEntry({ msg: cleanText(line) }, { ...options, messageKey: 'msg', nestedKey: undefined }, receivedAt)
}
