/** Computes the expected results of queries from the records, as simply as possible. */
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { ErrorGroup, FieldValues, RouteStats } from '../../../src/service/query/api-types.js'
import { findRunId } from '../../../src/service/store/runs.js'
import { computeFingerprint } from '../../../src/service/store/group-fingerprint.js'
import type { Chart } from '../../../src/service/query/language/index.js'
import type { EntryFilter, RequestFilter } from '../../../src/service/query/query-filters.js'
import { matchesEntry, matchesRequestLog, readEntryField } from './matching/naive-query.js'
import type { StoredEntry, StoredRequestLog } from '../../../src/service/store/stored-record.js'

const ms = (time: string): number => Date.parse(time)
const iso = (time: number): string => new Date(time).toISOString()
const isFailure = ({ level, error }: LogEntry): boolean => ['error', 'fatal'].includes(level) || error !== undefined
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const hasText = (value: string | undefined, asked: string | undefined): boolean =>
  asked === undefined || value?.toLowerCase() === asked.toLowerCase()

export function matches(filter: EntryFilter, entry: LogEntry): boolean {
  const { level, service, environment, version, release_id, trace_id, request_id, tag, fingerprint, q, since, until } =
    filter
  const own = entry.fingerprint !== undefined || isFailure(entry) ? computeFingerprint(entry) : undefined
  return (
    (level === undefined || [level].flat().includes(entry.level)) &&
    hasText(entry.service, service) &&
    hasText(entry.environment, environment) &&
    hasText(entry.version, version) &&
    hasText(entry.release_id, release_id) &&
    hasText(entry.trace?.trace_id, trace_id) &&
    hasText(entry.request_id, request_id) &&
    (tag === undefined || (entry.tags ?? []).some((one) => hasText(one, tag))) &&
    hasText(own, fingerprint) &&
    (q === undefined || matchesEntry(q, entry)) &&
    (since === undefined || ms(entry.timestamp) >= ms(since)) &&
    (until === undefined || ms(entry.timestamp) < ms(until))
  )
}

/** The range without outliers: at each end at most 1 in 200 and at least one, farther from the rest than an hour and ten times its span. */
export function timeRange(times: readonly number[]): { firstMs: number; lastMs: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const most = times.length < 3 ? 0 : Math.max(1, Math.floor(times.length / 200))
  const rest = sorted.slice(most, sorted.length - most)
  const [from = 0, to = 0] = [rest[0], rest.at(-1)]
  const distance = Math.max(3_600_000, 10 * (to - from))
  const kept = sorted.filter((time) => time >= from - distance && time <= to + distance)
  return { firstMs: kept[0] ?? 0, lastMs: kept.at(-1) ?? 0 }
}

export function byTime(entries: readonly StoredEntry[]): StoredEntry[] {
  return entries.toSorted((a, b) => ms(a.entry.timestamp) - ms(b.entry.timestamp) || a.seq - b.seq)
}

export function counts(entries: readonly StoredEntry[]): Record<string, number> {
  const of = (level: string): number => entries.filter(({ entry }) => entry.level === level).length
  return {
    debug: of('debug'),
    info: of('info'),
    warn: of('warn'),
    error: of('error'),
    fatal: of('fatal'),
    total: entries.length,
  }
}

export function values(entries: readonly StoredEntry[], field: string, limit: number, prefix = ''): FieldValues {
  const wanted = entries.flatMap(({ entry }) => {
    const value = readEntryField(entry, field)
    const texts = value === undefined ? [] : [...new Set([value].flat().map(String))]
    const some = texts.filter((text) => text.toLowerCase().startsWith(prefix))
    return field === 'user' ? some.slice(0, 1) : some
  })
  const items = [...new Set(wanted)].map((value) => ({
    value,
    count: wanted.filter((other) => other === value).length,
  }))
  const sorted = items.toSorted((a, b) => b.count - a.count || compare(a.value, b.value))
  return { items: sorted.slice(0, limit), more: sorted.length > limit }
}

/** Whether the first entry of the failure has the latest of at least two versions of its service. */
export function isNewFailure(fingerprint: string, all: readonly StoredEntry[]): boolean {
  const sorted = byTime(all).map(({ entry }) => entry)
  const first = sorted.find((entry) => isFailure(entry) && computeFingerprint(entry) === fingerprint)
  const versions = new Set(
    sorted.flatMap(({ service, version }) =>
      version !== undefined && (service ?? '') === (first?.service ?? '') ? [version] : [],
    ),
  )
  return versions.size > 1 && first?.version === [...versions].at(-1)
}

/** The entry's user, else that of the last entry with a user of the same request, else the only one of the same trace. */
function findUser(entry: LogEntry, all: readonly StoredEntry[]): string | undefined {
  const userOf = (one: LogEntry): string | undefined => one.user_id ?? one.user?.id
  const requestOf = (one: LogEntry): string | undefined =>
    one.request_id && `${findRunId(one) ?? one.service ?? ''} ${one.request_id}`
  const found = byTime(all).map((one) => one.entry)
  const usersOf = (idOf: (one: LogEntry) => string | undefined): string[] =>
    idOf(entry) ? found.filter((one) => idOf(one) === idOf(entry)).flatMap((one) => userOf(one) ?? []) : []
  const ofTrace = new Set(usersOf((one) => one.trace?.trace_id))
  return userOf(entry) ?? usersOf(requestOf).at(-1) ?? (ofTrace.size === 1 ? [...ofTrace][0] : undefined)
}

/** @param matching subset of `all`, in order of arrival @param range range of the trends */
export function errorGroups(
  matching: readonly StoredEntry[],
  all: readonly StoredEntry[],
  range: { sinceMs: number; untilMs: number },
): ErrorGroup[] {
  const failures = matching.filter(({ entry }) => isFailure(entry))
  const groups = [...new Set(failures.map(({ entry }) => computeFingerprint(entry)))].map((fingerprint) => {
    const members = byTime(failures.filter(({ entry }) => computeFingerprint(entry) === fingerprint))
    const newest = members.at(-1) as StoredEntry
    const times = members.map(({ entry }) => ms(entry.timestamp))
    const names = (of: (entry: LogEntry) => string | undefined): string[] =>
      [...new Set(members.flatMap(({ entry }) => of(entry) ?? []))].toSorted(compare)
    const trend = Array.from({ length: 24 }, (_, part) => {
      const [from, to] = [part, part + 1].map((n) => range.sinceMs + (n * (range.untilMs - range.sinceMs)) / 24)
      return times.filter((time) => time >= (from as number) && time < (to as number)).length
    })
    const users = members.flatMap(({ entry }) => findUser(entry, all) ?? [])
    const topUsers = [...new Set(users)].map((user) => ({ user, count: users.filter((one) => one === user).length }))
    const versions = members.flatMap(({ entry }) => entry.version ?? [])
    const group: ErrorGroup = {
      fingerprint,
      is_given: newest.entry.fingerprint !== undefined,
      level: newest.entry.level,
      type: newest.entry.error?.type ?? null,
      message: newest.entry.error?.message ?? newest.entry.message,
      count: members.length,
      first_seen: iso(Math.min(...times)),
      last_seen: iso(Math.max(...times)),
      services: names(({ service }) => service).slice(0, 10),
      versions: names(({ version }) => version).slice(0, 10),
      users: topUsers.length,
      top_users: topUsers.toSorted((a, b) => b.count - a.count || compare(a.user, b.user)),
      first_version: versions[0] ?? null,
      last_version: versions.at(-1) ?? null,
      is_new: isNewFailure(fingerprint, all),
      route: null,
      newest: newest.id,
      trend,
    }
    return { group, seq: newest.seq }
  })
  return groups
    .toSorted((a, b) => ms(b.group.last_seen) - ms(a.group.last_seen) || b.seq - a.seq)
    .map(({ group }) => group)
}

/** The function of numbers, as simply as possible. @returns null without a number, except for `count` */
export function computeFunction(name: Chart['name'], numbers: readonly number[]): number | null {
  const sum = numbers.reduce((total, one) => total + one, 0)
  if (name === 'count') return numbers.length
  if (numbers.length === 0) return null
  if (name === 'sum') return sum
  if (name === 'avg') return sum / numbers.length
  if (name === 'min') return Math.min(...numbers)
  return name === 'max' ? Math.max(...numbers) : percentile(numbers, Number(name.slice(1)))
}

/** All groups of a chart, most entries first; and a chart of all but the first 8. @param steps start and end of each, in milliseconds */
export function chartGroups(
  entries: readonly StoredEntry[],
  { name, field, by }: Chart,
  steps: readonly (readonly [number, number])[],
) {
  const listTexts = (value: unknown): string[] => (value === undefined ? [] : [...new Set([value].flat().map(String))])
  const numbersOf = ({ entry }: StoredEntry): number[] =>
    field === null
      ? [1]
      : [readEntryField(entry, field)]
          .flat()
          .flatMap((one) => (/^-?\d+(\.\d+)?$/.test(String(one)) ? [Number(one)] : []))
  const namesOf = ({ entry }: StoredEntry): (string | null)[] => {
    const all = by === null ? [] : listTexts(readEntryField(entry, by))
    const names = by === 'user' || by === 'error' ? all.slice(0, 1) : all
    return names.length === 0 ? [null] : names
  }
  const counted = entries.filter(
    (one) =>
      numbersOf(one).length > 0 &&
      steps.some(([from, to]) => ms(one.entry.timestamp) >= from && ms(one.entry.timestamp) < to),
  )
  const toGroup = (group: string | null, among: readonly (string | null)[] = [group]) => {
    const members = counted.filter((one) => namesOf(one).some((own) => among.includes(own)))
    const within = ([from, to]: readonly [number, number]) =>
      members.filter(({ entry }) => ms(entry.timestamp) >= from && ms(entry.timestamp) < to)
    return {
      name: group,
      count: members.length,
      value: computeFunction(name, members.flatMap(numbersOf)) ?? 0,
      values: steps.map((step) => computeFunction(name, within(step).flatMap(numbersOf))),
    }
  }
  const groups = [...new Set(counted.flatMap(namesOf))]
    .map((group) => toGroup(group))
    .toSorted((a, b) => b.count - a.count || compare(a.name ?? '', b.name ?? ''))
  const { name: _, ...others } = toGroup(
    null,
    groups.slice(8).map((group) => group.name),
  )
  return { groups, others }
}

export function matchesRequest(
  { q, service, environment, since, until }: RequestFilter,
  { request }: StoredRequestLog,
): boolean {
  return (
    hasText(request.service, service) &&
    hasText(request.environment, environment) &&
    (q === undefined || matchesRequestLog(q, request)) &&
    (since === undefined || ms(request.timestamp) >= ms(since)) &&
    (until === undefined || ms(request.timestamp) < ms(until))
  )
}

/** Returns the smallest value that at least `percent` % of the values do not exceed. */
export function percentile(durations: readonly number[], percent: number): number {
  const sorted = durations.toSorted((a, b) => a - b)
  return (
    sorted.find((value) => sorted.filter((other) => other <= value).length * 100 >= percent * sorted.length) ??
    Number.NaN
  )
}

export function routes(matching: readonly StoredRequestLog[]): RouteStats[] {
  const nameOf = ({ request }: StoredRequestLog): string =>
    JSON.stringify([request.service || null, request.method, request.route ?? request.path])
  const stats = [...new Set(matching.map(nameOf))].map((name): RouteStats => {
    const members = matching.filter((one) => nameOf(one) === name).map(({ request }) => request)
    const [service, method, route] = JSON.parse(name) as [string | null, string, string]
    const durations = members.map(({ duration_ms }) => duration_ms)
    const errors = members.filter(({ status_code }) => Math.floor(status_code / 100) === 5).length
    return {
      service,
      method,
      route,
      count: members.length,
      errors,
      client_errors: members.filter(({ status_code }) => Math.floor(status_code / 100) === 4).length,
      error_rate: errors / members.length,
      p50_ms: percentile(durations, 50),
      p95_ms: percentile(durations, 95),
      p99_ms: percentile(durations, 99),
      max_ms: Math.max(...durations),
      last_seen: iso(Math.max(...members.map(({ timestamp }) => ms(timestamp)))),
    }
  })
  return stats.toSorted(
    (a, b) =>
      b.count - a.count ||
      compare(a.route, b.route) ||
      compare(a.method, b.method) ||
      compare(a.service ?? '', b.service ?? ''),
  )
}
