/** Summarizes releases and counts the entries before and after each registration (pure). */
import type { ReleaseHealth } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import type { StoredRelease } from '../store/stored-record.js'
import { findFirst } from '../store/time-index.js'
import { isErrorLevel } from './level-counts.js'

const MAX_WINDOW_MS = 3_600_000

export interface ReleaseSummary {
  /** First and last registration. */
  readonly first: StoredRelease
  readonly last: StoredRelease
  readonly windowMs: number
}

/**
 * One summary per `release_id`, sorted by first registration, newest first. The window ends at the next release, whose errors
 * must not count for the previous one.
 */
export function summarizeReleases(oldestFirst: Iterable<StoredRelease>, nowMs: number): ReleaseSummary[] {
  const registrations = new Map<string, { first: StoredRelease; last: StoredRelease }>()
  for (const record of oldestFirst) {
    const known = registrations.get(record.release_id)
    if (known === undefined) registrations.set(record.release_id, { first: record, last: record })
    else known.last = record
  }
  let nextMs = nowMs
  return [...registrations.values()].toReversed().map(({ first, last }) => {
    const registeredMs = Date.parse(first.received_at)
    // The difference is negative if the wall clock was set back.
    const windowMs = Math.max(0, Math.min(MAX_WINDOW_MS, nextMs - registeredMs, nowMs - registeredMs))
    nextMs = registeredMs
    return { first, last, windowMs }
  })
}

export function tallyReleases(releases: readonly ReleaseSummary[], entries: readonly IndexedEntry[]): ReleaseHealth[] {
  const windows = sortTimes(entries)
  const linked = tallyLinked(entries)
  return releases.map(({ first, last, windowMs }) => {
    const registeredMs = Date.parse(first.received_at)
    return {
      release_id: first.release_id,
      release: last.release,
      registered_at: first.received_at,
      last_registered_at: last.received_at,
      window_ms: windowMs,
      before: tallyBetween(windows, registeredMs - windowMs, registeredMs),
      after: tallyBetween(windows, registeredMs, registeredMs + windowMs),
      linked: linked.get(first.release_id) ?? { entries: 0, errors: 0 },
    }
  })
}

interface Tally {
  entries: number
  /** Entries of level error and fatal. */
  errors: number
}

function tallyLinked(entries: readonly IndexedEntry[]): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, Tally>()
  for (const { release_id, level } of entries) {
    if (release_id === undefined) continue
    const tally = tallies.get(release_id) ?? { entries: 0, errors: 0 }
    tallies.set(release_id, tally)
    tally.entries++
    if (isErrorLevel(level)) tally.errors++
  }
  return tallies
}

interface SortedTimes {
  readonly allMs: Float64Array
  readonly errorsMs: Float64Array
}

/** Sorts once: each window then needs two binary searches per list. */
function sortTimes(entries: readonly IndexedEntry[]): SortedTimes {
  const errors = entries.filter(({ level }) => isErrorLevel(level))
  const sorted = (of: readonly IndexedEntry[]): Float64Array =>
    new Float64Array(of.map(({ timeMs }) => timeMs)).toSorted()
  return { allMs: sorted(entries), errorsMs: sorted(errors) }
}

/** Counts times in [`sinceMs`, `untilMs`). */
function tallyBetween({ allMs, errorsMs }: SortedTimes, sinceMs: number, untilMs: number): Tally {
  const before = (sorted: Float64Array, timeMs: number): number =>
    findFirst(sorted.length, (at) => (sorted[at] as number) >= timeMs)
  const count = (sorted: Float64Array): number => before(sorted, untilMs) - before(sorted, sinceMs)
  return { entries: count(allMs), errors: count(errorsMs) }
}
