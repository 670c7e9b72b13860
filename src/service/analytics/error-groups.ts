/** Failures by fingerprint: order, pages and summaries (pure). */
import type { ErrorGroup } from '../query/api-types.js'
import { truncate } from '../query/entry-summary.js'
import { createCursorError } from '../query/query-filters.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import type { Page } from '../store/stored-record.js'
import { countTrend } from './time-buckets.js'
import type { TimeRange } from './time-buckets.js'
import { compareTexts } from './value-counts.js'

export const TREND_PARTS = 24
const MAX_USERS = 1000
const MAX_NAMES = 10
const MAX_TEXT = 500

/** Entries of one group, oldest first. */
type Members = IndexedEntry[]

interface Position {
  readonly lastMs: number
  readonly newestSeq: number
}

interface Group extends Position {
  readonly members: Members
}

/** Last seen first; of groups last seen in the same millisecond, the one with the entry that arrived last. */
function comparePositions(a: Position, b: Position): number {
  return b.lastMs - a.lastMs || b.newestSeq - a.newestSeq
}

/** If an entry of a group arrives between two queries, the group moves to the first page. */
export function pageGroups(
  failures: readonly IndexedEntry[],
  limit: number,
  cursor: string | undefined,
): Page<Members> {
  const after = cursor === undefined ? undefined : parseGroupCursor(cursor)
  const groups = groupByFingerprint(failures).filter(
    (group) => after === undefined || comparePositions(after, group) < 0,
  )
  const sorted = groups.toSorted(comparePositions)
  const items = sorted.slice(0, limit)
  const end = sorted.length > limit ? items.at(-1) : undefined
  return {
    items: items.map(({ members }) => members),
    next: end === undefined ? null : `${end.lastMs}.${end.newestSeq}`,
  }
}

function groupByFingerprint(failures: readonly IndexedEntry[]): Group[] {
  const groups = new Map<string, Members>()
  for (const failure of failures) {
    const { fingerprint = '' } = failure
    const members = groups.get(fingerprint)
    if (members === undefined) groups.set(fingerprint, [failure])
    else members.push(failure)
  }
  return [...groups.values()].map((members) => {
    const lastMs = members.reduce((latest, { timeMs }) => Math.max(latest, timeMs), -Infinity)
    return { members, lastMs, newestSeq: members.at(-1)?.seq ?? 0 }
  })
}

function parseGroupCursor(cursor: string): Position {
  const [, lastMs, newestSeq] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (lastMs === undefined || newestSeq === undefined) throw createCursorError(cursor)
  return { lastMs: Number(lastMs), newestSeq: Number(newestSeq) }
}

/** `range` is that of the trend. */
export function toErrorGroup(members: Members, range: TimeRange, parts: number): ErrorGroup {
  const newest = members.at(-1) as IndexedEntry
  const { entry } = newest.record
  const times = members.map(({ timeMs }) => timeMs)
  const sortedTimes = new Float64Array(times).toSorted()
  return {
    fingerprint: newest.fingerprint ?? '',
    is_given: entry.fingerprint !== undefined,
    level: entry.level,
    type: entry.error?.type === undefined ? null : truncate(entry.error.type, MAX_TEXT),
    message: truncate(entry.error?.message ?? entry.message, MAX_TEXT),
    count: members.length,
    first_seen: new Date(sortedTimes[0] ?? 0).toISOString(),
    last_seen: new Date(sortedTimes.at(-1) ?? 0).toISOString(),
    services: firstNames(members.map(({ service }) => service)),
    versions: firstNames(members.map(({ version }) => version)),
    users: Math.min(distinct(members.map(({ user }) => user)).length, MAX_USERS),
    newest: newest.record.id,
    trend: countTrend(range, parts, times),
  }
}

function firstNames(names: readonly (string | undefined)[]): string[] {
  return distinct(names).toSorted(compareTexts).slice(0, MAX_NAMES)
}

function distinct(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value !== undefined)
}
