/** Failures by fingerprint: order, pages, and what the answer shows of each (pure). */
import type { ErrorGroup } from '../query/api-types.js'
import { truncate } from '../query/entry-summary.js'
import { createCursorError } from '../query/query-filters.js'
import type { GroupDetails, GroupSummary, Page } from '../store/store.js'
import { compareCodePoints } from './code-point-order.js'

export const TREND_PARTS = 24
const MAX_USERS = 1000
const MAX_NAMES = 10
const MAX_TEXT = 500

type Place = Pick<GroupSummary, 'lastMs' | 'newestSeq'>

/** Last seen first; of those seen in the same millisecond the one whose newest entry came last. */
function isBefore(a: Place, b: Place): boolean {
  return a.lastMs === b.lastMs ? a.newestSeq > b.newestSeq : a.lastMs > b.lastMs
}

/** A group that was seen again meanwhile is on the first page then. */
export function pageGroups(
  heads: readonly GroupSummary[],
  limit: number,
  cursor: string | undefined,
): Page<GroupSummary> {
  const last = cursor === undefined ? undefined : placeOfCursor(cursor)
  const rest = last === undefined ? heads : heads.filter((head) => isBefore(last, head))
  const sorted = rest.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
  const items = sorted.slice(0, limit)
  const end = items.at(-1)
  return { items, next: sorted.length > limit && end !== undefined ? `${end.lastMs}.${end.newestSeq}` : null }
}

function placeOfCursor(cursor: string): Place {
  const [, lastMs, newestSeq] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (lastMs === undefined || newestSeq === undefined) throw createCursorError(cursor)
  return { lastMs: Number(lastMs), newestSeq: Number(newestSeq) }
}

export function toErrorGroup(
  head: GroupSummary,
  { newest, services, versions, users, trend }: GroupDetails,
): ErrorGroup {
  const { entry } = newest
  return {
    fingerprint: head.fingerprint,
    is_given: entry.fingerprint !== undefined,
    level: entry.level,
    type: entry.error?.type === undefined ? null : truncate(entry.error.type, MAX_TEXT),
    message: truncate(entry.error?.message ?? entry.message, MAX_TEXT),
    count: head.count,
    first_seen: new Date(head.firstMs).toISOString(),
    last_seen: new Date(head.lastMs).toISOString(),
    services: firstNames(services),
    versions: firstNames(versions),
    users: Math.min(users, MAX_USERS),
    newest: newest.id,
    trend,
  }
}

function firstNames(names: readonly string[]): string[] {
  return names.toSorted(compareCodePoints).slice(0, MAX_NAMES)
}
