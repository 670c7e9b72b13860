/** Texts and computed values of the views. */
import { describe, expect, test } from 'vitest'
import { createStrip, findMissed, toMonitorState } from '../../../../src/service/viewer/views/monitor-state.js'
import { areMostlyPaths, findRequestId } from '../../../../src/service/viewer/views/request-log.js'

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

  test('has pings between the oldest and now', () => {
    const recent = [10_000, 30_000, 50_000].map((agoMs) => new Date(nowMs - agoMs).toISOString())
    expect(createStrip(recent, [nowMs - 30_000, nowMs - 5_000], nowMs)).toEqual({
      marks: [0.8, 0.4, 0],
      missedMarks: [0.4, 0.9],
      silence: 0.8,
    })
    expect(createStrip([], [], nowMs)).toEqual({ marks: [], missedMarks: [], silence: 0 })
    expect(createStrip(recent.slice(0, 1), [], nowMs)).toEqual({ marks: [0], missedMarks: [], silence: 0 })
  })

  test('uses half of the width for pings after a long silence, and all of it if the clock is behind', () => {
    const recent = [10_000, 30_000, 50_000].map((agoMs) => new Date(nowMs - agoMs).toISOString())
    expect(createStrip(recent, [], nowMs + 86_400_000)).toMatchObject({ marks: [0.5, 0.25, 0], silence: 0.5 })
    expect(createStrip(recent, [], nowMs - 60_000)).toMatchObject({ marks: [1, 0.5, 0], silence: 1 })
  })
})

describe('a route', () => {
  test('is a path if nearly every route has one request', () => {
    const routes = (length: number, count: number) => Array.from({ length }, () => ({ count }))
    expect([areMostlyPaths(routes(21, 1)), areMostlyPaths([...routes(30, 1), { count: 14 }])]).toEqual([true, true])
    expect([areMostlyPaths(routes(20, 1)), areMostlyPaths(routes(21, 2)), areMostlyPaths([])]).toEqual([
      false,
      false,
      false,
    ])
  })

  test('entries have the request id without the process prefix', () => {
    expect(findRequestId('5f3a9c1e07b2-req-1')).toBe('req-1')
    expect(findRequestId('0b9f3c1e-5f3a-4d5e-9c1e-07b25f3a9c1e')).toBe('0b9f3c1e-5f3a-4d5e-9c1e-07b25f3a9c1e')
  })
})
