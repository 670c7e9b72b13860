/** The parser returns the parsed query, or an error with its position. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_QUERY_LENGTH, parseQuery, printQuery } from '../../../../src/service/query/language/index.js'
import { malformedQuery, queryText, withoutPositions } from './queries.js'
import { modelRuns } from '../../../model-runs.js'

/** Formats a parsed query compactly, to show its structure. */
const parsed = (text: string): unknown => {
  const { query, problem } = parseQuery(text)
  if (problem !== undefined) throw new Error(`${problem.message} at ${problem.position}`)
  return withoutPositions(query)
}
const exact = (text: string) => ({ kind: 'exact', text })
const term = (field: string | null, ...values: object[]) => ({ kind: 'term', field, values })
const word = (text: string) => term(null, exact(text))

it.each<[string, unknown]>([
  ['', { kind: 'all' }],
  ['declined', word('declined')],
  ['"a  phrase"', word('a  phrase')],
  ['"a \\"quoted\\" \\\\ C:\\new"', word('a "quoted" \\ C:\\new')],
  ['service:api', term('service', exact('api'))],
  ['"metadata.a b":1', term('metadata.a b', exact('1'))],
  ['timestamp:>2026-11-22T10:00Z', term('timestamp', { kind: 'compare', operator: '>', operand: '2026-11-22T10:00Z' })],
  ['status:400..499', term('status', { kind: 'range', from: '400', to: '499' })],
  ['status:400..', term('status', { kind: 'range', from: '400', to: null })],
  ['level:(error, fatal)', term('level', exact('error'), exact('fatal'))],
  ['level:(error OR >=fatal)', term('level', exact('error'), { kind: 'compare', operator: '>=', operand: 'fatal' })],
  ['tag:a,b', term('tag', exact('a,b'))],
  ['user:*', term('user', { kind: 'present' })],
  ['path:/api/*', term('path', { kind: 'wildcard', parts: ['/api/', ''] })],
  ['pay*ed', term(null, { kind: 'wildcard', parts: ['pay', 'ed'] })],
  ['path:/orders/:id', term('path', exact('/orders/:id'))],
  ['path:/a/', term('path', { kind: 'pattern', source: 'a', ignoresCase: false })],
  ['path:"/a/"', term('path', exact('/a/'))],
  ['/pay (a|b)\\/c/i', term(null, { kind: 'pattern', source: 'pay (a|b)\\/c', ignoresCase: true })],
  ['https://shop.example.com', word('https://shop.example.com')],
  ['a - b', { kind: 'and', nodes: [word('a'), word('-'), word('b')] }],
  ['-"a b"', { kind: 'not', node: word('a b') }],
  ['NOT -a', { kind: 'not', node: { kind: 'not', node: word('a') } }],
  ['-(a OR b)', { kind: 'not', node: { kind: 'or', nodes: [word('a'), word('b')] } }],
  ['a b OR c', { kind: 'or', nodes: [{ kind: 'and', nodes: [word('a'), word('b')] }, word('c')] }],
  ['a (b OR c)', { kind: 'and', nodes: [word('a'), { kind: 'or', nodes: [word('b'), word('c')] }] }],
  ['or and not', { kind: 'and', nodes: [word('or'), word('and'), word('not')] }],
])('parses %s', (text, expected) => {
  expect(parsed(text)).toEqual(expected)
})

it.each<[string, number, number]>([
  ['"open', 0, 5],
  ['()', 0, 2],
  ['a)', 1, 1],
  ['a OR', 4, 0],
  ['a AND OR b', 6, 2],
  ['NOT', 3, 0],
  ['level:', 6, 0],
  ['level:(a b)', 9, 1],
  ['level:(a', 6, 1],
  ['status:>', 7, 1],
  ['status:>=abc', 9, 3],
  ['status:abc..400', 7, 3],
  ['"":1', 0, 3],
])('refuses %s at %d', (text, position, length) => {
  const { problem } = parseQuery(text)
  expect(problem).toMatchObject({ position, length })
  expect(problem?.message).not.toBe('')
})

describe('limits', () => {
  it('refuses more than 2,000 characters, and more than 50 levels', () => {
    expect(parseQuery('a'.repeat(MAX_QUERY_LENGTH)).problem).toBeUndefined()
    expect(parseQuery('a'.repeat(MAX_QUERY_LENGTH + 1)).problem).toMatchObject({
      position: MAX_QUERY_LENGTH,
      length: 1,
    })
    expect(parseQuery(`${'('.repeat(49)}a${')'.repeat(49)}`).problem).toBeUndefined()
    expect(parseQuery(`${'('.repeat(900)}a${')'.repeat(900)}`).problem).toMatchObject({ position: 50 })
    expect(parseQuery(`${'NOT '.repeat(400)}a`).problem).toMatchObject({ length: 1 })
  })

  it.each<[string, (count: number) => string]>([
    ['words', (count) => 'aa '.repeat(count)],
    ['alternatives in brackets', (count) => `(${Array(count).fill('b').join(' OR ')})`],
    ['values', (count) => `c:(${Array(count).fill('1').join(',')})`],
  ])('refuses more than 50 terms: %s', (_, create) => {
    expect(parseQuery(create(50)).problem).toBeUndefined()
    const text = create(51)
    const at = Math.max(text.lastIndexOf('a'), text.lastIndexOf('b'), text.lastIndexOf('1'))
    const { problem } = parseQuery(text)
    expect(problem?.message).toContain('50')
    expect((problem?.position ?? 0) + (problem?.length ?? 0)).toBe(at + 1)
  })
})

it('prints a query that parses to the same query', () => {
  fc.assert(
    fc.property(queryText, (text) => {
      const { query } = parseQuery(text)
      if (query === undefined) throw new Error(`${text} is refused`)
      expect(parsed(printQuery(query))).toEqual(withoutPositions(query))
    }),
    { numRuns: modelRuns(600, 6_000) },
  )
})

it('refuses 2,000 malformed queries with a message and a position within the text', () => {
  fc.assert(
    fc.property(malformedQuery, (text) => {
      const { problem } = parseQuery(text)
      if (problem === undefined) throw new Error(`${text} is accepted`)
      expect(problem.message.length).toBeGreaterThan(5)
      expect(problem.position).toBeGreaterThanOrEqual(0)
      expect(problem.length).toBeGreaterThanOrEqual(0)
      expect(problem.position + problem.length).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: modelRuns(400, 4_000) },
  )
})

it('parses or refuses any text without throwing', () => {
  const character = fc.constantFrom(...'ab:"()/\\-*,.<>= 5\n', 'OR ', 'AND ', 'NOT ', 'level:', '💥', '\ud800')
  fc.assert(
    fc.property(fc.array(character, { maxLength: 30 }), (characters) => {
      const text = characters.join('')
      const { query, problem } = parseQuery(text)
      if (query !== undefined) expect(parsed(printQuery(query))).toEqual(withoutPositions(query))
      else expect(problem.position + problem.length).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: modelRuns(1_000, 10_000) },
  )
})
