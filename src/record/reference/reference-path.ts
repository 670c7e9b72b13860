/**
 * The reference path: JSON.parse, map, JSON.stringify. It accepts every line, and defines the result of the fast path,
 * which accepts most lines.
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

/** Never throws. @param receivedAt ISO 8601 */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string): ReferenceResult {
  const cuts: CutCounts = { depth: 0, keys: 0 }
  const isKept = (key: string): boolean => key === options.messageKey || key === options.errorKey || isEntryKey(key)
  const record = parseRecord(line, cuts, isKept)
  // Before the mapping as well: a record's `name` and `value` may become parts of different fields.
  const removed = record === undefined ? 0 : removeHeaderMembers(record)
  const { entry, level, ids } =
    record === undefined ? textEntry(line, options, receivedAt) : toEntry(record, options, receivedAt)
  if (cuts.depth > 0) addNote(entry, { cut_for_depth: cuts.depth })
  if (cuts.keys > 0) addNote(entry, { cut_keys: cuts.keys })
  return { json: finishEntry(entry, options.maxEntryBytes, options.redactor, removed), level, ids }
}

/** A line that is not a JSON object becomes the message. */
function textEntry(line: string, options: MappingOptions, receivedAt: string): ReturnType<typeof toEntry> {
  return toEntry({ msg: cleanText(line) }, { ...options, messageKey: 'msg', nestedKey: undefined }, receivedAt)
}
