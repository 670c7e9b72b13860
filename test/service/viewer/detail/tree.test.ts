/** Values as a tree, bounded for any value. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldText, truncate, formatPreview } from '../../../../src/service/viewer/detail/tree.js'
import type { Json } from '../../../../src/protocol/log-entry.js'

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
