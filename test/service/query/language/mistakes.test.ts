/** Hints for queries that can only be mistakes. */
import { describe, expect, test } from 'vitest'
import { REQUEST_FIELDS, findMistake, parseQuery } from '../../../../src/service/query/language/index.js'
import { REQUEST_READERS } from '../../../../src/service/query/matching/record-readers.js'

const NAMES = ['metadata.orderId', 'metadata.cart.total', 'service']

describe('is corrected', () => {
  test.each([
    ['statsu:500', 'status:500'],
    ['-servcie:pay', '-service:pay'],
    ['duraton:>=20', 'duration:>=20'],
    ['status>500', 'status:>500'],
    ['status>=500', 'status:>=500'],
    ['level=error', 'level:error'],
    ['level==error', 'level:error'],
    ['level!=info', '-level:info'],
    ['status:5xx', 'status:500..599'],
    ['request.status_code:(4XX,500)', 'request.status_code:(400..499,500)'],
    ['duration:500..200', 'duration:200..500'],
    ['level:error or level:fatal', 'level:error OR level:fatal'],
    ['a (b or c)', 'a (b OR c)'],
    ['declined and "a b"', 'declined AND "a b"'],
    ['metadata.oderId:7', undefined],
    ['orderid2:7', undefined],
  ])('%s to %s', (q, corrected) => {
    const mistake = findMistake(q, NAMES)
    expect(mistake?.corrected).toBe(corrected)
    if (mistake === undefined) return
    expect(q.slice(mistake.position, mistake.position + mistake.length)).not.toBe('')
    expect(parseQuery(mistake.corrected).problem).toBeUndefined()
    expect(findMistake(mistake.corrected, NAMES)).toBeUndefined()
  })
})

describe('is no mistake', () => {
  test.each([
    '',
    'declined u-42',
    'or',
    'either or',
    'a=b',
    'x>5',
    '"level=error"',
    '"or" a b',
    'a OR b',
    'status:>=500',
    'status:500..599',
    'duration:200..500',
    'duration:500..',
    'orderId:1017',
    'cart.total:>100',
    'cart:*',
    'metadata.anything:1',
    'tenant:7',
    'env:prod',
    'error.type:Foo',
    '(((',
  ])('%s', (q) => expect(findMistake(q, NAMES)).toBeUndefined())
})

test('the fields of request logs are those that can be read', () => {
  expect([...REQUEST_FIELDS]).toEqual(Object.keys(REQUEST_READERS))
})
