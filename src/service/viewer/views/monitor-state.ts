/** Determines whether a monitor is late, and lays out its pings on a line that ends now (pure). */
import type { MonitorSummary } from '../../query/api-types.js'
import { formatDuration } from '../view-format.js'

/** A monitor is late after this many usual intervals without a ping. */
const LATE_AFTER = 2
/** Shorter intervals come from several pings at once. */
const MIN_INTERVAL_MS = 1_000

export interface MonitorState {
  readonly name: 'fine' | 'late' | 'new'
  readonly text: string
}

export function toMonitorState(
  { last_ping: lastPing, interval_ms: intervalMs }: MonitorSummary,
  nowMs: number,
): MonitorState {
  if (intervalMs === null) return { name: 'new', text: 'one ping so far' }
  const passedMs = nowMs - Date.parse(lastPing)
  if (passedMs <= Math.max(intervalMs, MIN_INTERVAL_MS) * LATE_AFTER) return { name: 'fine', text: 'on time' }
  return { name: 'late', text: `late by ${formatDuration(roundSeconds(passedMs - intervalMs))}` }
}

/** Missed pings: their number, and the times of the newest. */
export interface MissedPings {
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly times: readonly number[]
}

/** As many as fit beside the pings of a strip. */
const MAX_MISSED_TIMES = 100

/** Finds the times at which a ping was due by the usual interval: gaps between the recent pings, and the time since the last one. */
export function findMissed({ recent, interval_ms: intervalMs }: MonitorSummary, nowMs: number): MissedPings {
  if (intervalMs === null) return { count: 0, times: [] }
  const usualMs = Math.max(intervalMs, MIN_INTERVAL_MS)
  const pings = [nowMs, ...recent.map((at) => Date.parse(at))]
  let count = 0
  const times: number[] = []
  pings.slice(1).forEach((from, index) => {
    const gapMs = (pings[index] ?? from) - from
    // The newest gap is not over: a ping is missed when the monitor counts as late.
    const missed =
      index === 0
        ? gapMs > usualMs * LATE_AFTER
          ? Math.floor(gapMs / usualMs) - 1
          : 0
        : Math.round(gapMs / usualMs) - 1
    for (let n = 1; n <= missed && times.length < MAX_MISSED_TIMES; n += 1) times.push(from + n * usualMs)
    count += Math.max(0, missed)
  })
  return { count, times }
}

function roundSeconds(ms: number): number {
  return Math.round(ms / 1_000) * 1_000
}

export interface Strip {
  /** Positions of the pings, from 0 (the oldest) to 1 (now). */
  readonly marks: readonly number[]
  readonly missedMarks: readonly number[]
  /** Position of the newest ping, where the silence begins. */
  readonly silence: number
}

/** The pings have at least half of the width; a longer silence is drawn shorter. */
const MIN_PINGS_SHARE = 0.5

/** @param recent times of the pings, newest first @param missed times of missed pings, milliseconds since the epoch */
export function createStrip(recent: readonly string[], missed: readonly number[], nowMs: number): Strip {
  const times = recent.map((at) => Date.parse(at)).filter((ms) => Number.isFinite(ms))
  const [newest, oldest] = [times[0], times.at(-1)]
  if (newest === undefined || oldest === undefined || newest === oldest)
    return { marks: times.map(() => 0), missedMarks: [], silence: 0 }
  const lengthMs = newest - oldest
  const silence = Math.max(MIN_PINGS_SHARE, lengthMs / Math.max(lengthMs, nowMs - oldest))
  const toPosition = (ms: number): number =>
    ms <= newest
      ? ((ms - oldest) / lengthMs) * silence
      : silence + ((ms - newest) / Math.max(1, nowMs - newest)) * (1 - silence)
  return { marks: times.map(toPosition), missedMarks: missed.map(toPosition), silence }
}
