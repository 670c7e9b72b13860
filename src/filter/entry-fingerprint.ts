/** [worker] What makes two entries the same: the fingerprint of their record, or that of their error. */
import type { LogEntry } from '../protocol/log-entry.js'
import { computeErrorFingerprint } from '../record/error-fingerprint.js'
import { MemberCursor } from '../record/member-cursor.js'
import { copyString } from '../record/string-copy.js'

const ERROR_MEMBER = '"error":{'
/** Equal errors come in storms, of which there are few at a time. */
const MAX_KNOWN = 256
/** A longer error is taken apart each time: what is known stays under 8 MiB. */
const MAX_KNOWN_CHARS = 16 * 1024

/** Fingerprints by the JSON text of their error: the hash and its expressions cost ten times a look-up. */
const known = new Map<string, string>()
const members = new MemberCursor()

/**
 * '' where nothing says what the entry is the same as.
 *
 * @param entryJson as the mapper writes it, compact
 * @param own fingerprint that the record names itself, '' for none; it wins
 */
export function findFingerprint(entryJson: string, own: string): string {
  if (own !== '') return own
  // Most entries have no error at all, and a look for it is cheaper than a walk over the members.
  if (!entryJson.includes(ERROR_MEMBER)) return ''
  const errorJson = findError(entryJson)
  if (errorJson === '') return ''
  const found = known.get(errorJson)
  if (found !== undefined) return found
  const fingerprint = computeErrorFingerprint(JSON.parse(errorJson) as NonNullable<LogEntry['error']>)
  if (errorJson.length <= MAX_KNOWN_CHARS) remember(errorJson, fingerprint)
  return fingerprint
}

/** JSON text of the entry's own error; one inside the metadata is not meant. */
function findError(entryJson: string): string {
  const member = members.open(entryJson, 0, entryJson.length)
  while (member.next()) {
    if (!member.skipValue()) return parseError(entryJson)
    if (member.key() === 'error') return member.value()
  }
  return member.closedAt === -1 ? parseError(entryJson) : ''
}

/** The cursor declines what is rare, a number like 1e300 for one. */
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
