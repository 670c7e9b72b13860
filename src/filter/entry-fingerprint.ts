/** [worker] Fingerprint for deduplication: the record's own, otherwise that of its error. */
import type { LogEntry } from '../protocol/log-entry.js'
import { computeErrorFingerprint } from '../record/reference/error-fingerprint.js'
import { MemberCursor } from '../record/member-cursor.js'
import { copyString } from '../record/string-copy.js'

const ERROR_MEMBER = '"error":{'
/** Bursts of errors have few distinct errors. */
const MAX_KNOWN = 256
/** Longer errors are not cached, which limits the cache to 8 MiB. */
const MAX_KNOWN_CHARS = 16 * 1024

/** Fingerprints by the JSON of the error: computing one takes ten times as long as a look-up. */
const known = new Map<string, string>()
const members = new MemberCursor()

/**
 * @returns '' if the entry has no fingerprint
 *
 * @param entryJson compact, as the mapper writes it
 * @param own the record's own fingerprint, which takes precedence; '' if it has none
 */
export function findFingerprint(entryJson: string, own: string): string {
  if (own !== '') return own
  // Most entries have no error, and this search is faster than iterating over the members.
  if (!entryJson.includes(ERROR_MEMBER)) return ''
  const errorJson = findError(entryJson)
  if (errorJson === '') return ''
  const found = known.get(errorJson)
  if (found !== undefined) return found
  const fingerprint = computeErrorFingerprint(JSON.parse(errorJson) as NonNullable<LogEntry['error']>)
  if (errorJson.length <= MAX_KNOWN_CHARS) remember(errorJson, fingerprint)
  return fingerprint
}

/** JSON of the entry's own error, not of an error in its metadata. */
function findError(entryJson: string): string {
  const member = members.open(entryJson, 0, entryJson.length)
  while (member.next()) {
    if (!member.skipValue()) return parseError(entryJson)
    if (member.key() === 'error') return member.value()
  }
  return member.closedAt === -1 ? parseError(entryJson) : ''
}

/** The cursor does not support rare values, such as the number 1e300. */
function parseError(entryJson: string): string {
  const { error } = JSON.parse(entryJson) as LogEntry
  return error === undefined ? '' : JSON.stringify(error)
}

function remember(errorJson: string, fingerprint: string): void {
  if (known.size === MAX_KNOWN) {
    const [oldest] = known.keys()
    known.delete(oldest as string)
  }
  known.set(copyString(errorJson), fingerprint)
}
