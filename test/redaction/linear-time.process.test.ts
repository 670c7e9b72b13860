/** Half a mebibyte of worst-case text takes 4 times as long as a quarter of it, not 16 times. */
import { describe, expect, test } from 'vitest'
import { findNextHeader, removeHeaderLines } from '../../src/redaction/header-text.js'
import { BUILT_INS, createPattern } from '../../src/redaction/patterns.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { UrlParams } from '../../src/redaction/url-params.js'

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
const NASTY_HEADERS = [
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
const redactor = new Redactor({ patterns: BUILT_INS, urlParams: ['token'] })

function filled(piece: string, chars: number): string {
  return `${piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars - 1)}@`
}

function timeMs(work: (text: string) => unknown, text: string): number {
  const began = performance.now()
  work(text)
  return performance.now() - began
}

/** Quadratic time shows in every attempt; delays of a busy machine do not. */
const ATTEMPTS = 8
/** A limit between 4 times (linear) and 16 times (quadratic). */
const MOST_TIMES = 9
/** A shorter time cannot be measured reliably and does not matter. */
const SHORT_MS = 20

const worst: string[] = []

function expectLinear(name: string, work: (text: string) => unknown, pieces: readonly string[]): void {
  let most = { ms: 0, piece: '' }
  for (const piece of pieces) {
    const [quarter, whole] = [filled(piece, CHARS / 4), filled(piece, CHARS)]
    let leastMs = Infinity
    let isLinear = false
    for (let attempt = 0; attempt < ATTEMPTS && !isLinear; attempt += 1) {
      const quarterMs = timeMs(work, quarter)
      const ms = timeMs(work, whole)
      leastMs = Math.min(leastMs, ms)
      isLinear = ms < Math.max(quarterMs * MOST_TIMES, SHORT_MS)
    }
    expect(isLinear, `${name}: ${CHARS} characters of ${JSON.stringify(piece)} takes ${leastMs} ms`).toBe(true)
    if (leastMs > most.ms) most = { ms: leastMs, piece }
  }
  worst.push(`${name}: ${most.ms.toFixed(1)} ms for ${JSON.stringify(most.piece)}`)
}

describe('linear', () => {
  test.each(BUILT_INS)(
    '%s',
    (name) => {
      const pattern = createPattern(name)
      expectLinear(name, (text) => pattern.redact(text), NASTY)
    },
    120_000,
  )

  test('URL parameters', () => expectLinear('URL parameters', (text) => params.redact(text), NASTY), 120_000)
  test('the check for URL parameters', () => expectLinear('concerns', (text) => params.mayMatch(text), NASTY), 120_000)
  test('header lines', () => expectLinear('header lines', removeHeaderLines, [...NASTY, ...NASTY_HEADERS]), 120_000)
  test(
    'the check for headers',
    () => expectLinear('nextHeader', (text) => findNextHeader(text, 0), [...NASTY, ...NASTY_HEADERS]),
    120_000,
  )
  test('an entry', () => {
    expectLinear(
      'an entry',
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
    const plain = new Redactor({ patterns: [], urlParams: ['token'] })
    expectLinear(
      'an entry, without patterns',
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
    expectLinear(
      'queries of an entry',
      (text) => {
        const list = text.slice(0, text.lastIndexOf('},') + 1)
        return plain.redactJson(`{"level":"info","message":"token=1","timestamp":"","metadata":{"list":[${list}]}}`)
      },
      ['{"query":{"token":"a"}},', '{"params":["a"]},', '{"xquery":{"a":1}},'],
    )
  }, 120_000)

  test.each(['key=.*;', 'a(?:.*z)?'])(
    'an expression that may read to the end from many positions: %s',
    (source) => {
      const pattern = createPattern(source)
      expectLinear(source, (text) => pattern.redact(text.slice(0, text.length / 16)), ['key=', 'key=a;', 'a', 'a '])
    },
    120_000,
  )

  test('next() from match to match', () => {
    const chunk = '{"level":30,"req":{"url":"/x?token=a","query":{"token":"a"}}}\n'
    expectLinear(
      'nextParam',
      (text) => {
        for (let at = redactor.findNextParam(text, 0); at < text.length; at = redactor.findNextParam(text, at + 1));
      },
      [chunk, '{"url":"/x?token=a"}\n', '"query":{"a":1,', '@a', '=a'],
    )
  }, 120_000)

  test('prints the times', () => {
    process.stdout.write(`${worst.join('\n')}\n`)
    expect(worst).toHaveLength(BUILT_INS.length + 10)
  })
})
