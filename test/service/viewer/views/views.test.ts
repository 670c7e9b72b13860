/** Texts and computed values of the views. */
import { describe, expect, test } from 'vitest'
import { findMissed, toMonitorState } from '../../../../src/service/viewer/views/monitor-state.js'

describe('a monitor', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const monitor = (passedMs: number, intervalMs: number | null) => ({
    monitor: 'abc',
    name: null,
    pings: 3,
    first_ping: '',
    recent: [],
    last_ping: new Date(nowMs - passedMs).toISOString(),
    interval_ms: intervalMs,
  })

  test('is late after twice its usual interval', () => {
    expect(toMonitorState(monitor(119_000, 60_000), nowMs)).toEqual({ name: 'fine', text: 'on time' })
    expect(toMonitorState(monitor(200_000, 60_000), nowMs)).toEqual({ name: 'late', text: 'late by 2 min 20 s' })
  })

  test('has no usual interval after one ping, or with several pings at once', () => {
    expect(toMonitorState(monitor(1e9, null), nowMs).name).toBe('new')
    expect(toMonitorState(monitor(1_500, 3), nowMs).name).toBe('fine')
  })

  test('has missed pings: in gaps, and since the last one once it is late', () => {
    const minute = 60_000
    const pinged = (...minutesAgo: readonly number[]) => ({
      ...monitor((minutesAgo[0] ?? 0) * minute, minute),
      recent: minutesAgo.map((ago) => new Date(nowMs - ago * minute).toISOString()),
    })
    const missed = (...minutesAgo: readonly number[]) => findMissed(pinged(...minutesAgo), nowMs)
    expect(missed(1, 2, 3.1, 4)).toEqual({ count: 0, times: [] })
    expect(missed(1, 2, 5)).toEqual({ count: 2, times: [nowMs - 4 * minute, nowMs - 3 * minute] })
    expect(missed(1.9, 3)).toEqual({ count: 0, times: [] })
    expect(missed(3.5, 4.5)).toEqual({ count: 2, times: [nowMs - 2.5 * minute, nowMs - 1.5 * minute] })
    const long = missed(1, 100_000)
    expect([long.count, long.times.length]).toEqual([99_998, 100])
    expect(findMissed(monitor(1e9, null), nowMs)).toEqual({ count: 0, times: [] })
  })
})
