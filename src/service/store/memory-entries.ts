/** The answers about entries from all that are in memory, one pass over them each. */
import { LEVELS } from '../../protocol/log-entry.js'
import { bucketOf } from '../analytics/frame.js'
import type { Frame, TimeRange } from '../analytics/frame.js'
import { countEach, mostFrequent } from '../analytics/frequency.js'
import { addTo, isErrorLevel, noCounts } from '../analytics/levels.js'
import type { Moments } from '../analytics/releases.js'
import { checkFilter, matchesFacts } from '../queries.js'
import type { EntryFilter, EqualityFilter } from '../queries.js'
import type { KeptEntry } from './kept.js'
import type { BucketCount, GroupHead, LevelCounts, NewEntries, StoredEntry } from './store.js'
import type { Tally, ValueCounts } from './store.js'

type Entries = readonly KeptEntry[]

export function matching(entries: Entries, filter: EntryFilter): Entries {
  const checked = checkFilter(filter)
  return entries.filter((kept) => matchesFacts(checked, kept))
}

/** One after the other, for those who do not want all. */
export function* eachMatching(entries: Iterable<KeptEntry>, filter: EntryFilter): Generator<KeptEntry> {
  const checked = checkFilter(filter)
  for (const kept of entries) if (matchesFacts(checked, kept)) yield kept
}

export function levelCounts(entries: Entries, filter: EntryFilter): LevelCounts {
  const counts = noCounts()
  for (const { level } of matching(entries, filter)) addTo(counts, level)
  return counts
}

export function entriesAfter(newestFirst: Iterable<KeptEntry>, seq: number, filter: EntryFilter, limit: number): NewEntries {
  const items: StoredEntry[] = []
  let skipped = 0
  for (const { record } of eachMatching(until(newestFirst, seq), filter)) {
    if (items.length < limit) items.push(record)
    else skipped++
  }
  return { items: items.toReversed(), skipped }
}

function* until(newestFirst: Iterable<KeptEntry>, seq: number): Generator<KeptEntry> {
  for (const kept of newestFirst) {
    if (kept.seq <= seq) return
    yield kept
  }
}

export function timeRange(timed: Iterable<{ readonly timeMs: number }>): TimeRange | undefined {
  let firstMs = Infinity
  let lastMs = -Infinity
  for (const { timeMs } of timed) {
    if (timeMs < firstMs) firstMs = timeMs
    if (timeMs > lastMs) lastMs = timeMs
  }
  return firstMs <= lastMs ? { firstMs, lastMs } : undefined
}

export function bucketCounts(entries: Entries, filter: EntryFilter, frame: Frame): BucketCount[] {
  const counts = Array.from({ length: frame.count }, noCounts)
  for (const { timeMs, level } of matching(entries, filter)) {
    const bucket = counts[bucketOf(frame, timeMs)]
    if (bucket !== undefined) addTo(bucket, level)
  }
  return counts.flatMap((bucket, n) => LEVELS.map((level) => ({ bucket: n, level, count: bucket[level] })))
}

export function fieldValues(
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

export function failures(oldestFirst: Entries, filter: EntryFilter): readonly KeptEntry[] {
  const checked = checkFilter(filter)
  return oldestFirst.filter((kept) => kept.isFailure && matchesFacts(checked, kept))
}

export function groupHeads(oldestFirst: Entries, filter: EntryFilter): GroupHead[] {
  const heads = new Map<string, { -readonly [K in keyof GroupHead]: GroupHead[K] }>()
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
export function moments(entries: Entries): Moments {
  const errors = entries.filter(({ level }) => isErrorLevel(level))
  return { allMs: entries.map(({ timeMs }) => timeMs), errorsMs: errors.map(({ timeMs }) => timeMs) }
}

export function talliesOfReleases(entries: Entries): Map<string, Tally> {
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
