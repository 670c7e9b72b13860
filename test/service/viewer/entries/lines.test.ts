/** Rows and dividers share one sequence of lines; the texts of a row. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import { findDividers, findDrawn, findLineAt, findLine } from '../../../../src/service/viewer/entries/lines.js'
import { createHitSplitter, listRowDetails, listRowTexts } from '../../../../src/service/viewer/row-text.js'
import { createEntry } from '../live/tail-model.js'

const noon = (day: number): EntrySummary => createEntry(day, new Date(2026, 0, day, 12).getTime())

test('the lines are those of a naive list: each row, and a divider before each row of another day', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }), (lengths) => {
      const rows = lengths.flatMap((length, day) => Array.from({ length }, () => noon(28 - day)))
      const dividers = findDividers(rows, [])
      const naive = rows.flatMap(({ seq }, row) =>
        row > 0 && rows[row - 1]?.seq !== seq
          ? [{ divider: { row, text: `2026-01-${String(seq).padStart(2, '0')}` } }, { row }]
          : [{ row }],
      )
      expect(naive.map((_, line) => findLineAt(dividers, line))).toEqual(naive)
      for (const row of rows.keys()) expect(naive[findLine(dividers, row)]).toEqual({ row })
    }),
  )
})

test('draws the visible lines and eight on each side', () => {
  const viewport = { topPx: 1_000, heightPx: 126, rowPx: 10 }
  const { lines, firstLine, drawn, ...rows } = findDrawn([{ row: 50, text: 'day' }], 200, viewport)
  expect([lines, firstLine, drawn.length, drawn[0]]).toEqual([201, 92, 29, { row: 91 }])
  expect(rows).toEqual({ firstRow: 91, endRow: 120 })
  expect(findDrawn([], 0, { ...viewport, topPx: 0 })).toMatchObject({ drawn: [], firstRow: 0, endRow: 0 })
})

describe('a row', () => {
  const entry = { ...createEntry(1, Date.parse('2026-01-01T12:00:05.250Z')), level: 'error' as const }
  const request = { method: 'POST', path: '/orders', status_code: 500 }
  const error = { type: 'TypeError', message: 'no percent' }

  test.each<[what: string, entry: Partial<EntrySummary>, texts: readonly string[]]>([
    ["the error's message, then its own", { message: 'order failed', error }, ['no percent', 'order failed']],
    ["no message of pino-http in place of the error's", { message: 'request errored', error, request }, ['no percent']],
    ['no message of pino-http beside the request', { message: 'request completed', request }, []],
    ['that there is no message', { message: ' ' }, ['no message']],
  ])('shows %s', (_, changed, texts) => {
    expect(listRowTexts({ ...entry, ...changed }, () => false)).toEqual(texts)
  })

  test('shows the user, tags and details, except those of its request and its columns', () => {
    const details = { orderId: 1, cached: true, 'req.host': 'localhost', responseTime: 3 }
    const row = { ...entry, user: 'u-1', tags: ['a', 'b'], details, request }
    const shown = [
      ['user', 'u-1'],
      ['tag', 'a,b'],
      ['orderId', '1'],
      ['cached', 'true'],
    ]
    expect(listRowDetails(row, [])).toEqual(shown)
    expect(listRowDetails(row, ['metadata.orderId', 'user', 'tag'])).toEqual([shown[3]])
    expect(listRowDetails({ ...entry, details }, [])).toHaveLength(4)
  })

  test("shows the code of an error's cause first, and its messages under a short name", () => {
    const details = {
      a: 1,
      'error.cause.message': 'refused',
      'error.cause.cause.message': 'reset',
      'error.cause.cause.code': 'E',
    }
    expect(listRowDetails({ ...entry, user: 'u-1', details }, [])).toEqual([
      ['code', 'E'],
      ['user', 'u-1'],
      ['a', '1'],
      ['cause', 'refused'],
      ['cause', 'reset'],
    ])
  })

  test('names the field that a search found, unless its value is shown', () => {
    const hit = { field: 'request_id', value: '4711' }
    expect(listRowDetails({ ...entry, details: { a: 1 }, hit }, [])[0]).toEqual(['request_id', '4711'])
    expect(listRowDetails({ ...entry, service: 'shop', hit: { field: 'service', value: 'shop' } }, [])).toEqual([])
  })

  test.each([
    ['card declined', 'Card declined', ['', 'Card', ' ', 'declined', '']],
    ['"card declined"', 'a card declined', ['a ', 'card declined', '']],
    ['4711', 'order 4711 of a4711b', ['order ', '4711', ' of a4711b']],
    ['service:card -x NOT card', 'card x', ['card x']],
  ])('marks the texts of %s', (q, text, parts) => {
    expect(createHitSplitter(q)(text)).toEqual(parts)
  })
})
