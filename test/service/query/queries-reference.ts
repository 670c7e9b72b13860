/** Computes the expected results of queries from the records, as simply as possible. */
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { FieldValues } from '../../../src/service/query/api-types.js'
import { computeFingerprint } from '../../../src/service/store/group-fingerprint.js'
import type { EntryFilter } from '../../../src/service/query/query-filters.js'
import { matchesEntry, readEntryField } from './matching/naive-query.js'
import type { StoredEntry } from '../../../src/service/store/stored-record.js'

const ms = (time: string): number => Date.parse(time)
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
