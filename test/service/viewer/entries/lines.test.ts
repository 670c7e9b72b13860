/** Rows and dividers between days share one sequence of lines. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findDayStarts, findDrawn, findLineAt, findLine } from '../../../../src/service/viewer/entries/lines.js'
import {
  toLocalDay,
  findConstantDetails,
  formatLate,
  formatRowDetails,
  formatRowName,
  formatRowTime,
} from '../../../../src/service/viewer/entries/row-text.js'
import { parseSavedQueries } from '../../../../src/service/viewer/entries/saved-query.js'
import { createEntry } from '../live/tail-model.js'

test('the lines are those of a naive list: each row, and a divider before each row of another day', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }), (lengths) => {
      const days = lengths.flatMap((length, day) => Array.from({ length }, () => String(day)))
      const naive = days.flatMap((day, row) =>
        row > 0 && days[row - 1] !== day ? [{ divider: row }, { row }] : [{ row }],
      )
      const starts = findDayStarts(0, days.length, (at) => days[at] ?? '')
      expect(naive.map((_, line) => findLineAt(starts, line))).toEqual(naive)
      for (const row of days.keys()) expect(naive[findLine(starts, row)]).toEqual({ row })
    }),
  )
})

test('rows that are not loaded have no divider', () => {
  const days = ['', '', 'b', 'b', 'c']
  expect(findDayStarts(2, 5, (at) => days[at] ?? '')).toEqual([4])
  expect(findDayStarts(0, 0, () => '')).toEqual([])
})

test('draws the visible lines and eight on each side; rows below the column headers are visible', () => {
  const viewport = { topPx: 1_000, heightPx: 126, headPx: 26, rowPx: 10 }
  const { lines, firstLine, drawn, ...rows } = findDrawn([50], 200, viewport)
  expect([lines, firstLine, drawn.length, drawn[0]]).toEqual([201, 92, 29, { row: 91 }])
  expect(rows).toEqual({ firstRow: 91, endRow: 120, visibleEndRow: 109 })
  expect(findDrawn([], 0, { ...viewport, topPx: 0 })).toMatchObject({ drawn: [], firstRow: 0, endRow: 0 })
})

describe('a row', () => {
  const entry = { ...createEntry(1, Date.parse('2026-01-01T12:00:05.250Z')), level: 'error' as const }
  const today = toLocalDay(entry.timestamp)

  test('has its date unless it is from today', () => {
    expect(formatRowTime(entry.timestamp, today)).toMatch(/^\d\d:00:05\.250$/)
    expect(formatRowTime(entry.timestamp, '2026-03-01')).toMatch(/^01-01 \d\d:00:05\.250$/)
    expect(formatRowTime(entry.timestamp, '2027-03-01')).toMatch(/^2026-01-01 \d\d:00:05$/)
  })

  test('has an accessible name', () => {
    expect(formatRowName({ ...entry, message: 'payment answered 502' }, today)).toMatch(
      /^Error, payment answered 502, \d\d:00:05$/,
    )
    expect(formatRowName(entry, '2026-03-01')).toContain('2026-01-01')
  })

  test('shows the details that differ between rows, the user first', () => {
    const rows = [
      { ...entry, user: 'u-1', details: { region: 'eu', orderId: 1, cached: true } },
      { ...entry, details: { region: 'eu', orderId: 2 } },
    ]
    const constant = findConstantDetails(rows)
    expect(constant).toEqual(['region'])
    const [first] = rows
    if (first === undefined) throw new Error('no row')
    expect(formatRowDetails(first, new Set(constant), [])).toEqual([
      ['user', 'u-1'],
      ['orderId', '1'],
      ['cached', 'true'],
    ])
    expect(formatRowDetails(first, new Set(), ['metadata.orderId', 'user'])).toEqual([
      ['region', 'eu'],
      ['cached', 'true'],
    ])
  })

  test('shows its delay without false precision', () => {
    expect([formatLate(2400), formatLate(185_000)]).toEqual(['2 s', '3 min'])
  })
})

test('saved queries of another version, and other stored texts, are ignored', () => {
  const saved = {
    name: 'errors',
    notify: true,
    q: 'level:error',
    chart: 'count by service',
    last: '15m',
    since: null,
    until: null,
  }
  expect(parseSavedQueries(JSON.stringify([saved, { name: 1 }, null, { ...saved, last: '3x', chart: 1 }]))).toEqual([
    saved,
    { ...saved, last: null, chart: null },
  ])
  for (const text of [null, '', '{', '{}', '7']) expect(parseSavedQueries(text)).toEqual([])
})
