/** Hints for queries that can only be mistakes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KnownField } from '../../../../src/service/query/language/mistakes.js'
import { REQUEST_FIELDS, findMistake, parseQuery } from '../../../../src/service/query/language/index.js'
import { REQUEST_READERS } from '../../../../src/service/query/matching/record-readers.js'
import { modelRuns } from '../../../model-runs.js'

const KNOWN: readonly KnownField[] = [
  ...[
    'metadata.orderId',
    'metadata.error.cause.code',
    'metadata.error.cause.message',
    'metadata.cart.total',
    'metadata.users.count',
    'metadata.userId',
  ].map((name) => ({ name })),
  { name: 'service', values: ['shop', 'pay'] },
  { name: 'metadata.logger', values: ['queue'] },
]

describe('is corrected', () => {
  test.each([
    ['statsu:500', 'status:500'],
    ['status>=500', 'status:>=500'],
    ['level!=info', '-level:info'],
    ['status:5xx', 'status:500..599'],
    ['request.status_code:(4XX,500)', 'request.status_code:(400..499,500)'],
    ['duration:500..200', 'duration:200..500'],
    ['level:error or level:fatal', 'level:error OR level:fatal'],
    ['declined and "a b"', 'declined AND "a b"'],
    ['userid:7', 'userId:7'],
    ['metadata.oderId:7', undefined],
    ['orderId=4711', 'orderId:4711'],
    ['duration>10ms', 'duration:>10ms'],
    ['service:shp', 'service:shop'],
    ['logger:quue', 'logger:queue'],
    ['level:eror', 'level:error'],
    // as rows print them
    ['code:ETIMEDOUT', 'error.cause.code:ETIMEDOUT'],
    ['cause:"issuer timeout"', 'error.cause.message:"issuer timeout"'],
  ])('%s to %s', (q, corrected) => {
    const mistake = findMistake(q, KNOWN)
    expect(mistake?.corrected).toBe(corrected)
    if (mistake === undefined) return
    expect(parseQuery(mistake.corrected).problem).toBeUndefined()
    expect(findMistake(mistake.corrected, KNOWN)).toBeUndefined()
  })
})

describe('is no mistake', () => {
  test.each([
    ...['', 'or', 'either or', 'a=b', 'x>5', '"level=error"', '"or" a b', 'status:500..599', 'cart:*', 'tenant:7'],
    ...['(((', '(a or) b', 'a OR or b', 'level>foo', 'service:billing', 'service:sh*', 'version:1.9..1.10', 'users:*'],
  ])('%s', (q) => expect(findMistake(q, KNOWN)).toBeUndefined())
})

test('each correction is a valid query, which is not corrected again', () => {
  const piece = fc.constantFrom(
    ...['a', 'or', 'and', 'OR', 'NOT', '(', ')', '-', 'level=error', 'level!=info', 'status:5xx', 'statsu:5'],
    ...['duration:5..2', 'version>1.9.3', 'time>10:00', 'user>bob', '"or"', 'servcie:(a,b)', 'level>foo'],
  )
  let corrected = 0
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      let q = pieces.join(' ')
      for (let step = 0; step < 7; step += 1) {
        const mistake = findMistake(q, KNOWN)
        if (mistake === undefined) return
        expect(parseQuery(mistake.corrected).problem).toBeUndefined()
        corrected += 1
        q = mistake.corrected
      }
      expect.unreachable(`never correct: ${q}`)
    }),
    { numRuns: modelRuns(2_000, 50_000) },
  )
  expect(corrected).toBeGreaterThan(100)
})

test('the fields of request logs are those that can be read', () => {
  expect([...REQUEST_FIELDS]).toEqual(Object.keys(REQUEST_READERS))
})
