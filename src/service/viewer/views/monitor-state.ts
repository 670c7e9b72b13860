/** Determines whether a monitor is late, and lays out its pings on a line that ends now (pure). */
import type { MonitorSummary } from '../../query/api-types.js'
import { formatDuration } from '../view-format.js'

/** A monitor is late after this many usual intervals without a ping. */
const LATE_AFTER = 2

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
  // Shorter intervals come from several pings at once.
  if (passedMs <= Math.max(intervalMs, 1_000) * LATE_AFTER) return { name: 'fine', text: 'on time' }
  return { name: 'late', text: `late by ${formatDuration(roundSeconds(passedMs - intervalMs))}` }
}

function roundSeconds(ms: number): number {
  return Math.round(ms / 1_000) * 1_000
}

export interface Strip {
  /** Positions of the pings, from 0 (the oldest) to 1 (now). */
  readonly marks: readonly number[]
  /** Position of the newest ping, where the silence begins. */
  readonly silence: number
}

/** The pings have at least half of the width; a longer silence is drawn shorter. */
const MIN_PINGS_SHARE = 0.5

/** @param recent times of the pings, newest first */
export function createStrip(recent: readonly string[], nowMs: number): Strip {
  const times = recent.map((at) => Date.parse(at)).filter((ms) => Number.isFinite(ms))
  const [newest, oldest] = [times[0], times.at(-1)]
  if (newest === undefined || oldest === undefined || newest === oldest)
    return { marks: times.map(() => 0), silence: 0 }
  const lengthMs = newest - oldest
  const silence = Math.max(MIN_PINGS_SHARE, lengthMs / Math.max(lengthMs, nowMs - oldest))
  return { marks: times.map((ms) => ((ms - oldest) / lengthMs) * silence), silence }
}
