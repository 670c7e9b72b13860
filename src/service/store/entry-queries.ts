/** The answers about entries from all that are in memory, one pass over them each. */
import { LEVELS } from '../../protocol/log-entry.js'
import { bucketIndex } from '../analytics/time-buckets.js'
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { countEach, mostFrequent } from '../analytics/frequency.js'
import { addToCounts, isErrorLevel, createLevelCounts } from '../analytics/level-counts.js'
import type { EntryTimes } from '../analytics/release-health.js'
import { parseEntryFilter, matchesFacts } from '../query/query-filters.js'
import type { EntryFilter, EqualityFilter } from '../query/query-filters.js'
import type { IndexedEntry } from './indexed-record.js'
import type { BucketCount, GroupSummary, LevelCounts, NewEntries, StoredEntry } from './store.js'
import type { Tally, ValueCounts } from './store.js'

type Entries = readonly IndexedEntry[]

export function matching(entries: Entries, filter: EntryFilter): Entries {
  const checked = parseEntryFilter(filter)
  return entries.filter((kept) => matchesFacts(checked, kept))
}

/** One after the other, for those who do not want all. */
export function* eachMatching(entries: Iterable<IndexedEntry>, filter: EntryFilter): Generator<IndexedEntry> {
  const checked = parseEntryFilter(filter)
  for (const kept of entries) if (matchesFacts(checked, kept)) yield kept
}

export function countLevels(entries: Entries, filter: EntryFilter): LevelCounts {
  const counts = createLevelCounts()
  for (const { level } of matching(entries, filter)) addToCounts(counts, level)
  return counts
}

export function entriesAfter(
  newestFirst: Iterable<IndexedEntry>,
  seq: number,
  filter: EntryFilter,
  limit: number,
): NewEntries {
  const items: StoredEntry[] = []
  let skipped = 0
  for (const { record } of eachMatching(until(newestFirst, seq), filter)) {
    if (items.length < limit) items.push(record)
    else skipped++
  }
  return { items: items.toReversed(), skipped }
}

function* until(newestFirst: Iterable<IndexedEntry>, seq: number): Generator<IndexedEntry> {
  for (const kept of newestFirst) {
    if (kept.seq <= seq) return
    yield kept
  }
}

export function findTimeRange(timed: Iterable<{ readonly timeMs: number }>): TimeRange | undefined {
  let firstMs = Infinity
  let lastMs = -Infinity
  for (const { timeMs } of timed) {
    if (timeMs < firstMs) firstMs = timeMs
    if (timeMs > lastMs) lastMs = timeMs
  }
  return firstMs <= lastMs ? { firstMs, lastMs } : undefined
}

export function countBuckets(entries: Entries, filter: EntryFilter, frame: TimeBuckets): BucketCount[] {
  const counts = Array.from({ length: frame.count }, createLevelCounts)
  for (const { timeMs, level } of matching(entries, filter)) {
    const bucket = counts[bucketIndex(frame, timeMs)]
    if (bucket !== undefined) addToCounts(bucket, level)
  }
  return counts.flatMap((bucket, n) => LEVELS.map((level) => ({ bucket: n, level, count: bucket[level] })))
}

export function countFieldValues(
  entries: Entries,
  field: EqualityFilter | 'tag',
  filter: EntryFilter,
  limit: number,
): ValueCounts {
  const found = matching(entries, filter)
  const values = field === 'tag' ? found.flatMap(({ tags }) => [...new Set(tags)]) : found.map((kept) => kept[field])
  const counts = countEach(values.filter((value) => value !== undefined))
  return mostFrequent(counts, limit)
}

export function failures(oldestFirst: Entries, filter: EntryFilter): readonly IndexedEntry[] {
  const checked = parseEntryFilter(filter)
  return oldestFirst.filter((kept) => kept.isFailure && matchesFacts(checked, kept))
}

export function summarizeGroups(oldestFirst: Entries, filter: EntryFilter): GroupSummary[] {
  const heads = new Map<string, { -readonly [K in keyof GroupSummary]: GroupSummary[K] }>()
  for (const { seq, timeMs, group = '' } of failures(oldestFirst, filter)) {
    const head = heads.get(group)
    if (head === undefined) {
      heads.set(group, { fingerprint: group, count: 1, firstMs: timeMs, lastMs: timeMs, newestSeq: seq })
      continue
    }
    head.count++
    head.newestSeq = seq
    if (timeMs < head.firstMs) head.firstMs = timeMs
    if (timeMs > head.lastMs) head.lastMs = timeMs
  }
  return [...heads.values()]
}

/** When what happened, and how bad it was: see `talliesIn`. */
export function listTimes(entries: Entries): EntryTimes {
  const errors = entries.filter(({ level }) => isErrorLevel(level))
  return { allMs: entries.map(({ timeMs }) => timeMs), errorsMs: errors.map(({ timeMs }) => timeMs) }
}

export function tallyReleases(entries: Entries): Map<string, Tally> {
  const tallies = new Map<string, { entries: number; errors: number }>()
  for (const { release_id, level } of entries) {
    if (release_id === undefined) continue
    const tally = tallies.get(release_id) ?? { entries: 0, errors: 0 }
    tallies.set(release_id, tally)
    tally.entries++
    if (isErrorLevel(level)) tally.errors++
  }
  return tallies
}
