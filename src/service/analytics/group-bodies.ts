/** The members of error groups, summed up (pure). */
import type { GroupBody, GroupHead, StoredEntry, Trend } from '../store/store.js'
import { trendOf } from './frame.js'

/** What a group is told by of each entry in it. */
export interface Member {
  readonly group: string | undefined
  readonly timeMs: number
  readonly service: string | undefined
  readonly version: string | undefined
  readonly user: string | undefined
}

/** In the order of `heads`. Members of other groups are passed over; `newest` finds the entry of a `seq`. */
export function groupBodiesOf(
  heads: readonly GroupHead[],
  members: Iterable<Member>,
  trend: Trend,
  newest: (seq: number) => StoredEntry,
): GroupBody[] {
  const groups = new Map<string | undefined, Member[]>(heads.map(({ fingerprint }) => [fingerprint, []]))
  for (const member of members) groups.get(member.group)?.push(member)
  return heads.map(({ fingerprint, newestSeq }) => bodyOf(newest(newestSeq), groups.get(fingerprint) ?? [], trend))
}

function bodyOf(newest: StoredEntry, members: readonly Member[], { range, parts }: Trend): GroupBody {
  return {
    newest,
    services: distinct(members.map(({ service }) => service)),
    versions: distinct(members.map(({ version }) => version)),
    users: distinct(members.map(({ user }) => user)).length,
    trend: trendOf(range, parts, members.map(({ timeMs }) => timeMs)),
  }
}

function distinct(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value !== undefined)
}
