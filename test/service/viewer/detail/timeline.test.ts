/** Offsets, and the entries of a trace on one scale. */
import { describe, expect, test } from 'vitest'
import { selectAround, formatOffset, createTimeline } from '../../../../src/service/viewer/detail/timeline.js'

test.each([
  [0, '0 ms'],
  [35, '+35 ms'],
  [-1_234, '−1.23 s'],
  [-12_345, '−12.3 s'],
  [-65_000, '−1 min 5 s'],
  [-3_700_000, '−1 h 1 min'],
  [-3 * 86_400_000, '−3 d'],
  [Number.NaN, ''],
])('%d', (ms, text) => expect(formatOffset(ms)).toBe(text))

const at = (ms: number, durationMs?: number) => ({
  timestamp: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
  ...(durationMs !== undefined && { request: { duration_ms: durationMs } }),
})

describe('a timeline', () => {
  test('is sorted by time, and begins with the start of the first request', () => {
    const late = at(100, 80)
    const early = at(20)
    const { items, totalMs } = createTimeline([late, early])
    expect(totalMs).toBe(80)
    expect(items).toEqual([
      { item: early, offsetMs: 0, start: 0, width: 0 },
      { item: late, offsetMs: 80, start: 0, width: 1 },
    ])
  })

  test('keeps the order of simultaneous entries, and omits entries without a valid time', () => {
    const [first, second] = [
      { ...at(5), id: 1 },
      { ...at(5), id: 2 },
    ]
    const { items, totalMs } = createTimeline([first, second, { timestamp: 'never', id: 3 }])
    expect(items.map(({ item }) => item.id)).toEqual([1, 2])
    expect(items.every(({ start, width }) => start === 0 && width === 0)).toBe(true)
    expect(totalMs).toBe(0)
  })

  test('of no entries is empty', () => expect(createTimeline([])).toEqual({ items: [], totalMs: 0 }))
})

test.each([
  [0, 0],
  [1, 0],
  [5, 3],
  [9, 6],
  [-1, 0],
])('four around %d', (current, from) => {
  const shown = selectAround([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], current, 4)
  expect(shown).toEqual({ from, items: [from, from + 1, from + 2, from + 3] })
})

test('fewer than requested are all selected', () =>
  expect(selectAround([1, 2], 1, 4)).toEqual({ from: 0, items: [1, 2] }))
