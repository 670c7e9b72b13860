/** Completions at the caret, which `|` marks. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyCompletion, findCompletion, parseQuery } from '../../../../src/service/query/language/index.js'
import { modelRuns } from '../../../model-runs.js'

const at = (marked: string): ReturnType<typeof findCompletion> =>
  findCompletion(marked.replace('|', ''), marked.indexOf('|'))

it.each<[string, string | null, string, string]>([
  ['|', null, '', ''],
  ['a ser| b', null, 'ser', 'ser'],
  ['(a OR ser|', null, 'ser', 'ser'],
  ['se|rvice:a', null, 'se', 'service:'],
  ['service:|', 'service', '', ''],
  ['service:a|', 'service', 'a', 'a'],
  ['service:a|pi x', 'service', 'a', 'api'],
  ['service:"a b|', 'service', 'a b', '"a b'],
  ['service:"a b|c" x', 'service', 'a b', '"a bc"'],
  ['level:(error,fa|', 'level', 'fa', 'fa'],
  ['level:(error,fatal) ser|', null, 'ser', 'ser'],
  ['/a b/ ser|', null, 'ser', 'ser'],
  ['a "open ser|', null, 'none', ''],
])('at %s', (marked, field, prefix, replaced) => {
  const found = at(marked)
  if (prefix === 'none') return expect(found).toBeUndefined()
  expect(found).toMatchObject({ kind: field === null ? 'field' : 'value', field, prefix })
  expect(marked.replace('|', '').slice(found?.start, found?.end)).toBe(replaced)
})

it.each(['"a phr|', '"a phr|ase"', '/a|b/', 'path:/a|/', 'level:|(a)', 'status:>5|', 'status:>|'])(
  'has no completion at %s',
  (marked) => {
    expect(at(marked)).toBeUndefined()
  },
)

it.each<[string, string, string]>([
  ['ser|', 'service', 'service:|'],
  ['a|', 'metadata.a b', '"metadata.a b":|'],
  ['se|rvice:a', 'session_id', 'session_id:|a'],
  ['service:a|', 'api', 'service:api |'],
  ['service:a|pi x', 'web', 'service:web |x'],
  ['service:"a b|', 'a b c', 'service:"a b c" |'],
  ['level:(error,fa|)', 'fatal', 'level:(error,fatal|)'],
  ['level:(error,fa|', 'fatal', 'level:(error,fatal|'],
  ['user:|', '', 'user:"" |'],
])('inserts into %s %s', (marked, chosen, expected) => {
  const found = at(marked) ?? expect.fail('nothing to complete')
  const { text, caret } = applyCompletion(marked.replace('|', ''), found, chosen)
  expect(`${text.slice(0, caret)}|${text.slice(caret)}`).toBe(expected)
})

it('any inserted value is parsed as that value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('/a/', '>5', '*', 'a*', '1..2', '"', '\\')), (value) => {
      const found = findCompletion('x service:', 10) ?? expect.fail('nothing to complete')
      const { query } = parseQuery(applyCompletion('x service:', found, value).text)
      expect(query).toMatchObject({ nodes: [{}, { field: 'service', values: [{ kind: 'exact', text: value }] }] })
    }),
  )
})

it('completes at the end of a text that has become shorter than the position', () => {
  expect(findCompletion('', 5)).toMatchObject({ kind: 'field', start: 0, end: 0 })
  expect(findCompletion('service:a', 20)).toMatchObject({ field: 'service', prefix: 'a', end: 9 })
})

it('does not throw at any position of any text', () => {
  let completed = 0
  const part = fc.constantFrom('a', '"', ':', '(', ')', ',', '/', '-', ' ', '\\', '>', 'level', '💥')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.nat(20), (parts, caret) => {
      const text = parts.join('')
      const found = findCompletion(text, caret)
      if (found === undefined) return
      completed++
      expect(found.start).toBeLessThanOrEqual(Math.min(caret, text.length))
      expect(found.end).toBeGreaterThanOrEqual(Math.min(caret, text.length))
      expect(found.end).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: modelRuns(1_000, 10_000) },
  )
  expect(completed).toBeGreaterThan(300)
})
