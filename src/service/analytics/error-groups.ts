/** Groups failures by fingerprint: sorting, paging and summaries (pure). */
import type { Feedback } from '../../protocol/resources.js'
import type { ErrorGroup } from '../query/api-types.js'
import { checkSort, createCursorError } from '../query/query-filters.js'
import { truncate } from '../query/truncate.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import type { Page } from '../store/stored-record.js'
import { findFailedRoute } from '../store/failed-route.js'
import { countTrend } from './time-buckets.js'
import type { TimeRange } from './time-buckets.js'
import { compareTexts } from '../query/compare-texts.js'

const TREND_PARTS = 24
const MAX_USERS = 1000
const MAX_TOP_USERS = 10
const MAX_NAMES = 10
const MAX_TEXT = 500

/** Entries of one group, sorted by time, then by arrival. */
export type Members = IndexedEntry[]

interface Position {
  readonly count: number
  readonly lastMs: number
  readonly newestSeq: number
}

export interface Group extends Position {
  readonly members: Members
}

/** Most recently seen first. Within one millisecond, the group whose entry arrived last comes first. */
function comparePositions(a: Position, b: Position): number {
  return b.lastMs - a.lastMs || b.newestSeq - a.newestSeq
}

const GROUP_SORTS = ['last_seen', 'count'] as const

interface GroupPageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  /** `last_seen` (default) or `count`: most frequent first, then most recently seen. */
  readonly sort?: string | undefined
}

/**
 * A group moves towards the first page if one of its entries arrives between two queries.
 * @param failures sorted by time
 * @throws IngestServiceError `QUERY`.
 */
export function listGroups(failures: readonly IndexedEntry[], { limit, cursor, sort }: GroupPageQuery): Page<Members> {
  checkSort(sort, GROUP_SORTS)
  const isByCount = sort === 'count'
  const compare = (a: Position, b: Position): number => (isByCount ? b.count - a.count : 0) || comparePositions(a, b)
  const after = cursor === undefined ? undefined : parseGroupCursor(cursor, isByCount)
  const groups = groupByFingerprint(failures).filter((group) => after === undefined || compare(after, group) < 0)
  const sorted = groups.toSorted(compare)
  const items = sorted.slice(0, limit)
  const end = sorted.length > limit ? items.at(-1) : undefined
  return {
    items: items.map(({ members }) => members),
    next: end === undefined ? null : `${isByCount ? `${end.count}_` : ''}${end.lastMs}.${end.newestSeq}`,
  }
}

export function groupByFingerprint(failures: readonly IndexedEntry[]): Group[] {
  const groups = new Map<string, Members>()
  for (const failure of failures) {
    const { fingerprint = '' } = failure
    const members = groups.get(fingerprint)
    if (members === undefined) groups.set(fingerprint, [failure])
    else members.push(failure)
  }
  return [...groups.values()].map((members) => {
    const newest = members.at(-1) as IndexedEntry
    return { members, count: members.length, lastMs: newest.timeMs, newestSeq: newest.seq }
  })
}

function parseGroupCursor(cursor: string, isByCount: boolean): Position {
  const [, count, lastMs, newestSeq] = /^(?:(\d{1,15})_)?(-?\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (lastMs === undefined || (count !== undefined) !== isByCount) throw createCursorError(cursor)
  return { count: Number(count), lastMs: Number(lastMs), newestSeq: Number(newestSeq) }
}

export interface GroupContext {
  readonly range: TimeRange
  /** Fingerprints of failures that were first seen in the latest version of their service. */
  readonly newFingerprints: ReadonlySet<string>
  readonly findFeedback: (entry: IndexedEntry) => Feedback | undefined
  readonly users: ReadonlyMap<string, string | undefined>
}

export function toErrorGroup(members: Members, context: GroupContext): ErrorGroup {
  const { range, newFingerprints, findFeedback } = context
  const oldest = members[0] as IndexedEntry
  const newest = members.at(-1) as IndexedEntry
  const { entry } = newest.record
  const { fingerprint = '' } = newest
  const users = countUsers(members, context)
  const feedback = members.filter((member) => findFeedback(member) !== undefined).length
  return {
    fingerprint,
    is_given: entry.fingerprint !== undefined,
    level: entry.level,
    type: entry.error?.type === undefined ? null : truncate(entry.error.type, MAX_TEXT),
    message: truncate(entry.error?.message ?? entry.message, MAX_TEXT),
    count: members.length,
    ...(feedback > 0 && { feedback }),
    first_seen: new Date(oldest.timeMs).toISOString(),
    last_seen: new Date(newest.timeMs).toISOString(),
    services: firstNames(members.map(({ service }) => service)),
    versions: firstNames(members.map(({ version }) => version)),
    users: Math.min(users.length, MAX_USERS),
    top_users: users.slice(0, MAX_TOP_USERS),
    first_version: members.find(({ version }) => version !== undefined)?.version ?? null,
    last_version: members.findLast(({ version }) => version !== undefined)?.version ?? null,
    is_new: newFingerprints.has(fingerprint),
    route: (entry.fingerprint === undefined ? findFailedRoute(entry) : undefined) ?? null,
    newest: newest.record.id,
    trend: countTrend(
      range,
      TREND_PARTS,
      members.map(({ timeMs }) => timeMs),
    ),
  }
}

/**
 * Users sorted by number of entries, greatest first. The user of a failure is often known from another entry of its request, or from the
 * feedback on it.
 */
function countUsers(
  members: Members,
  { users, findFeedback }: GroupContext,
): { readonly user: string; readonly count: number }[] {
  const counts = new Map<string, number>()
  for (const entry of members) {
    const shared = listRequestKeys(entry).map((key) => users.get(key))
    const user = entry.user ?? shared.find((one) => one !== undefined) ?? (findFeedback(entry)?.email || undefined)
    if (user !== undefined) counts.set(user, (counts.get(user) ?? 0) + 1)
  }
  const sorted = [...counts].toSorted(([a, n], [b, m]) => m - n || compareTexts(a, b))
  return sorted.map(([user, count]) => ({ user, count }))
}

/** The user of each request with a failure: that of its last entry with a user. Of a trace, the only user. */
export function indexUsers(entries: readonly IndexedEntry[]): ReadonlyMap<string, string | undefined> {
  const wanted = new Set<string | undefined>()
  for (const { isFailure, user, trace_id: traceId, request_id: requestId } of entries)
    if (isFailure && user === undefined) wanted.add(traceId).add(requestId)
  wanted.delete(undefined)
  const users = new Map<string, string | undefined>()
  for (const entry of entries) {
    if (entry.user === undefined || !(wanted.has(entry.trace_id) || wanted.has(entry.request_id))) continue
    for (const key of listRequestKeys(entry)) {
      const isOther = users.has(key) && users.get(key) !== entry.user
      users.set(key, isOther && key.startsWith('trace ') ? undefined : entry.user)
    }
  }
  return users
}

/** Ids of requests are unique only within their run. */
function listRequestKeys({ trace_id, request_id, service = '', run }: IndexedEntry): string[] {
  return [
    ...(request_id ? [`request ${run?.id ?? service}\0${request_id}`] : []),
    ...(trace_id ? [`trace ${trace_id}`] : []),
  ]
}

function firstNames(names: readonly (string | undefined)[]): string[] {
  const distinct = [...new Set(names)].filter((name) => name !== undefined)
  return distinct.toSorted(compareTexts).slice(0, MAX_NAMES)
}
