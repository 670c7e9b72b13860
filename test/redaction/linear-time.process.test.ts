/** Half a mebibyte of worst-case text. */
import { describe, test } from 'vitest'
import { findNextSecret, removeSecretsFromText } from '../../src/redaction/secret-text.js'
import { BUILT_INS, createPattern } from '../../src/redaction/patterns.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { UrlParams } from '../../src/redaction/url-params.js'
import { expectLinearTime } from '../linear-time.js'

const CHARS = 512 * 1024
const NASTY = [
  'a',
  'a@',
  '1 ',
  '4 ',
  '4',
  '1-',
  '41111111111111',
  '4111 1111 1111 1111 ',
  'Bearer ',
  'Bearer a',
  'Basic dXNlcjpwYXNz ',
  '....@....',
  'eyJ',
  'eyJa.',
  'eyJ.',
  '123-45-',
  '123-45-6789 ',
  '@',
  '.',
  ' ',
  '-',
  '=',
  'token=',
  'token=a&',
  ';',
  'token=;',
  '://',
  '://a@',
  'https://a:b',
  '://[scrubbed]@',
  '[scrubbed]@',
  'a.a@a.',
  'a@a.a',
  'é@é.',
  '%3D',
  'token%3D',
  'token%253D',
  'token%3D%2526',
  '%40',
  'https%3A%2F%2Fa%3A',
  '%25',
  '://a:b"',
  '\\',
  '\\"',
  '"',
  '\n',
]
const NASTY_NAMES = [
  'pin:',
  '"pin":"',
  'pin:[',
  'pin:["',
  '"pin":[',
  '"pin":[]',
  '["pin","',
  '"--pin",',
  'p-',
  'pin: A {',
  'cookie:',
  '"cookie":"',
  'cookie:[',
  'cookie ',
  'cookie: \\n',
  '\\ncookie:',
  'auth: {',
  "auth: '",
  "'authorization',",
  '"cookie":',
  'x-api-key: a\n',
  'x-api-key=a ',
  'authorization: Bearer ',
  '"authorization: ',
  '"cookie","value":',
  'cookie:[\\"',
  '\\',
  'cookie:\n ',
  "'cookie: ",
  'cookie: a\\n ',
  'cookie: none, ',
  'cookie: none\n ',
  'cookie: [removed] ',
  'cookie   ',
  'cookie: "a"; ',
  'Basic Basic ',
  'auth',
]
const params = new UrlParams(['token', 'password'])
const redactor = new Redactor({ patterns: BUILT_INS, keys: ['token', 'pin'] })

function filled(piece: string, chars: number): string {
  return `${piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars - 1)}@`
}

function expectLinear(work: (text: string) => unknown, pieces: readonly string[]): void {
  for (const piece of pieces)
    expectLinearTime(CHARS, (size) => {
      const text = filled(piece, size)
      return () => work(text)
    })
}

describe('linear', () => {
  test.each(BUILT_INS)(
    '%s',
    (name) => {
      const pattern = createPattern(name)
      expectLinear((text) => pattern.redact(text), NASTY)
    },
    120_000,
  )

  test('URL parameters', () => expectLinear((text) => params.redact(text), NASTY), 120_000)
  test('the check for URL parameters', () => expectLinear((text) => params.mayMatch(text), NASTY), 120_000)
  test(
    'named secrets',
    () => expectLinear((text) => removeSecretsFromText(text, redactor.names), [...NASTY, ...NASTY_NAMES]),
    120_000,
  )
  test(
    'the check for named secrets',
    () => expectLinear((text) => findNextSecret(text, 0, redactor.names), [...NASTY, ...NASTY_NAMES]),
    120_000,
  )
  test('an entry', () => {
    expectLinear(
      (text) =>
        redactor.redactJson(
          JSON.stringify({
            level: 'info',
            message: text,
            timestamp: '',
            metadata: { list: text.slice(0, 1_000).split('') },
          }),
        ),
      NASTY,
    )
  }, 120_000)

  test('an entry, without patterns', () => {
    const plain = new Redactor({ patterns: [], keys: ['token'] })
    expectLinear(
      (text) =>
        plain.redactJson(
          JSON.stringify({
            level: 'info',
            message: text,
            timestamp: '',
            metadata: { query: { a: text, token: text } },
          }),
        ),
      [...NASTY, 'token=a ', '"token=a'],
    )
  }, 120_000)
})
