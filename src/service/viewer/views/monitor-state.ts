/** Whether a monitor is late, and where its pings lie on a line that ends now (pure). */
import type { MonitorSummary } from '../../query/api-types.js'
import { duration } from '../view-format.js'

/** Times the usual interval that one may pass without a ping. */
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
  // Below a second it is no rhythm, only several at once.
  if (passedMs <= Math.max(intervalMs, 1_000) * LATE_AFTER) return { name: 'fine', text: 'on time' }
  return { name: 'late', text: `late by ${duration(roundSeconds(passedMs - intervalMs))}` }
}

function roundSeconds(ms: number): number {
  return Math.round(ms / 1_000) * 1_000
}

export interface Strip {
  /** Places of the pings, from 0, the oldest, to 1, now. */
  readonly marks: readonly number[]
  /** Where the newest is: from there on nothing came. */
  readonly silence: number
}

/** A long silence is drawn shorter, so that the pings before it have half of the width. */
const MIN_PINGS_SHARE = 0.5

/** `recent`: newest first. */
export function createStrip(recent: readonly string[], nowMs: number): Strip {
  const times = recent.map((at) => Date.parse(at)).filter((ms) => Number.isFinite(ms))
  const [newest, oldest] = [times[0], times.at(-1)]
  if (newest === undefined || oldest === undefined || newest === oldest)
    return { marks: times.map(() => 0), silence: 0 }
  const lengthMs = newest - oldest
  const silence = Math.max(MIN_PINGS_SHARE, lengthMs / Math.max(lengthMs, nowMs - oldest))
  return { marks: times.map((ms) => ((ms - oldest) / lengthMs) * silence), silence }
}
