/** The members of error groups, summed up (pure). */
import type { GroupDetails, GroupSummary, StoredEntry, Trend } from '../store/store.js'
import { countTrend } from './time-buckets.js'

/** What a group is told by of each entry in it. */
export interface GroupMember {
  readonly group: string | undefined
  readonly timeMs: number
  readonly service: string | undefined
  readonly version: string | undefined
  readonly user: string | undefined
}

/** In the order of `heads`. Members of other groups are passed over; `newest` finds the entry of a `seq`. */
export function summarizeMembers(
  heads: readonly GroupSummary[],
  members: Iterable<GroupMember>,
  trend: Trend,
  newest: (seq: number) => StoredEntry,
): GroupDetails[] {
  const groups = new Map<string | undefined, GroupMember[]>(heads.map(({ fingerprint }) => [fingerprint, []]))
  for (const member of members) groups.get(member.group)?.push(member)
  return heads.map(({ fingerprint, newestSeq }) => bodyOf(newest(newestSeq), groups.get(fingerprint) ?? [], trend))
}

function bodyOf(newest: StoredEntry, members: readonly GroupMember[], { range, parts }: Trend): GroupDetails {
  return {
    newest,
    services: distinct(members.map(({ service }) => service)),
    versions: distinct(members.map(({ version }) => version)),
    users: distinct(members.map(({ user }) => user)).length,
    trend: countTrend(
      range,
      parts,
      members.map(({ timeMs }) => timeMs),
    ),
  }
}

function distinct(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value !== undefined)
}
