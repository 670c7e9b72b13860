/** Generated queries: valid ones as text, and malformed ones. */
import fc from 'fast-check'
import { FIELDS } from '../../../../src/service/query/language/fields.js'
import type { QueryNode } from '../../../../src/service/query/language/index.js'

export function withoutPositions(query: QueryNode): unknown {
  return JSON.parse(JSON.stringify(query, (key, value: unknown) => (/^(?:start|end)$/.test(key) ? undefined : value)))
}

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

const plain = fc.constantFrom('a', 'b', 'order', 'FAILED', 'u-42', '1017', 'größe', 'x.y', '502', 'İ')
const odd = fc.constantFrom('a b', '"', '\\', '', '(', ':', '/a/', '-', '*', 'OR', '>5', '1..2', ',', '💥').map(quote)
const literal = fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: odd })
const pattern = fc.constantFrom('/a/', '/^or.*d$/i', '/[0-9]+/', '/a b/', '/x\\/y/', '/(a|b)/i')
const wildcard = fc.constantFrom('or*', '*ed', 'a*b', '*r*e*', '/api/*')
const bound = fc.constantFrom(
  '5',
  '-1',
  '200',
  '1e3',
  '.5',
  '2026-01-31',
  '2026-01-31T08:00',
  '2026-01-31T08:00:00.123Z',
)
const compared = fc.tuple(fc.constantFrom('>', '>=', '<', '<='), bound).map(([operator, one]) => operator + one)
const range = fc.oneof(
  fc.tuple(bound, bound).map(([from, to]) => `${from}..${to}`),
  bound.map((one) => `${one}..`),
  bound.map((one) => `..${one}`),
)
const value = fc.oneof(literal, literal, pattern, wildcard, compared, range, fc.constant('*'))
/** Excludes fields that entries get only when stored, and levels and times, which have other values. */
const NOT_GENERATED = ['fingerprint', 'id', 'seq', 'received_at', 'level', 'timestamp']
const anyName = fc.constantFrom(
  ...Object.entries(FIELDS).flatMap(([name, { aliases = [] }]) =>
    NOT_GENERATED.includes(name) ? [] : [name, ...aliases],
  ),
)
const frequentName = fc.constantFrom(
  'service',
  'message',
  'status',
  'duration',
  'user',
  'tag',
  'orderId',
  'metadata.a.b',
  '"a b"',
)
const field = fc.oneof(frequentName, anyName)
const list = fc
  .tuple(fc.array(value, { minLength: 1, maxLength: 3 }), fc.constantFrom(',', ', ', ' OR '))
  .map(([values, separator]) => `(${values.join(separator)})`)
const fieldTerm = fc.tuple(field, fc.oneof(value, list)).map(([name, text]) => `${name}:${text}`)
const levelTerm = fc.constantFrom(
  'level:error',
  'level:(error,fatal)',
  'level:>=warn',
  'level:<info',
  'level:info..error',
)
const term = fc.oneof(literal, pattern, wildcard, fieldTerm, fieldTerm, levelTerm)

/** Counts parts: at least as many as terms, of which a query has at most 50. */
const countParts = (text: string): number => text.split(/[\s,()]+/).length

export const queryText: fc.Arbitrary<string> = fc
  .letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      term,
      fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map((nodes) => nodes.join(' ')),
      fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map((nodes) => `(${nodes.join(' OR ')})`),
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}) AND ${b}`),
      tie('node').map((node) => `-(${node})`),
      tie('node').map((node) => `NOT ${node}`),
    ),
  }))
  .node.filter((text) => countParts(text) <= 50)

/** Valid texts without quotes: they cannot close an added open quote or bracket. */
const simple = fc.array(fc.constantFrom('a', 'service:b', 'level:(error,fatal)', '-x', 'status:>=500'), {
  maxLength: 3,
})
const mistake = fc.constantFrom(
  ...['"open', '(a', '((a)', 'a)', '()', 'service:', 'service: ', 'level:()', 'level:(a', 'level:(a b)', 'level:(a,)'],
  ...[
    'status:>',
    'status:>=x',
    'status:<abc',
    'status:1..x',
    'status:x..1',
    'time:2026-01-31..soon',
    'a OR',
    'a AND',
    'NOT',
  ],
  ...['OR', 'AND', 'AND AND', 'a OR OR b', 'a AND OR b', '(OR a)', '(a OR)', '(NOT)', '"":x', '-()', '-(a', 'x:(,)'],
)

export const malformedQuery: fc.Arbitrary<string> = fc
  .tuple(simple, mistake, fc.nat(40))
  .map(([before, wrong, spaces]) => [...before, ' '.repeat(spaces) + wrong].join(' '))
