/** Typed time ranges, in local time. */
import { expect, test } from 'vitest'
import { parseTimeRange } from '../../../../src/service/viewer/entries/time-text.js'

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
  ['9:00:05 .. 10:00', at(25, 9, 0, 5), at(25, 10)],
  ['23:00..01:00', at(24, 23), at(25, 1)],
  ['09:00', at(25, 9), null],
  ['23:30..23:40', at(24, 23, 30), at(24, 23, 40)],
  ['15:00', at(24, 15), null],
  ['2026-11-20 09:00..09:30', at(20, 9), at(20, 9, 30)],
  ['09:00..', at(25, 9), null],
  ['..09:00', null, at(25, 9)],
  ['2026-11-20', at(20), at(21)],
  ['2026-11-20..2026-11-21', at(20), at(22)],
  ['2026-11-20 18:00..', at(20, 18), null],
  ['2026-11-20T18:00..2026-11-21 06:00', at(20, 18), at(21, 6)],
])('%s', (text, since, until) => {
  expect(parseTimeRange(text, now)).toEqual({ last: null, since, until })
})

test.each([
  ...['', '..', 'yesterday', '0h', '25:00', '09:60', '2026-02-30', '2026-13-01', '10..20', '2026-11-21..2026-11-20'],
  ...['a..b..c', '09:00..09:00', '24:00..', '2026-11-20 10:00..09:00'],
])('%j is no range', (text) => expect(parseTimeRange(text, now)).toBeUndefined())
