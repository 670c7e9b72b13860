/** Compares two selections of records, such as two versions or two runs: errors, error groups and requests (pure). */
import type { ComparedGroup, ReleaseComparison, ReleaseSide, RouteComparison } from '../query/api-types.js'
import type { RouteSide } from '../query/api-types.js'
import { compareTexts } from '../query/compare-texts.js'
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import { groupByFingerprint, toErrorGroup } from './error-groups.js'
import type { GroupContext, Members } from './error-groups.js'
import { isErrorLevel } from './histogram.js'
import { compareNames, groupByRoute, nameOf, summarizeDurations } from './route-stats.js'

const MAX_GROUPS = 100
const MAX_ROUTES = 1000
/** A group with fewer entries, or with a smaller growth of its rate, may have increased by chance. */
const MIN_INCREASED_ENTRIES = 5
const MIN_INCREASED_RATIO = 2

export interface SideRecords {
  readonly query: string
  readonly entries: readonly IndexedEntry[]
  readonly requests: readonly IndexedRequest[]
}

export function compareReleases(before: SideRecords, after: SideRecords, context: GroupContext): ReleaseComparison {
  return {
    before: toSide(before),
    after: toSide(after),
    groups: compareGroups(before.entries, after.entries, context),
    routes: compareRoutes(before.requests, after.requests),
  }
}

function toSide({ query, entries, requests }: SideRecords): ReleaseSide {
  const errors = entries.filter(({ level }) => isErrorLevel(level)).length
  const durations = requests.length === 0 ? undefined : summarizeDurations(requests)
  return {
    query,
    entries: entries.length,
    errors,
    error_rate: entries.length === 0 ? 0 : errors / entries.length,
    requests: requests.length,
    request_error_rate: durations === undefined ? 0 : durations.errors / requests.length,
    p95_ms: durations?.p95_ms ?? null,
  }
}

interface GroupPair {
  readonly fingerprint: string
  readonly before: Members
  readonly after: Members
}

function compareGroups(
  before: readonly IndexedEntry[],
  after: readonly IndexedEntry[],
  context: GroupContext,
): ComparedGroup[] {
  const [old, fresh] = [groupFailures(before), groupFailures(after)]
  const pairs = [...new Set([...fresh.keys(), ...old.keys()])].map((fingerprint): GroupPair => ({
    fingerprint,
    before: old.get(fingerprint) ?? [],
    after: fresh.get(fingerprint) ?? [],
  }))
  const isIncreased = ({ before: { length: earlier }, after: { length } }: GroupPair): boolean =>
    earlier > 0 &&
    length >= MIN_INCREASED_ENTRIES &&
    length / after.length >= (MIN_INCREASED_RATIO * earlier) / before.length
  const list = (change: ComparedGroup['change'], side: 'before' | 'after', test: (pair: GroupPair) => boolean) =>
    pairs
      .filter(test)
      .toSorted((a, b) => b[side].length - a[side].length || compareTexts(a.fingerprint, b.fingerprint))
      .slice(0, MAX_GROUPS)
      .map((pair): ComparedGroup => ({
        ...toErrorGroup(pair[side], context),
        change,
        before: pair.before.length,
        after: pair.after.length,
      }))
  return [
    ...list('increased', 'after', isIncreased),
    ...list('new', 'after', (pair) => pair.before.length === 0),
    ...list('gone', 'before', (pair) => pair.after.length === 0),
  ]
}

function groupFailures(entries: readonly IndexedEntry[]): ReadonlyMap<string, Members> {
  const groups = groupByFingerprint(entries.filter(({ isFailure }) => isFailure))
  return new Map(groups.map(({ members }) => [members[0]?.fingerprint ?? '', members]))
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

/**
 * Finds an entry of the process that served each request, because request logs have neither a version nor a run: the entry of the same
 * service with the `request_id`, else the last earlier entry of the same service and environment. The service must match because
 * services pass ids on to each other. Both lists are sorted by time.
 */
export function findRequestEntries(
  requests: readonly IndexedRequest[],
  entries: readonly IndexedEntry[],
): readonly (IndexedEntry | undefined)[] {
  const byRequestId = new Map<string, IndexedEntry>()
  for (const entry of entries)
    if (entry.request_id !== undefined) byRequestId.set(toKey(entry.service, entry.request_id), entry)
  const latest = new Map<string, IndexedEntry>()
  let at = 0
  return requests.map(({ timeMs, service, environment, requestId }) => {
    for (let entry = entries[at]; entry !== undefined && entry.timeMs <= timeMs; entry = entries[++at])
      latest.set(toKey(entry.service, entry.environment), entry)
    return byRequestId.get(toKey(service, requestId)) ?? latest.get(toKey(service, environment))
  })
}

function toKey(service = '', other = ''): string {
  return `${service}\0${other}`
}
