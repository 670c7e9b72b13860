/** Values as a tree: bounded for any value, with paths that evaluate to the values. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldText } from '../../../../src/service/viewer/detail/fold-text.js'
import {
  toCopy,
  truncate,
  findKind,
  listMembers,
  formatPath,
  formatPreview,
  countItems,
} from '../../../../src/service/viewer/detail/tree.js'
import type { Json } from '../../../../src/protocol/log-entry.js'

test('kinds, sizes and members', () => {
  expect([null, [], {}, 'a', 1, true].map((value) => findKind(value as Json))).toEqual([
    'null',
    'array',
    'object',
    'string',
    'number',
    'boolean',
  ])
  expect([countItems([1, 2]), countItems({ a: 1 }), countItems('abc')]).toEqual([2, 1, 0])
  expect(listMembers(['a', 'b', 'c'], 2)).toEqual([
    { key: 0, value: 'a' },
    { key: 1, value: 'b' },
  ])
  expect(listMembers({ a: 1, b: null }, 5)).toEqual([
    { key: 'a', value: 1 },
    { key: 'b', value: null },
  ])
  expect(listMembers(3, 5)).toEqual([])
})

test('paths in JavaScript syntax', () => {
  expect(formatPath([])).toBe('')
  expect(formatPath(['user', 'roles', 0, 'last seen'])).toBe('user.roles[0]["last seen"]')
  expect(formatPath(['0', 'a"b'])).toBe('["0"]["a\\"b"]')
})

test('a path evaluates to its value', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.nat(20)), { minLength: 1, maxLength: 5 }), (path) => {
      const root = path.reduceRight<unknown>(
        (inner, key) => (typeof key === 'number' ? Object.assign([], { [key]: inner }) : { [key]: inner }),
        'found',
      )
      const text = formatPath(path)
      // oxlint-disable-next-line typescript/no-implied-eval -- the text is made by the code under test, of generated keys
      const read = new Function('root', `return root${text.startsWith('[') ? text : `.${text}`}`) as (
        root: unknown,
      ) => unknown
      if (!path.includes('__proto__')) expect(read(root)).toBe('found')
    }),
  )
})

describe('a preview', () => {
  test.each<[Json, string]>([
    [{}, '{}'],
    [[], '[]'],
    [{ id: 1, name: 'x' }, '{ id, name }'],
    [[1, 'a', null, { b: 1 }, [2]], '[1, "a", null, {…}, […]]'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, '{ a, b, c, d, e, … }'],
  ])('%j', (value, text) => expect(formatPreview(value)).toBe(text))

  test('is short for any value', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => formatPreview(value as Json).length < 100))
    expect(formatPreview(Object.fromEntries([['k'.repeat(10_000), 1]])).length).toBeLessThan(100)
  })
})

test('truncation does not split characters', () => {
  expect(truncate('abc', 3)).toBe('abc')
  expect(truncate('abcd', 3)).toBe('abc…')
  expect(truncate('ab😀cd', 3)).toBe('ab…')
})

test('text is copied without quotes, other values as JSON', () => {
  expect(toCopy('a\nb')).toBe('a\nb')
  expect(toCopy({ a: 1 })).toBe('{\n  "a": 1\n}')
})

describe('a long text', () => {
  test('is folded by characters and by lines', () => {
    expect(foldText('abc', 10, 3)).toEqual({ text: 'abc', isCut: false })
    expect(foldText('x'.repeat(100), 10, 3)).toEqual({ text: 'x'.repeat(10), isCut: true })
    expect(foldText('a\n'.repeat(100), 1_000, 3)).toEqual({ text: 'a\na\na', isCut: true })
  })

  test('is shown completely if only little would be hidden', () => {
    expect(foldText('x'.repeat(11), 10, 3).isCut).toBe(false)
    expect(foldText('a\nb\nc\nd\ne', 1_000, 3)).toEqual({ text: 'a\nb\nc\nd\ne', isCut: false })
  })

  test('is always folded to a prefix within the limit', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', '😀', ' ') }),
        fc.integer({ min: 5, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        (text, maxChars, maxLines) => {
          const folded = foldText(text, maxChars, maxLines)
          expect(text.startsWith(folded.text)).toBe(true)
          expect(folded.isCut).toBe(folded.text.length < text.length)
          expect(folded.text.length).toBeLessThanOrEqual(maxChars * 1.2)
        },
      ),
    )
  })
})
