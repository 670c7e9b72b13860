/** Edits change one term of the query; the rest stays as typed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addTerm, excludeTerm, listTerms, parseQuery } from '../../../../src/service/query/language/index.js'
import {
  createRequestQuery,
  removeTerm,
  setComparison,
  toggleValue,
} from '../../../../src/service/query/language/index.js'
import { queryText, withoutPositions } from './queries.js'
import { modelRuns } from '../../../model-runs.js'

it.each<[string, string, string | number | boolean | null, string]>([
  ['service:web  declined', 'service', 'api', 'service:api  declined'],
  ['service:(web, api) x', 'service', 'api', 'service:api x'],
  ['status:>=500 x status:<600', 'status', 502, 'status:502 x'],
  ['a OR b', 'service', 'api', '(a OR b) service:api'],
  ['tag:a', 'tag', 'b', 'tag:a tag:b'],
  ['', 'metadata.a b', 'say "hi"', '"metadata.a b":"say \\"hi\\""'],
  ['', 'metadata.x', null, 'metadata.x:null'],
  ['"open', 'service', 'api', '"open service:api'],
])('adds to %j %s:%s', (q, field, value, expected) => {
  expect(addTerm(q, field, value)).toBe(expected)
})

it.each<[string, string, string, string]>([
  ['', 'service', 'api', '-service:api'],
  ['service:api x', 'service', 'api', 'x -service:api'],
  ['service:(web,api) x', 'service', 'api', 'service:web x -service:api'],
  ['-service:API', 'service', 'api', '-service:API'],
  ['a OR b', 'service', 'api', '(a OR b) -service:api'],
])('excludes from %j %s:%s', (q, field, value, expected) => {
  expect(excludeTerm(q, field, value)).toBe(expected)
})

it.each<[string, string]>([
  ['', 'service:b'],
  ['service:a', 'service:(a,b)'],
  ['service:(a,b)', 'service:a'],
  ['x service:b y', 'x y'],
  ['-service:(a,b) x', '-service:a x service:b'],
  ['service:"a c"', 'service:("a c",b)'],
])('toggles service b in %j', (q, expected) => {
  expect(toggleValue(q, 'service', 'b')).toBe(expected)
})

it.each<[Parameters<typeof createRequestQuery>[0], string | null]>([
  [{ trace_id: 't-1', run: 'shop-1@h', service: 'shop', request_id: '7' }, 'trace:t-1'],
  [{ run: 'shop-1@h', service: 'shop', request_id: '7' }, 'run:shop-1@h request_id:7'],
  [{ service: 'my shop', request_id: '7' }, 'service:"my shop" request_id:7'],
  [{ run: 'shop-1@h', service: 'shop' }, null],
])('the entries of the request %j are %s', (identity, q) => expect(createRequestQuery(identity)).toBe(q))

describe('terms', () => {
  it('lists required terms with canonical names', () => {
    const q = 'declined request.status_code:>=500 -level:(info, debug) (a OR b) -(x y) orderId:"1 7"'
    expect(listTerms(q).map(({ field, values, isExcluded, text }) => [field, values, isExcluded, text])).toEqual([
      [null, ['declined'], false, 'declined'],
      ['status', ['>=500'], false, 'request.status_code:>=500'],
      ['level', ['info', 'debug'], true, '-level:(info, debug)'],
      [null, [], false, '(a OR b)'],
      [null, [], true, '-(x y)'],
      ['metadata.orderId', ['1 7'], false, 'orderId:"1 7"'],
    ])
    expect(listTerms('"open')).toEqual([])
  })

  it('are removed one by one until nothing is left', () => {
    fc.assert(
      fc.property(queryText, fc.nat(), (text, pick) => {
        let rest = text
        for (let terms = listTerms(rest); terms.length > 0; terms = listTerms(rest)) {
          const removed = terms[pick % terms.length] as (typeof terms)[number]
          rest = removeTerm(rest, removed)
          const kept = terms.filter((one) => one !== removed).map((one) => one.text)
          expect(listTerms(rest).map((one) => one.text)).toEqual(kept)
        }
        expect(rest).toBe('')
      }),
      { numRuns: modelRuns(250, 2_000) },
    )
  })
})

it.each([
  ['a duration:5', 'a duration:>200'],
  ['request.duration_ms:<9 b duration:1..2', 'duration:>200 b'],
  ['a OR b', '(a OR b) duration:>200'],
])('a comparison replaces the terms of its field: %s', (q, changed) =>
  expect(setComparison(q, 'duration', '>', 200)).toBe(changed),
)

it('keeps all other terms as typed, and the query valid', () => {
  const value = fc.oneof(fc.constantFrom('a', 'a b', '"', '/x/', '>5', '1..2', '', '*', '-', 'a,b'), fc.string())
  fc.assert(
    fc.property(queryText, fc.constantFrom('service', 'tag', 'message', 'orderId', 'a b'), value, (q, field, one) => {
      const others = (text: string): unknown =>
        listTerms(text)
          .filter((term) => ![field, `metadata.${field}`].includes(term.field ?? ''))
          .map((term) => term.text)
      for (const edited of [addTerm(q, field, one), excludeTerm(q, field, one)]) {
        const { query } = parseQuery(edited)
        if (query === undefined) throw new Error(`${edited} is refused`)
        // A query with alternatives is put in brackets and becomes one term.
        if (parseQuery(q).query?.kind !== 'or') expect(others(edited)).toEqual(others(q))
        expect(listTerms(edited).some(({ values }) => values.some((v) => v.toLowerCase() === one.toLowerCase()))).toBe(
          true,
        )
      }
      const [toggled] = [toggleValue(excludeTerm('', field, one), field, one)]
      expect(withoutPositions(parseQuery(toggled).query ?? fail(toggled))).toEqual(
        withoutPositions(parseQuery(addTerm('', field, one)).query ?? fail(toggled)),
      )
      expect(toggleValue(toggled, field, one)).toBe('')
    }),
    { numRuns: modelRuns(250, 2_000) },
  )
})

function fail(text: string): never {
  throw new Error(`${text} is refused`)
}
