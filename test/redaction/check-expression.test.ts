/** The custom expressions that are accepted or rejected. */
import { describe, expect, test } from 'vitest'
import { scrubPatterns } from '../../src/options/scrub-patterns.js'
import { checkExpression } from '../../src/redaction/check-expression.js'
import { createPattern } from '../../src/redaction/patterns.js'

/** Catastrophic in a backtracking engine. */
const BACKTRACKING = [
  '(a+)+$',
  '(a|a)*b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  String.raw`(.|\s)*x`,
  '/(a|A)*b/i',
  String.raw`\d+\d+x`,
  'a{0,400}b',
]
const USUAL = [
  'sk_live_[0-9a-zA-Z]{24}',
  'AKIA[0-9A-Z]{16}',
  String.raw`\p{Lu}\p{Ll}{2,10}`,
  String.raw`^user-\d+$`,
  String.raw`\b\d{3}[- ]?\d{2}[- ]?\d{4}\b`,
  'sk_live_.*',
  String.raw`foo\.bar`,
  'xox[baprs]-[0-9A-Za-z-]{10,48}',
  '-----BEGIN [A-Z ]{1,30}PRIVATE KEY-----',
  '"token":"[^"]*"',
  String.raw`\+?\d{1,3}[ -]?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{4}`,
  String.raw`\b[\w.%+-]{1,64}@[\w.-]{1,255}\.[A-Za-z]{2,10}\b`,
  '/\\bbearer [a-z0-9]{20,}/i',
  '[А-Яа-я]{3,20}',
  String.raw`\$\{[^}]*\}`,
  String.raw`Bearer\s+[\w.~+/-]+=*`,
  '[^\\x00-\\x7f]+',
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`,
  String.raw`\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b`,
  String.raw`\b(?:\d[ -]*?){13,16}\b`,
]

test.each([...BACKTRACKING, ...USUAL])('accepted: %s', (source) => {
  expect(checkExpression(source).problem).toBeUndefined()
  expect(() => createPattern(source)).not.toThrow()
})

describe('refused', () => {
  test.each([
    // no expression was meant
    ['user.password', /looks like a path.*pino's `redact: \["user\.password"\]`/],
    ['req.headers.cookie', /looks like a path/],
    ['*.ssn', /looks like a path/],
    ['users[*].name', /looks like a path/],
    ['["a-b"].c', /looks like a path/],
    ['req.headers["x-api-key"]', /looks like a path/],
    ['a[0].b', /looks like a path/],
    ['req.headers.*', /looks like a path/],
    ['password', /is the name of a field/],
    ['apiKey', /is the name of a field/],
    ['token', /is the name of a field/],
    // not an expression
    ['(', /missing closing \)/],
    ['/x/q', /flags .*not q/],
    ['', /is empty/],
    ['a'.repeat(1_001), /has 1001 characters/],
    // empty text
    ['a*', /matches empty text/],
    ['x?|y', /matches empty text/],
    [String.raw`\b`, /matches empty text/],
    ['|a', /matches empty text/],
    ['^', /matches empty text/],
    // not supported by RE2
    ['(?=x)a', /lookaround/],
    ['a(?!x)', /lookaround/],
    [String.raw`(?<=key=)\w+`, /lookaround/],
    ['(?<!b)b+', /lookaround/],
    [String.raw`(['"])secret\1`, /invalid escape sequence: `\\1`/],
    [String.raw`(?<n>a)\k<n>`, /backreferences/],
    [String.raw`\p{Script=Greek}`, /\\p\{Script=Greek\}/],
    // size
    ['a{1001}', /invalid repeat count: `\{1001}`/],
    ['(?:a{1,100}){1,100}', /invalid repeat count/],
    ['(?:[a-z]{1,30}){1,30}x', /is too large: it compiles to \d+ instructions, the limit is 1500/],
  ])('%s', (source, problem) => expect(checkExpression(source).problem).toMatch(problem))
})

describe('the option', () => {
  test('accepts built-in names and expressions', () => {
    expect(scrubPatterns.read(['email', 'creditCard', 'ssn', 'bearer', 'sk_[a-z]{4}'])).toEqual([
      'email',
      'creditCard',
      'ssn',
      'bearer',
      'sk_[a-z]{4}',
    ])
    expect(scrubPatterns.read([])).toEqual([])
    expect(scrubPatterns.read('email')).toBeUndefined()
    expect(scrubPatterns.problem('email')).toBeUndefined()
  })

  test('names the pattern and its position in the list', () => {
    expect(scrubPatterns.read(['email', 'user.password'])).toBeUndefined()
    expect(scrubPatterns.problem(['email', 'user.password'])).toMatch(/pattern 2, "user\.password", looks like a path/)
    expect(scrubPatterns.problem(['email', 'a(?=b)'])).toMatch(/pattern 2, "a\(\?=b\)", .*lookaround/)
    // As the user typed it.
    expect(scrubPatterns.problem([String.raw`(?<=key=)\w+`])).toContain(String.raw`"(?<=key=)\w+"`)
  })

  test.each([
    ['emial', 'email'],
    ['Email', 'email'],
    ['mail', 'email'],
    ['creditcard', 'creditCard'],
    ['SSN', 'ssn'],
    ['baerer', 'bearer'],
  ])('rejects %s, which may be meant as %s', (word, meant) => {
    expect(scrubPatterns.read([word])).toBeUndefined()
    expect(scrubPatterns.problem([word])).toContain(`"${meant}"?`)
    expect(scrubPatterns.problem([word])).toContain(`/${word}/`)
    expect(scrubPatterns.read([`/${word}/`])).toEqual([`/${word}/`])
  })

  test.each(['AcmeCorp', 'hello world', 'emailAddress', 'cardNumber', 'codename', 'ema[ij]l', 'e?mial'])(
    'accepts %s as an expression',
    (word) => {
      expect(scrubPatterns.read([word])).toEqual([word])
    },
  )

  test('limits the size of all expressions together', () => {
    const large = (letter: string): string => String.raw`${letter}[a-z]{1,400}\d`
    expect(scrubPatterns.read(['k', 'l', 'm', 'n'].map(large))).toHaveLength(4)
    expect(scrubPatterns.problem(['k', 'l', 'm', 'n', 'o'].map(large))).toMatch(
      /together compile to \d+ instructions, the limit is 4000/,
    )
  })
})
