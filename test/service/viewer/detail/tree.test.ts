/** Values as a tree, bounded for any value. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  foldText,
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
  const values: Json[] = [null, [1, 2], { a: 1 }, 'abc', 1, true]
  expect(values.map(findKind)).toEqual(['null', 'array', 'object', 'string', 'number', 'boolean'])
  expect(values.map(countItems)).toEqual([0, 2, 1, 0, 0, 0])
  expect(values.map((value) => listMembers(value, 1))).toEqual([
    [],
    [{ key: 0, value: 1 }],
    [{ key: 'a', value: 1 }],
    [],
    [],
    [],
  ])
})

test('paths in JavaScript syntax', () => {
  expect(formatPath([])).toBe('')
  expect(formatPath(['user', 'roles', 0, 'last seen'])).toBe('user.roles[0]["last seen"]')
  expect(formatPath(['0', 'a"b'])).toBe('["0"]["a\\"b"]')
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
  test.each([
    ['a short one stays whole', 'abc', 'abc'],
    ['folded by characters', 'x'.repeat(100), 'x'.repeat(10)],
    ['folded by lines', 'a\n'.repeat(6), 'a\na\na'],
    ['whole if few characters would be hidden', 'x'.repeat(11), 'x'.repeat(11)],
    ['whole if few lines would be hidden', 'a\nb\nc\nd\ne', 'a\nb\nc\nd\ne'],
  ])('%s', (_, text, folded) => expect(foldText(text, 10, 3)).toBe(folded))

  test('is always folded to a prefix within the limit', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', '😀', ' ') }),
        fc.integer({ min: 5, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        (text, maxChars, maxLines) => {
          const folded = foldText(text, maxChars, maxLines)
          expect(text.startsWith(folded)).toBe(true)
          expect(folded.length).toBeLessThanOrEqual(maxChars * 1.2)
        },
      ),
    )
  })
})
