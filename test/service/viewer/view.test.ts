/** Parsing and formatting of the page's address. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changeView,
  createHref,
  listFilterParameters,
  LAST_RANGES,
  NO_FILTER,
  parseView,
  VIEWS,
  findWindowStart,
} from '../../../src/service/viewer/view.js'
import { splitSearch } from '../../../src/service/query/language/index.js'
import type { View } from '../../../src/service/viewer/view.js'

const START: View = {
  name: 'entries',
  ...NO_FILTER,
  columns: [],
  around: null,
  field: null,
  entry: null,
  open: null,
  trace: null,
  sort: null,
  before: null,
  after: null,
}
const NOW_MS = Date.parse('2026-01-01T12:00:00.000Z')

const text = fc.option(fc.string({ minLength: 1, unit: 'grapheme' }))
const views: fc.Arbitrary<View> = fc
  .record({
    name: fc.constantFrom(...VIEWS),
    search: fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '|', ' | count', '| p95(duration) by "a b"', ' |x'))
      .map((parts) => splitSearch(parts.join(''))),
    last: fc.option(fc.constantFrom(...LAST_RANGES, '2h', '90s', '3d')),
    since: text,
    until: text,
    columns: fc.uniqueArray(fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a,b', '"', 'a"b')), {
      maxLength: 4,
    }),
    around: text,
    field: text,
    entry: text,
    open: text,
    trace: text,
    sort: text,
    before: text,
    after: text,
  })
  .map(({ search, ...view }) => ({ ...view, ...search, ...(view.last !== null && { since: null, until: null }) }))

describe('the address', () => {
  test('is parsed to the same view, for any text', () => {
    fc.assert(
      fc.property(views, (view) => {
        const { origin, pathname, search } = new URL(createHref(view), 'http://127.0.0.1')
        expect([origin, pathname]).toEqual(['http://127.0.0.1', '/'])
        expect(parseView(search)).toEqual(view)
      }),
    )
  })

  test('is short without selections, and readable', () => {
    expect(createHref({})).toBe('/')
    expect(
      createHref({
        name: 'errors',
        q: 'level:error',
        since: '2026-01-01T00:00:00.000Z',
        columns: ['user.id', 'metadata.orderId', 'user.id'],
        entry: 'ent_1',
      }),
    ).toBe('/?view=errors&q=level:error&columns=user.id,metadata.orderId&since=2026-01-01T00:00:00.000Z&entry=ent_1')
  })

  test('of another version of the page: unknown parts are ignored', () => {
    expect(parseView('?view=charts&color=red&q=a&last=3x&entry=')).toEqual({ ...START, q: 'a' })
    expect(parseView('?view=constructor')).toEqual(START)
  })

  test('has either a sliding window or fixed times', () => {
    expect(parseView('?last=15m&since=a&until=b')).toEqual({ ...START, last: '15m' })
    expect(createHref({ last: '15m', since: 'a' })).toBe('/?last=15m')
  })
})

describe('a change of the view', () => {
  const open: View = {
    ...START,
    q: 'service:shop',
    last: '5m',
    columns: ['user.id'],
    around: 'ent_2',
    field: 'service',
    entry: 'ent_1',
    open: 'shop GET /',
    trace: 't1',
    before: '1.0.0',
    after: '1.1.0',
  }
  const closed = {
    around: null,
    field: null,
    entry: null,
    open: null,
    trace: null,
    sort: null,
    before: null,
    after: null,
  }

  test('to another view keeps query, time and columns, and closes details', () => {
    expect(changeView(open, { name: 'errors' })).toEqual({ ...open, ...closed, name: 'errors' })
  })

  test('of the time replaces a window by fixed times, and vice versa', () => {
    const fixed = changeView(open, { since: 'a', until: 'b' })
    expect([fixed.last, fixed.since, fixed.until]).toEqual([null, 'a', 'b'])
    const sliding = changeView(fixed, { last: '60m' })
    expect([sliding.last, sliding.since, sliding.until]).toEqual(['60m', null, null])
    expect(changeView(open, { since: null, until: null }).last).toBe('5m')
  })
})

describe('a filter', () => {
  test('can be a window up to now', () => {
    expect(listFilterParameters({ ...NO_FILTER, q: 'a b', last: '15m' }, NOW_MS)).toEqual({
      q: 'a b',
      since: '2026-01-01T11:45:00.000Z',
    })
    expect([findWindowStart({ last: '5m' }, NOW_MS), findWindowStart(NO_FILTER, NOW_MS)]).toEqual([
      NOW_MS - 300_000,
      null,
    ])
  })

  test.each([
    ['', ' -(logger:queue) -(message:"polled queue")'],
    ['level:error', 'level:error -(logger:queue) -(message:"polled queue")'],
    ['a OR b', '(a OR b) -(logger:queue) -(message:"polled queue")'],
  ])('%s leaves muted entries out', (q, sent) => {
    const muted = ['logger:queue', 'message:"polled queue"']
    expect(listFilterParameters({ ...NO_FILTER, q }, NOW_MS, muted)).toEqual({ q: sent })
  })
})
