/** Compares random queries with a reference implementation, and tests the query language by example. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../../src/protocol/log-entry.js'
import { compileEntryQuery, compileRequestQuery } from '../../../../src/service/query/matching/compile-query.js'
import { MatchMemo } from '../../../../src/service/query/matching/match-memo.js'
import { INDEXERS, indexEntry } from '../../../../src/service/store/indexed-record.js'
import { queryText } from '../language/queries.js'
import { entryOf } from '../../support.js'
import { matchesEntry, matchesRequestLog } from './naive-query.js'
import { searchedEntry, searchedRequest } from './records.js'
import { modelRuns } from '../../../model-runs.js'
import { expectLinearTime } from '../../../linear-time.js'

const memo = new MatchMemo()
const stored = { id: 'ent_1', seq: 1, received_at: '2026-01-31T09:00:00.000Z' }
const indexed = (entry: LogEntry) => indexEntry({ ...stored, batch_id: null, entry })
/** A parsed query can still be refused: it may compare a field with a value of the wrong type. */
const isRefused = (q: string): boolean => {
  try {
    compileEntryQuery(q)
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'QUERY', position: expect.any(Number), length: expect.any(Number) })
    return true
  }
}

it('random queries match the same entries as the reference', () => {
  let matching = 0
  let compared = 0
  fc.assert(
    fc.property(queryText, fc.array(searchedEntry, { minLength: 3, maxLength: 3 }), (q, entries) => {
      if (isRefused(q)) return
      const matches = compileEntryQuery(q, memo)
      for (const entry of entries) {
        const [one, expected] = [indexed(entry), matchesEntry(q, entry)]
        compared++
        if (expected) matching++
        expect(matches(one)).toBe(expected)
        // The second result comes from the cache.
        expect(matches(one)).toBe(expected)
      }
    }),
    { numRuns: modelRuns(500, 10_000) },
  )
  // 20% to 80% of the comparisons match.
  expect(matching / compared).toBeGreaterThan(0.2)
  expect(matching / compared).toBeLessThan(0.8)
})

it('random queries match the same request logs as the reference', () => {
  let [matching, compared] = [0, 0]
  fc.assert(
    fc.property(queryText, searchedRequest, (q, request) => {
      if (isRefused(q)) return
      const one = INDEXERS.request({ ...stored, request }, 100)
      const expected = matchesRequestLog(q, request)
      compared++
      if (expected) matching++
      expect(compileRequestQuery(q, memo)(one)).toBe(expected)
    }),
    { numRuns: modelRuns(250, 3_000) },
  )
  // 20% to 80% of the comparisons match.
  expect(matching / compared).toBeGreaterThan(0.2)
  expect(matching / compared).toBeLessThan(0.8)
})

const entry = entryOf({
  message: 'Payment of order 1017 failed',
  level: 'error',
  timestamp: '2026-11-22T10:00:30.500Z',
  service: 'pay',
  user: { id: 'u-42', email: 'ann@example.com' },
  tags: ['checkout', 'EU'],
  error: {
    type: 'GatewayError',
    message: 'declined by "issuer 7"',
    stack: 'GatewayError\n    at pay (/srv/pay.js:1:2)',
  },
  request: { method: 'POST', path: '/orders/:id', status_code: 502, duration_ms: 231.5 },
  trace: { trace_id: 'abc', span_id: 's1' },
  metadata: { orderId: 1017, plan: '12', user: { plan: 'gold' }, lines: [{ sku: 'A-1' }, { sku: 'B-2' }], 'a b': true },
  breadcrumbs: [{ message: 'cart opened', data: { step: 3 } }],
})

describe('an entry is found by', () => {
  it.each([
    ...['PAYMENT 1017', '"order 1017"', 'ann@', 'gold', 'sku', '"cart opened"', '/order \\d{4}/', '/^payment/i'],
    ...['metadata.orderId:1017.0', 'orderId:1000..1017', 'plan:>=12', 'lines.sku:b-2', '"a b":true', 'orderId:*'],
    ...['user:ANN@example.com', 'status:500..', 'duration:>0.2s', 'duration:100ms..1min', 'level:>=warn'],
    ...['level:(fatal,error)', 'timestamp:2026-11-22', 'time:>2026-11-22T11:00+01:00', 'error:gatewayerror'],
    ...['tag:(x,EU)', 'path:/orders/*', 'trace:ABC', 'method:post -service:web', 'nothing OR pay', 'pay*fail'],
  ])('%s', (q) => {
    expect(compileEntryQuery(q)(indexed(entry))).toBe(true)
  })
})

it.each<[string, boolean]>([
  ['orderId=4711', true],
  ['order 4711 failed', true],
  ['#4711,', true],
  ['/orders/4711', true],
  ['a4711b 4711', true],
  ['a4711b', false],
  ['14711', false],
  ['4711é', false],
])('a bare number is found as a whole word: 4711 in %j', (text, found) => {
  for (const one of [entryOf({ message: text }), entryOf({ trace: { trace_id: text } })])
    expect(compileEntryQuery('4711')(indexed(one))).toBe(found)
  expect(compileEntryQuery('*4711*')(indexed(entryOf({ message: text })))).toBe(true)
})

it.each(['ΟΔΟΣ', 'οδος', 'οδοσ', 'message:ΟΔΟΣ', 'ΟΔΟΣ*β', 'tag:ΟΔΟΣ', 'tag:Ο*ΟΣ', 'tag:οδοσ', '-message:ΟΔΟΣΓ'])(
  '%s matches every form of sigma',
  (q) => {
    expect(compileEntryQuery(q)(indexed(entryOf({ message: 'η ΟΔΟΣΑΒ', tags: ['Οδος'] })))).toBe(true)
  },
)

describe('a word with asterisks', () => {
  const texts = (...tags: string[]): boolean => compileEntryQuery('alpha*beta*gamma')(indexed(entryOf({ tags })))

  it('is searched within each text', () => {
    expect(texts('alpha', 'beta', 'gamma')).toBe(false)
    expect(texts('alpha beta', 'alpha gamma beta', 'gamma beta alpha')).toBe(false)
    expect(texts('alpha alpha', 'gamma', '> Alpha beta Beta gamma <')).toBe(true)
  })

  it('needs time linear in the number of texts', () => {
    expectLinearTime(100_000, (length) => {
      const many = indexed(entryOf({ tags: [...Array.from({ length }, () => 'a'), 'ab'] }))
      return () => expect(compileEntryQuery('a*ab')(many)).toBe(false)
    })
  })

  it('can contain the separator of texts', () => {
    expect(compileEntryQuery('\u001fa*b')(indexed(entryOf({ tags: ['a', 'ab'] })))).toBe(false)
  })
})

it.each<[string, number, number]>([
  ['level:loud', 6, 4],
  ['a level:>=500', 8, 5],
  ['status:>=warn', 7, 6],
  ['status:>2026-01-01', 7, 11],
  ['timestamp:soon', 10, 4],
  ['version:>main', 9, 4],
  ['timestamp:>5', 10, 2],
  ['timestamp:2026-02-30', 10, 10],
  ['service:>error', 8, 6],
  ['x /(/', 2, 3],
  ['/a{2000}/', 0, 9],
  ['/(a{1,900}b){1,9}/', 0, 18],
  ['"open', 0, 5],
])('%s is refused with its position', (q, position, length) => {
  expect(() => compileEntryQuery(q)).toThrow(expect.objectContaining({ code: 'QUERY', position, length }))
})

it.each<[string, boolean]>([
  ['timestamp:>-10m', true],
  ['timestamp:>10min', true],
  ['timestamp:<-4m', true],
  ['time:-1h..-240s', true],
  ['received_at:>-4m', false],
  ['timestamp:>-4m', false],
  ['timestamp:<-10m', false],
])('a time can be relative to now: %s', (q, found) => {
  const at = new Date(Date.now() - 5 * 60_000).toISOString()
  const record = { id: 'e', seq: 1, received_at: at, batch_id: null, entry: entryOf({ timestamp: at }) }
  expect(compileEntryQuery(q, memo)(indexEntry(record))).toBe(found)
})

it.each<[string, readonly string[]]>([
  ['version:>1.9', ['1.9.3', '1.10.0-rc.1', '1.10.0', 'v2.0', '2.1+build-7']],
  ['version:>=1.10.0', ['1.10.0', 'v2.0', '2.1+build-7']],
  ['version:<1.10.0', ['1.9.0', '1.9.3', '1.10.0-rc.1']],
  ['version:1.9.3..1.10', ['1.9.3', '1.10.0-rc.1', '1.10.0']],
  ['version:>v1.10 version:<v3', ['v2.0', '2.1+build-7']],
])('versions are compared by their numbers: %s', (q, found) => {
  const versions = ['1.9.0', '1.9.3', '1.10.0-rc.1', '1.10.0', 'v2.0', '2.1+build-7', 'main', '']
  const matches = compileEntryQuery(q)
  expect(versions.filter((version) => matches(indexed(entryOf({ version }))))).toEqual(found)
})

it('a duration has units also without an operator', () => {
  expect(compileEntryQuery('duration:1.5s')(indexed(entryOf({ request: { duration_ms: 1500 } })))).toBe(true)
})
