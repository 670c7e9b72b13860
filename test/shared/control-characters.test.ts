/** Sanitizes external text for display: no invisible characters, and none that move or forge text. */
import { describe, expect, test } from 'vitest'
import { formatJsonLine, toPrintable } from '../../src/cli/shared/terminal.js'
import { CONTROL_CHARACTERS } from '../../src/shared/control-characters.js'

function clear(text: string): string {
  return text.replace(CONTROL_CHARACTERS, ' ')
}

describe('is removed', () => {
  test.each<[string, string]>([
    ['a control character', '\u001b'],
    ['a C1 control', '\u009b'],
    ['a line separator', '\u2028'],
    ['the Arabic letter mark', '\u061c'],
    ['an override', '\u202e'],
    ['a zero-width space', '\u200b'],
    ['a zero-width joiner within Latin text', '\u200d'],
    ['a byte order mark', '\ufeff'],
    ['a soft hyphen', '\u00ad'],
    ['a Hangul filler', '\u3164'],
    ['an annotation anchor', '\ufff9'],
    ['the language tag', '\u{e0001}'],
    ['a musical format character', '\u{1d173}'],
  ])('%s', (_, character) => {
    expect(clear(`admin${character}user`)).toBe('admin user')
  })

  test('a run of them is replaced by one space', () => {
    expect(clear('a\r\n\u200b\u{e0041}\u{e0042}\u202eb')).toBe('a b')
  })

  test('text hidden in variation selectors', () => {
    expect(clear('😀\ufe01\ufe02\u{e0101}\u{e0120}x')).toBe('😀\ufe01 x')
  })
})

test.each(['plain text, ümläut, 中文, עברית, العربية', '👩‍👩‍👧 👩🏽‍💻 ❤️ 🏳️‍🌈 1️⃣', 'می‌خواهم', 'क्‍ष', 'e\u0301'])(
  'keeps %s',
  (text) => {
    expect(clear(text)).toBe(text)
  },
)

test('on the command line escapes both halves of a character, and keeps JSON valid', () => {
  const text = 'a\u{e0041}b\nc\u200b'
  expect(toPrintable(text)).toBe(String.raw`a\udb40\udc41b\nc\u200b`)
  const line = formatJsonLine({ text })
  expect(line).toBe(`{"text":"a${String.raw`\udb40\udc41`}b${String.raw`\n`}c${String.raw`\u200b`}"}\n`)
  expect(JSON.parse(line)).toEqual({ text })
})
