/** Releases by their registrations, and the windows of time around them (pure). */
import type { ReleaseHealth } from '../query/api-types.js'
import type { StoredRelease, Tally, TimeWindow } from '../store/store.js'

const MAX_WINDOW_MS = 3_600_000

export const NO_TALLY: Tally = { entries: 0, errors: 0 }

export interface ReleaseWindows {
  readonly first: StoredRelease
  readonly last: StoredRelease
  readonly windowMs: number
  readonly before: TimeWindow
  readonly after: TimeWindow
}

/**
 * One a `release_id`, by its first registration, newest first. `oldestFirst` are all registrations.
 * The window ends where the next release came, lest errors of the one are laid to the other.
 */
export function createReleaseWindows(oldestFirst: Iterable<StoredRelease>, nowMs: number): ReleaseWindows[] {
  const firsts = new Map<string, { first: StoredRelease; last: StoredRelease }>()
  for (const record of oldestFirst) {
    const known = firsts.get(record.release_id)
    if (known === undefined) firsts.set(record.release_id, { first: record, last: record })
    else known.last = record
  }
  let nextMs = nowMs
  return [...firsts.values()].toReversed().map(({ first, last }) => {
    const atMs = Date.parse(first.received_at)
    // A wall clock that was set back makes the next one seem earlier.
    const windowMs = Math.max(0, Math.min(MAX_WINDOW_MS, nextMs - atMs, nowMs - atMs))
    nextMs = atMs
    const before = { sinceMs: atMs - windowMs, untilMs: atMs }
    return { first, last, windowMs, before, after: { sinceMs: atMs, untilMs: atMs + windowMs } }
  })
}

export function toReleaseHealth(
  { first, last, windowMs }: ReleaseWindows,
  before: Tally,
  after: Tally,
  linked: Tally,
): ReleaseHealth {
  return {
    release_id: first.release_id,
    release: last.release,
    registered_at: first.received_at,
    last_registered_at: last.received_at,
    window_ms: windowMs,
    before,
    after,
    linked,
  }
}

/** When entries were logged, in any order. */
export interface EntryTimes {
  readonly allMs: readonly number[]
  readonly errorsMs: readonly number[]
}

/** In the order of `windows`. Moments are sorted once, so that each window costs two searches. */
export function tallyWindows({ allMs, errorsMs }: EntryTimes, windows: readonly TimeWindow[]): Tally[] {
  const all = Float64Array.from(allMs).toSorted()
  const errors = Float64Array.from(errorsMs).toSorted()
  return windows.map((window) => ({ entries: countIn(all, window), errors: countIn(errors, window) }))
}

function countIn(sorted: Float64Array, { sinceMs, untilMs }: TimeWindow): number {
  return Math.max(0, firstAtOrAfter(sorted, untilMs) - firstAtOrAfter(sorted, sinceMs))
}

function firstAtOrAfter(sorted: Float64Array, timeMs: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? Infinity) < timeMs) low = middle + 1
    else high = middle
  }
  return low
}
