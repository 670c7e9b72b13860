/** Formatting of times, durations and numbers. */
import { describe, expect, test } from 'vitest'
import {
  formatAgo,
  formatCount,
  formatDuration,
  formatFullTime,
  formatPlural,
  formatShortCount,
  formatShortTime,
  formatTimeRange,
} from '../../../src/service/viewer/view-format.js'

test.each([
  [0, '0 ms'],
  [0.44, '0.4 ms'],
  [9.96, '10 ms'],
  [999.4, '999 ms'],
  [1254, '1.25 s'],
  [60_000, '1 min'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [345_600_000, '4 days'],
  [-1500, '-1.5 s'],
  [Number.NaN, ''],
])('duration(%d): %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [999, 'now'],
  [59_999, '59 s ago'],
  [3_600_000, '1 h ago'],
  [7_140_000, '1 h 59 min ago'],
  [2 * 86_400_000, '2 days ago'],
  [-5000, 'in 5 s'],
])('ago, after %d ms: %s', (passedMs, text) => {
  const at = Date.parse('2026-03-01T12:00:00.000Z')
  expect(formatAgo(new Date(at).toISOString(), at + passedMs)).toBe(text)
})

test.each([
  [formatCount(1234567), '1,234,567'],
  [formatShortCount(9999), '9,999'],
  [formatShortCount(12_400), '12.4K'],
  [formatPlural(1, 'entry', 'entries'), '1 entry'],
  [formatPlural(2000, 'entry', 'entries'), '2,000 entries'],
  [formatPlural(0, 'ping'), '0 pings'],
])('%s', (shown, text) => expect(shown).toBe(text))

describe('times are local', () => {
  // A time without an offset is local; the test works in every zone.
  const iso = new Date('2026-03-01T04:05:06.007').toISOString()

  test('short and full', () => {
    expect([formatShortTime(iso), formatFullTime(iso)]).toEqual(['04:05:06.007', '2026-03-01 04:05:06.007'])
  })

  test('an invalid time is unchanged', () => {
    expect([formatShortTime('soon'), formatFullTime('soon'), formatAgo('soon', 0)]).toEqual(['soon', 'soon', ''])
  })

  test('a range within a day has its date once, and as many digits as needed', () => {
    const at = Date.parse(iso)
    expect(formatTimeRange(at, at + 3_600_000)).toBe('2026-03-01 04:05:06 – 05:05:06')
    expect(formatTimeRange(at, at + 5)).toBe('2026-03-01 04:05:06.007 – 04:05:06.012')
    expect(formatTimeRange(at, at + 86_400_000 * 3)).toBe('2026-03-01 04:05:06 – 2026-03-04 04:05:06')
  })
})
