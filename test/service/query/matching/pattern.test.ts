/** Regular expressions: the search for a literal misses no match, and hostile expressions end in time. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileEntryQuery } from '../../../../src/service/query/matching/compile-query.js'
import { compilePattern, findLiteral } from '../../../../src/service/query/matching/pattern.js'
import { indexEntry } from '../../../../src/service/store/indexed-record.js'
import { entryOf } from '../../support.js'
import { modelRuns } from '../../../model-runs.js'
import { expectLinearTime } from '../../../linear-time.js'

const compile = (source: string, ignoresCase = false): ReturnType<typeof compilePattern> =>
  compilePattern({ kind: 'pattern', source, ignoresCase, start: 0, end: source.length })

/** Expressions with the same meaning in JavaScript and RE2. */
const atom = fc.constantFrom(
  ...['a', 'b', 'B', 'k', 's', 'é', '💥', '.', '\\d', '\\w', '\\.', '[ab]', '[^a]', '[^]a]', '\\bab', 'ab\\b'],
)
const source = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.constantFrom('^', '$', 'abc', 'xyz', '^a', 'b$', '^$'),
    fc.array(tie('node'), { minLength: 2, maxLength: 4 }).map((nodes) => nodes.join('')),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(
        atom.filter((one) => !one.includes('b')),
        fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '*?'),
      )
      .map((parts) => parts.join('')),
    tie('node').map((node) => `(${node})*`),
  ),
})).node
const LETTERS = [
  'a',
  'b',
  'B',
  'ab',
  'abc',
  'xyz',
  '1',
  '.',
  ' ',
  '\n',
  'é',
  '💥',
  'k',
  'S',
  'É',
  'İ',
  'ß',
  'AΣ ',
  '\u212a',
  'ſ',
  ']',
]
const text = fc.array(fc.constantFrom(...LETTERS), { maxLength: 10 })

it('finds the same matches as JavaScript', () => {
  fc.assert(
    fc.property(source, fc.boolean(), fc.array(text, { minLength: 1, maxLength: 4 }), (from, ignoresCase, texts) => {
      const { test, literal } = compile(from.replaceAll('[^]a]', '[^\\]a]'), ignoresCase)
      const reference = new RegExp(from.replaceAll('[^]a]', '[^\\]a]'), ignoresCase ? 'iu' : 'u')
      for (const parts of texts) {
        const one = parts.join('')
        // RE2's word characters are ASCII only, without case folding.
        if (/[kKsS\u212aſ]/.test(one) && ignoresCase && /\\[wb]/.test(from)) continue
        expect(test(one)).toBe(reference.test(one))
        if (reference.test(one)) expect(one.toLowerCase()).toContain(literal)
      }
    }),
    { numRuns: modelRuns(1_000, 5_000) },
  )
})

it.each([
  ['declined by \\d+', 'declined by '],
  ['orders?', 'order'],
  ['[a-z]xy[]z]', 'xy'],
  ['\\Qab(\\Ecd', ''],
  ['Order\\.js', 'Order.js'],
  ['[[:alpha:]]xy', 'xy'],
  ['ab{2,3}cd', 'cd'],
])('%s contains %j', (from, literal) => {
  expect(findLiteral(from, false)).toBe(literal)
})

describe('hostile expressions', () => {
  it.each(['(a+)+$', '(a|a)*b', '(.*a){12}', '(a?){30}a{30}', '(x+x+)+y', '(a|b)*a(a|b){11}$'])(
    '%s takes linear time',
    (from) => {
      const { test } = compile(from)
      expectLinearTime(320_000, (chars) => () => {
        test(`${'a'.repeat(chars)}!`)
        test('ab'.repeat(chars / 2))
      })
    },
  )

  it('an expression that takes too long is refused with its position', () => {
    const message = 'ab'.repeat(10_000)
    const entry = indexEntry({ id: 'e', seq: 1, received_at: '', batch_id: null, entry: entryOf({ message }) })
    const q = 'message:/(a|b)*a(a|b){20}[cd]/'
    expect(() => compileEntryQuery(q, undefined, 0)(entry)).toThrow(
      expect.objectContaining({ code: 'QUERY', position: 8, length: 22 }),
    )
    expect(compileEntryQuery(q)(entry)).toBe(false)
  })
})
