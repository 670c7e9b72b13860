/** The variable of `scrub.patterns`: a comma list with an expression that contains a comma is rejected, not split. */
import { describe, expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const VARIABLE = 'PINO_INGEST_SCRUB_PATTERNS'

function patterns(text: string): readonly string[] {
  return resolve({}, { [VARIABLE]: text }).scrub.patterns
}

describe('a comma inside braces', () => {
  test.each(['email,\\d{3,8}x', '\\d{3,8}x', '\\d{3,}x', '\\d{3 ,8}x', 'a{,5}', 'email,\\d{3,8}x,ssn', '  \\d{12,19}'])(
    '%s is rejected with the right notation',
    (text) => {
      const words = problem({}, { [VARIABLE]: text })
      expect(words).toContain(`${VARIABLE}: ${JSON.stringify(text)}`)
      expect(words).toContain('["email","\\\\d{3,8}"]')
    },
  )

  test('is accepted in JSON, as the message advises, and in code', () => {
    expect(patterns('["email","\\\\d{3,8}x"]')).toEqual(['email', '\\d{3,8}x'])
    expect(patterns('["email","\\\\d{3,8}"]')).toEqual(['email', '\\d{3,8}'])
    expect(patterns(' ["\\\\d{3,8}x"]')).toEqual(['\\d{3,8}x'])
    expect(resolve({ scrub: { patterns: ['email', '\\d{3,8}x'] } }).scrub.patterns).toEqual(['email', '\\d{3,8}x'])
  })
})

test.each<[string, string[]]>([
  ['email,ssn', ['email', 'ssn']],
  ['\\d{3}x, email', ['\\d{3}x', 'email']],
  ['email,', ['email']],
  ['\\d{9}', ['\\d{9}']],
])('%s is a comma list', (text, expected) => {
  expect(patterns(text)).toEqual(expected)
})
