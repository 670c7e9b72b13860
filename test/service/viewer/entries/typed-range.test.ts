/** Typed time ranges, in local time. */
import { describe, expect, test } from 'vitest'
import { parseTimeRange } from '../../../../src/service/viewer/entries/typed-range.js'

const now = new Date(2026, 10, 25, 14, 30)
const at = (day: number, hours = 0, minutes = 0, seconds = 0): string =>
  new Date(2026, 10, day, hours, minutes, seconds).toISOString()

test.each([
  ['2h', '2h'],
  ['90 min', '90m'],
  [' 15m ', '15m'],
  ['3d', '3d'],
])('%s is a window up to now', (text, last) => {
  expect(parseTimeRange(text, now)).toEqual({ last, since: null, until: null })
})

test.each([
  ['09:00..09:30', at(25, 9), at(25, 9, 30)],
  ['9:00:05 .. now', at(25, 9, 0, 5), now.toISOString()],
  ['23:00..01:00', at(24, 23), at(25, 1)],
  ['09:00', at(25, 9), null],
  ['23:30..23:40', at(24, 23, 30), at(24, 23, 40)],
  ['15:00', at(24, 15), null],
  ['2026-11-20 09:00..09:30', at(20, 9), at(20, 9, 30)],
  ['2026-11-20 9:00Z..', '2026-11-20T09:00:00.000Z', null],
  ['2026-03-29T02:30Z..2026-03-29T03:30Z', '2026-03-29T02:30:00.000Z', '2026-03-29T03:30:00.000Z'],
  ['09:00..', at(25, 9), null],
  ['..09:00', null, at(25, 9)],
  ['2026-11-20', at(20), at(21)],
  ['2026-11-20..2026-11-21', at(20), at(22)],
  ['2026-11-20 18:00..', at(20, 18), null],
  ['2026-11-20 18:00', at(20, 18), at(20, 18, 1)],
  ['2026-11-20T18:00..2026-11-21 06:00', at(20, 18), at(21, 6)],
  ['2026-11-20T18:00Z..2026-11-20T19:00+00:00', '2026-11-20T18:00:00.000Z', '2026-11-20T19:00:00.000Z'],
])('%s', (text, since, until) => {
  expect(parseTimeRange(text, now)).toEqual({ last: null, since, until })
})

describe('is no range', () => {
  test.each([
    '',
    '..',
    'yesterday',
    '0h',
    '25:00',
    '09:60',
    '2026-02-30',
    '2026-13-01',
    '10..20',
    '2026-11-21..2026-11-20',
    'a..b..c',
    '09:00..09:00',
    '0050-01-01..',
    '24:00..',
    '2026-11-20 10:00..09:00',
  ])('%j', (text) => expect(parseTimeRange(text, now)).toBeUndefined())
})

test('yesterday is not always 24 hours ago', () => {
  const before = process.env['TZ']
  process.env['TZ'] = 'Europe/Berlin'
  try {
    // The clocks changed in the night.
    const since = (text: string, today: string) => parseTimeRange(text, new Date(today))?.since
    expect(since('23:00..01:00', '2026-10-25T13:00:00.000Z')).toBe('2026-10-24T21:00:00.000Z')
    expect(since('23:00..01:00', '2026-03-29T13:00:00.000Z')).toBe('2026-03-28T22:00:00.000Z')
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
})
