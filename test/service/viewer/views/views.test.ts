/** Texts and computed values of the views. */
import { describe, expect, test } from 'vitest'
import { hashMonitorToken } from '../../../../src/service/ingest/ingester.js'
import { computeMonitorId } from '../../../../src/service/viewer/views/monitor-id.js'
import { createStrip, findMissed, toMonitorState } from '../../../../src/service/viewer/views/monitor-state.js'
import { groupReasons } from '../../../../src/service/viewer/views/reasons.js'
import { computeChange } from '../../../../src/service/viewer/views/release-change.js'
import {
  areMostlyPaths,
  findRequestId,
  parseRouteName,
  formatRoute,
} from '../../../../src/service/viewer/views/route-name.js'
import { formatOrder, toggleOrder, parseOrder, sortRows } from '../../../../src/service/viewer/views/sort.js'

describe('a release', () => {
  const change = (before: number, after: number, windowMs = 3_600_000) =>
    computeChange({
      before: { entries: 100, errors: before },
      after: { entries: 200, errors: after },
      window_ms: windowMs,
    })

  test('is described in words', () => {
    expect(change(3, 41).text).toBe('3 errors in the hour before, 41 after')
    expect(change(1, 0, 750_000).text).toBe('1 error in the 12 min 30 s before, none after')
    expect(change(0, 0).text).toBe('No errors in the hour before, none after')
    expect(change(3, 41)).toMatchObject({ before: '3 errors among 100 entries', after: '41 errors among 200 entries' })
  })

  test.each([
    [3, 41, 'worse'],
    [41, 3, 'better'],
    [0, 2, 'same'],
    [0, 3, 'worse'],
    [100, 110, 'same'],
    [5, 5, 'same'],
  ] as const)('%d to %d is %s', (before, after, verdict) => {
    expect(change(before, after).verdict).toBe(verdict)
  })

  test('has bars for the share of errors in the entries', () => {
    expect(change(10, 40).shares).toEqual({ before: 0.1, after: 0.2 })
    expect(change(0, 0).shares).toEqual({ before: 0, after: 0 })
  })

  test('is neither worse for more traffic nor better for less', () => {
    const judged = (before: number, after: number) =>
      computeChange({
        before: { entries: before, errors: before / 10 },
        after: { entries: after, errors: after / 10 },
        window_ms: 1_000,
      }).verdict
    expect([judged(100, 1_000), judged(1_000, 100)]).toEqual(['same', 'same'])
  })

  test('has no verdict if one side has no entries', () => {
    const window = { window_ms: 10_081 }
    expect(
      computeChange({ ...window, before: { entries: 0, errors: 0 }, after: { entries: 308, errors: 304 } }),
    ).toMatchObject({ text: 'Nothing logged in the 10 s before, 304 errors after', verdict: 'same', shares: null })
    expect(
      computeChange({ ...window, before: { entries: 308, errors: 304 }, after: { entries: 0, errors: 0 } }),
    ).toMatchObject({ text: '304 errors in the 10 s before, nothing logged after', verdict: 'same', shares: null })
  })
})

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

  test('is found by its token: the id equals that of the service', async () => {
    for (const token of ['nightly-backup', 'queue-worker', 'ü–€'])
      expect(await computeMonitorId(token)).toBe(hashMonitorToken(token))
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

test('one reason for many fields is listed once', () => {
  expect(
    groupReasons([
      { loc: ['logs', 3, 'level'], message: 'wrong', value: '"trace"', entry: { message: 'm', service: 's' } },
      { loc: ['logs', 9, 'level'], message: 'wrong' },
      { loc: [], message: 'not JSON' },
    ]),
  ).toEqual([
    {
      message: 'wrong',
      places: [
        { path: 'logs[3].level', value: '"trace"', entry: { message: 'm', service: 's' } },
        { path: 'logs[9].level' },
      ],
    },
    { message: 'not JSON', places: [{ path: 'the body' }] },
  ])
})

describe('a route', () => {
  test('is part of the address', () => {
    const name = { service: 'shop', method: 'GET', route: '/a b/:id' }
    expect(parseRouteName({ route: formatRoute(name), service: 'shop' })).toEqual(name)
    expect(parseRouteName({ route: null, service: null })).toBeNull()
    expect(parseRouteName({ route: 'nonsense', service: null })).toBeNull()
  })

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

describe('sorting', () => {
  const rows = [
    { name: 'b', n: 10 },
    { name: 'a', n: 9 },
    { name: 'c', n: 100 },
  ]

  test('numbers by size, text by letters', () => {
    expect(sortRows(rows, { key: 'n', isDescending: true }).map(({ n }) => n)).toEqual([100, 10, 9])
    expect(sortRows(rows, { key: 'name', isDescending: false }).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  test('is part of the address', () => {
    const keys = ['count', 'p95_ms'] as const
    const orders = keys.flatMap((key) => [true, false].map((isDescending) => ({ key, isDescending })))
    expect(orders.map((order) => parseOrder(formatOrder(order), keys))).toEqual(orders)
    for (const unknown of [null, 'size', '-', '--count'])
      expect(parseOrder(unknown, keys)).toEqual({ key: 'count', isDescending: true })
  })

  test('is reversed by a second click', () => {
    const byNumber = toggleOrder({ key: 'name', isDescending: false }, 'n', false)
    expect(byNumber).toEqual({ key: 'n', isDescending: true })
    expect(toggleOrder(byNumber, 'n', false)).toEqual({ key: 'n', isDescending: false })
    expect(toggleOrder(byNumber, 'name', true)).toEqual({ key: 'name', isDescending: false })
  })
})
