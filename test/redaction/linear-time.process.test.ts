/** A quarter of a mebibyte of worst-case text. */
import { test } from 'vitest'
import { findNextSecret, removeSecretsFromText } from '../../src/redaction/secret-text.js'
import { BUILT_INS, createPattern } from '../../src/redaction/patterns.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { UrlParams } from '../../src/redaction/url-params.js'
import { expectLinearTime } from '../linear-time.js'

const CHARS = 256 * 1024
const NASTY = [
  ...[
    'a@',
    '1 ',
    '4111 1111 1111 1111 ',
    '41111111111111',
    'Bearer a',
    'Basic dXNlcjpwYXNz ',
    '....@....',
    'eyJa.',
    '123-45-',
  ],
  ...[
    'token=a&',
    'token=;',
    '://a@',
    'https://a:b',
    '[scrubbed]@',
    'é@é.',
    'token%253D',
    'https%3A%2F%2Fa%3A',
    '://a:b"',
    '\\"',
  ],
]
const NASTY_NAMES = [
  ...[
    'pin:',
    '"pin":"',
    'pin:["',
    '"pin":[]',
    '["pin","',
    '"--pin",',
    'pin: A {',
    'cookie: \\n',
    "auth: '",
    '"cookie","value":',
  ],
  ...[
    'x-api-key=a ',
    'authorization: Bearer ',
    'cookie:[\\"',
    'cookie:\n ',
    "'cookie: ",
    'cookie: none, ',
    'cookie: "a"; ',
  ],
]
const params = new UrlParams(['token', 'password'])
const redactor = new Redactor({ patterns: BUILT_INS, keys: ['token', 'pin'] })

function filled(piece: string, chars: number): string {
  return `${piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars - 1)}@`
}

const plain = new Redactor({ patterns: [], keys: ['token'] })
const entryOf = (message: string, metadata: object): string =>
  JSON.stringify({ level: 'info', message, timestamp: '', metadata })

test.each<[string, readonly string[], (text: string) => unknown]>([
  ...BUILT_INS.map((name): [string, readonly string[], (text: string) => unknown] => {
    const pattern = createPattern(name)
    return [name, NASTY, (text) => pattern.redact(text)]
  }),
  ['URL parameters', NASTY, (text) => params.redact(text)],
  ['the check for URL parameters', NASTY, (text) => params.mayMatch(text)],
  ['named secrets', [...NASTY, ...NASTY_NAMES], (text) => removeSecretsFromText(text, redactor.names)],
  ['the check for named secrets', [...NASTY, ...NASTY_NAMES], (text) => findNextSecret(text, 0, redactor.names)],
  ['an entry', NASTY, (text) => redactor.redactJson(entryOf(text, { list: text.slice(0, 1_000).split('') }))],
  ['an entry, without patterns', NASTY, (text) => plain.redactJson(entryOf(text, { query: { a: text, token: text } }))],
])('linear: %s', { timeout: 120_000 }, (_, pieces, work) => {
  for (const piece of pieces)
    expectLinearTime(CHARS, (size) => {
      const text = filled(piece, size)
      return () => work(text)
    })
})
