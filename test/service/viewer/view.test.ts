/** What the page shows and what its address says are one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createChips } from '../../../src/service/viewer/entries/filter-names.js'
import { toggledLevel } from '../../../src/service/viewer/entries/levels.js'
import {
  changedView,
  FILTER_NAMES,
  filterKey,
  createHref,
  parseView,
  VIEWS,
  withFilter,
  withoutFilters,
} from '../../../src/service/viewer/view.js'
import type { View } from '../../../src/service/viewer/view.js'

const START: View = { name: 'entries', filters: {}, entry: null, route: null }

const views: fc.Arbitrary<View> = fc.record({
  name: fc.constantFrom(...VIEWS),
  filters: fc.dictionary(fc.constantFrom(...FILTER_NAMES), fc.string({ minLength: 1, unit: 'grapheme' }), {
    noNullPrototype: true,
  }),
  entry: fc.option(fc.string({ minLength: 1 })),
  route: fc.option(fc.string({ minLength: 1 })),
})

describe('the address', () => {
  test('is read as it was written, whatever a filter holds', () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(parseView(new URL(createHref(view), 'http://127.0.0.1').search)).toEqual(view)
      }),
    )
  })

  test('never leads elsewhere', () => {
    fc.assert(
      fc.property(views, (view) => {
        const { origin, pathname } = new URL(createHref(view), 'http://127.0.0.1')
        expect([origin, pathname]).toEqual(['http://127.0.0.1', '/'])
      }),
    )
  })

  test('is short where nothing is chosen, and readable', () => {
    expect(createHref({})).toBe('/')
    expect(
      createHref({
        name: 'errors',
        filters: { level: 'error,fatal', since: '2026-01-01T00:00:00.000Z' },
        entry: 'ent_1',
      }),
    ).toBe('/?view=errors&level=error,fatal&since=2026-01-01T00:00:00.000Z&entry=ent_1')
  })

  test('of another version of the page: what is not known is passed over', () => {
    expect(parseView('?view=charts&colour=red&q=a&level=')).toEqual({ ...START, filters: { q: 'a' } })
    expect(parseView('?view=constructor')).toEqual(START)
  })
})

describe('a change of the view', () => {
  const open: View = { name: 'entries', filters: { service: 'shop' }, entry: 'ent_1', route: null }

  test('to another keeps the filters, and closes what is open', () => {
    expect(changedView(open, { name: 'errors' })).toEqual({ ...open, name: 'errors', entry: null })
  })

  test('to another may open something there', () => {
    expect(changedView(open, { name: 'errors', entry: 'ent_2' })).toEqual({ ...open, name: 'errors', entry: 'ent_2' })
  })

  test('of the filters leaves the detail open', () => {
    expect(changedView(open, { filters: {} })).toEqual({ ...open, filters: {} })
  })
})

describe('filters', () => {
  test('an empty value takes one away', () => {
    expect(withFilter({ q: 'a', tag: 'b' }, 'q', '')).toEqual({ tag: 'b' })
    expect(withoutFilters({ q: 'a', tag: 'b', since: 'c' }, 'q', 'since')).toEqual({ tag: 'b' })
  })

  test('have one key, in whatever order they were set', () => {
    expect(filterKey({ q: 'a', tag: 'b' })).toBe(filterKey({ tag: 'b', q: 'a' }))
    expect(filterKey({ q: 'a' })).not.toBe(filterKey({ tag: 'a' }))
  })

  test('levels: none, like all, is no filter', () => {
    expect(toggledLevel(undefined, 'error')).toBe('error')
    expect(toggledLevel('fatal', 'error')).toBe('error,fatal')
    expect(toggledLevel('error', 'error')).toBeNull()
    expect(toggledLevel('debug,info,warn,error', 'fatal')).toBeNull()
    expect(toggledLevel('loud,error', 'warn')).toBe('warn,error')
  })

  test('as chips: since and until together are one', () => {
    const range = { since: '2026-01-01T10:00:00.000Z', until: '2026-01-01T11:00:00.000Z' }
    expect(
      createChips({ level: 'error,fatal', q: 'x', ...range }).map(({ names, title }) => [title, ...names]),
    ).toEqual([
      ['Level', 'level'],
      ['Text', 'q'],
      ['Time', 'since', 'until'],
    ])
    expect(createChips({ since: range.since })).toEqual([{ names: ['since'], title: 'Since', value: range.since }])
    expect(createChips({ since: 'yesterday', until: 'now' })[0]?.value).toBe('yesterday – now')
  })
})
