/** [worker] Creates the entry that summarizes repeats. Pure. */
import type { LogEntry } from '../protocol/log-entry.js'
import { MemberCursor } from '../record/member-cursor.js'
import { NOTE_KEY, shortenToFit } from '../record/shorten-entry.js'

/**
 * Fields that equal entries share. Excludes users and requests, which differ, and `notify`, since the first entry has
 * notified already.
 */
const SHARED = [
  'service',
  'environment',
  'version',
  'tags',
  'error',
  'deploy',
  'fingerprint',
  'release_id',
  'source',
] as const

const SHORTENED = 'shortened_from_bytes'

export interface Repeats {
  /** Excludes the first entry, which was sent. */
  readonly count: number
  /** Time of the first repeat, ISO 8601. */
  readonly first: string
  /** Time between the entry that was sent and the summary. */
  readonly elapsedMs: number
}

/** @param lastJson the latest repeat, complete or from `condense` */
export function createSummary(lastJson: string, { count, first, elapsedMs }: Repeats, maxEntryBytes: number): string {
  const last = JSON.parse(lastJson) as LogEntry
  const times = count === 1 ? 'once' : `${count} times`
  const summary = shared(last)
  summary.message = `${last.message} (repeated ${times} in ${duration(elapsedMs)})`
  const shortened = shortenedFrom(last)
  summary.metadata = {
    [NOTE_KEY]: {
      ...(shortened !== undefined && { [SHORTENED]: shortened }),
      repeated: { count, first, last: last.timestamp },
    },
  }
  return shortenToFit(JSON.stringify(summary), maxEntryBytes)
}

/** The fields of an entry that a summary needs, in at most `maxBytes`. */
export function condense(entryJson: string, maxBytes: number): string {
  return shortenToFit(JSON.stringify(shared(JSON.parse(entryJson) as LogEntry)), maxBytes)
}

const members = new MemberCursor()

/** Reads the timestamp without a parser, since it is one of the first three members. */
export function findTimestamp(entryJson: string): string {
  const member = members.open(entryJson, 0, entryJson.length)
  while (member.next() && member.skipValue()) {
    if (member.key() === 'timestamp') return member.value().slice(1, -1)
  }
  return (JSON.parse(entryJson) as LogEntry).timestamp
}

function shared(entry: LogEntry): LogEntry {
  const { level, message, timestamp } = entry
  const others = SHARED.filter((field) => entry[field] !== undefined).map((field) => [field, entry[field]] as const)
  return { level, message, timestamp, ...Object.fromEntries(others) }
}

/** Original size of a shortened entry. */
function shortenedFrom({ metadata }: LogEntry): number | undefined {
  const note = metadata?.[NOTE_KEY]
  const bytes = typeof note === 'object' && note !== null && !Array.isArray(note) ? note[SHORTENED] : undefined
  return typeof bytes === 'number' ? bytes : undefined
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Formats for people: `850 ms`, `1.5 s`, `60 s`, `5 min`, `2 h`. */
function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(1, Math.round(ms))} ms`
  if (ms < 2 * MINUTE_MS) return `${ms < 10 * SECOND_MS ? Math.round(ms / 100) / 10 : Math.round(ms / SECOND_MS)} s`
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${Math.round(ms / HOUR_MS)} h`
}
