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
  ])('%j', (text) => expect(parseTimeRange(text, now)).toBeUndefined())
})
