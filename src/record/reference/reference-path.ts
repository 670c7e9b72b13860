/**
 * The reference path: JSON.parse, map, JSON.stringify. It accepts every line and defines the result of the kernel,
 * which accepts most lines.
 */
import type { JsonObject } from '../../protocol/log-entry.js'
import { removeSecretMembers } from '../../redaction/secret-members.js'
import type { SecretNames } from '../../redaction/secret-names.js'
import { NO_MESSAGE, toEntry } from './entry-fields.js'
import type { MappedEntry, MappingOptions } from './entry-fields.js'
import { finishEntry } from '../finish-entry.js'
import { isObject } from '../coerce.js'
import { cleanText, createCutCounts } from '../clean-copy.js'
import type { CutCounts } from '../clean-copy.js'
import { isMappedKey } from './mapped-keys.js'
import { completeMembers, findFirstKey, parseRecord } from './parse-record.js'
import { addNote, noteCuts } from '../shorten-entry.js'
import { isLongLine, shortenLine, shortenText } from '../shorten-line.js'

export interface ReferenceResult extends Pick<MappedEntry, 'level' | 'ids' | 'requestPart' | 'requestId'> {
  readonly json: string
  readonly hasRequest: boolean
  /** Whether the record has a level; undefined if the line is not a JSON object. */
  readonly hasLevel: boolean | undefined
  /** Length of the line if only a beginning of it is in the entry, else 0. */
  readonly incompleteChars: number
}

/**
 * Never throws. The end of an incomplete record is not sent: it may be part of a header or a body.
 *
 * @param receivedAt ISO 8601
 * @param cutFrom see `Line`
 */
export function mapByParsing(line: string, options: MappingOptions, receivedAt: string, cutFrom = 0): ReferenceResult {
  const { maxEntryBytes } = options
  const isMapped = (key: string): boolean => isMappedKey(key, options)
  const isLong = isLongLine(line, maxEntryBytes)
  let cuts = createCutCounts()
  const parse = (text: string): JsonObject | undefined => {
    cuts = createCutCounts()
    const json = isLong ? shortenLine(text, maxEntryBytes, cuts, isMapped) : text
    return parseRecord(json, cuts, isMapped)
  }
  const whole = parse(line)
  const key = whole === undefined ? findFirstKey(line) : undefined
  const isIncomplete = key !== undefined && (cutFrom > 0 || isMapped(key))
  const record = isIncomplete ? parse(completeMembers(line)) : whole
  // Also before the mapping, which divides a pair of `name` and `value`, and renames members such as `req.remoteAddress`.
  const removed = record === undefined ? 0 : removeSecretsOfMembers(record, options.redactor.names)
  if (record === undefined && isLong) cuts.bytes = Buffer.byteLength(line)
  const { entry, level, hasLevel, ids, requestPart, requestId } =
    record === undefined
      ? textEntry(isLong ? shortenText(line, maxEntryBytes) : line, options, receivedAt, cuts)
      : toEntry(record, options, receivedAt)
  noteCuts(entry, cuts)
  const incompleteChars = cutFrom > 0 || isIncomplete ? Math.max(cutFrom, line.length) : 0
  if (incompleteChars > 0) addNote(entry, { cut_from_chars: incompleteChars })
  return {
    level,
    ids,
    requestPart,
    requestId,
    json: finishEntry(entry, maxEntryBytes, options.redactor, removed),
    hasRequest: entry.request !== undefined,
    hasLevel: record === undefined ? undefined : hasLevel,
    incompleteChars,
  }
}

function removeSecretsOfMembers(record: JsonObject, names: SecretNames): number {
  let removed = removeSecretMembers(record, names, true)
  for (const value of Object.values(record)) if (isObject(value)) removed += removeSecretMembers(value, names, true)
  return removed
}

/** Whether JSON text is a log record: an object with a level, and a time or a message. */
export function isLogRecord(json: string, options: MappingOptions): boolean {
  const record = parseRecord(json, createCutCounts(), () => true)
  if (record === undefined) return false
  const { entry, hasLevel } = toEntry(record, options, '')
  return hasLevel && (entry.timestamp !== '' || entry.message !== NO_MESSAGE)
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
