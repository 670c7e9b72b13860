/**
 * The reference path: JSON.parse, map, JSON.stringify. It accepts every line and defines the result of the fast path,
 * which accepts most lines.
 */
import { removeHeaderMembers } from '../../redaction/header-members.js'
import { toEntry } from './entry-fields.js'
import type { MappedEntry, MappingOptions } from './entry-fields.js'
import { isMappedKey } from '../fast/fast-fields.js'
import { finishEntry } from '../finish-entry.js'
import { cleanText, createCutCounts } from '../clean-copy.js'
import type { CutCounts } from '../clean-copy.js'
import { parseRecord } from './parse-record.js'
import { noteCuts } from '../shorten-entry.js'
import { isLongLine, shortenLine, shortenText } from '../shorten-line.js'

export interface ReferenceResult extends Pick<MappedEntry, 'level' | 'ids' | 'requestPart' | 'requestId'> {
  /** The entry as JSON. */
  readonly json: string
  readonly hasRequest: boolean
  /** Whether the record has a level; undefined if the line is not a JSON object. */
  readonly hasLevel: boolean | undefined
}

/** Never throws. @param receivedAt ISO 8601 */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string): ReferenceResult {
  const cuts = createCutCounts()
  const { maxEntryBytes } = options
  const isMapped = (key: string): boolean => isMappedKey(key, options)
  const isLong = isLongLine(line, maxEntryBytes)
  const json = isLong ? shortenLine(line, maxEntryBytes, cuts, isMapped) : line
  const record = parseRecord(json, cuts, isMapped, options.levelKey)
  // Also before the mapping, because a record's `name` and `value` may become parts of different fields.
  const removed = record === undefined ? 0 : removeHeaderMembers(record)
  if (record === undefined && isLong) cuts.bytes = Buffer.byteLength(line)
  const { entry, ...mapped } =
    record === undefined
      ? textEntry(isLong ? shortenText(line, maxEntryBytes) : line, options, receivedAt, cuts)
      : toEntry(record, options, receivedAt)
  noteCuts(entry, cuts)
  return {
    ...mapped,
    json: finishEntry(entry, maxEntryBytes, options.redactor, removed),
    hasRequest: entry.request !== undefined,
    hasLevel: record === undefined ? undefined : mapped.hasLevel,
  }
}

/** A line that is not a JSON object becomes the message. */
function textEntry(
  line: string,
  options: MappingOptions,
  receivedAt: string,
  cuts: CutCounts,
): ReturnType<typeof toEntry> {
  return toEntry({ msg: cleanText(line, cuts) }, { ...options, messageKey: 'msg', nestedKey: undefined }, receivedAt)
}
