/** Compares two versions: errors, error groups and requests (pure). */
import type { ErrorGroup, ReleaseComparison, ReleaseSide, RouteComparison, RouteSide } from '../query/api-types.js'
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import { groupByFingerprint, toErrorGroup } from './error-groups.js'
import type { Group, GroupContext } from './error-groups.js'
import { isErrorLevel } from './level-counts.js'
import { compareNames, groupByRoute, nameOf, summarizeDurations } from './route-stats.js'
import { compareTexts } from '../query/compare-texts.js'

const MAX_GROUPS = 100
const MAX_ROUTES = 1000

/** Records of one version, sorted by time. */
export interface VersionRecords {
  readonly version: string
  readonly entries: readonly IndexedEntry[]
  readonly requests: readonly IndexedRequest[]
}

export function compareReleases(
  before: VersionRecords,
  after: VersionRecords,
  context: GroupContext,
): ReleaseComparison {
  const [beforeGroups, afterGroups] = [groupFailures(before), groupFailures(after)]
  return {
    before: toSide(before),
    after: toSide(after),
    new_groups: listMissing(afterGroups, beforeGroups, context),
    gone_groups: listMissing(beforeGroups, afterGroups, context),
    routes: compareRoutes(before.requests, after.requests),
  }
}

function toSide({ version, entries, requests }: VersionRecords): ReleaseSide {
  const errors = entries.filter(({ level }) => isErrorLevel(level)).length
  const durations = requests.length === 0 ? undefined : summarizeDurations(requests)
  return {
    version,
    entries: entries.length,
    errors,
    error_rate: entries.length === 0 ? 0 : errors / entries.length,
    requests: requests.length,
    request_error_rate: durations === undefined ? 0 : durations.errors / requests.length,
    p95_ms: durations?.p95_ms ?? null,
  }
}

function groupFailures({ entries }: VersionRecords): Map<string, Group> {
  const groups = groupByFingerprint(entries.filter(({ isFailure }) => isFailure))
  return new Map(groups.map((group) => [group.members[0]?.fingerprint ?? '', group]))
}

/** Groups in `from` that are not in `others`. */
function listMissing(
  from: ReadonlyMap<string, Group>,
  others: ReadonlyMap<string, Group>,
  context: GroupContext,
): ErrorGroup[] {
  const missing = [...from].filter(([fingerprint]) => !others.has(fingerprint))
  const sorted = missing.toSorted(
    ([a, one], [b, other]) => other.members.length - one.members.length || compareTexts(a, b),
  )
  return sorted.slice(0, MAX_GROUPS).map(([, { members }]) => toErrorGroup(members, context))
}

function compareRoutes(before: readonly IndexedRequest[], after: readonly IndexedRequest[]): RouteComparison[] {
  const byName = (requests: readonly IndexedRequest[]): Map<string, IndexedRequest[]> =>
    new Map(groupByRoute(requests).map((members) => [JSON.stringify(nameOf(members[0] as IndexedRequest)), members]))
  const [old, fresh] = [byName(before), byName(after)]
  const routes = [...new Set([...old.keys(), ...fresh.keys()])].map((key) => {
    const [befores = [], afters = []] = [old.get(key), fresh.get(key)]
    const name = nameOf((befores[0] ?? afters[0]) as IndexedRequest)
    return { ...name, before: toRouteSide(befores), after: toRouteSide(afters) }
  })
  const count = ({ before: a, after: b }: RouteComparison): number => (a?.count ?? 0) + (b?.count ?? 0)
  return routes.toSorted((a, b) => count(b) - count(a) || compareNames(a, b)).slice(0, MAX_ROUTES)
}

function toRouteSide(requests: readonly IndexedRequest[]): RouteSide | null {
  if (requests.length === 0) return null
  const { count, errors, p95_ms } = summarizeDurations(requests)
  return { count, p95_ms: p95_ms ?? 0, error_rate: errors / count }
}
