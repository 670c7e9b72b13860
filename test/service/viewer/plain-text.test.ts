/** Removal of terminal colors, and marks for invisible characters. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toPlainJson, toPlainText } from '../../../src/service/viewer/plain-text.js'

test.each([
  ['plain text', 'plain text'],
  ['\u001B[31mred\u001B[0m and \u001B[1;38;2;1;2;3mbold\u001B[m', 'red and bold'],
  ['\u009B32mgreen', 'green'],
  ['a\u001B[2Kb', 'a‹U+001B›[2Kb'],
  ['\u202Egnp.exe', '‹U+202E›gnp.exe'],
  ['zero\u200Bwidth\uFEFF', 'zero‹U+200B›width‹U+FEFF›'],
  ['tag\u{E0041}', 'tag‹U+E0041›'],
  ['bell\u0007\u007F\u0085', 'bell‹U+0007›‹U+007F›‹U+0085›'],
  ['first\r\n\tsecond', 'first\r\n\tsecond'],
  ['👩‍👩‍👧 می‌خواهم مرحبا', '👩‍👩‍👧 می‌خواهم مرحبا'],
])('%j', (text, shown) => expect(toPlainText(text)).toBe(shown))

// oxlint-disable-next-line no-misleading-character-class -- no control or format character except those that languages need
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\u200B\uFEFF\u2060\u{E0000}-\u{E007F}]/u

test('removes control characters and changes of direction from any text; plain text is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme-ascii' }), (any, ascii) => {
      expect(toPlainText(any)).not.toMatch(FORBIDDEN)
      expect(toPlainText(toPlainText(any))).toBe(toPlainText(any))
      expect(toPlainText(ascii)).toBe(ascii)
    }),
  )
})

test('JSON keeps its value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const json = toPlainJson(JSON.stringify({ [text]: text }))
      expect(json).not.toMatch(FORBIDDEN)
      expect(JSON.parse(json)).toEqual({ [text]: text })
    }),
  )
})
