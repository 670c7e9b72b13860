/** The values that the built-in patterns remove or keep. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BUILT_INS, createPattern } from '../../src/redaction/patterns.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { modelRuns } from '../model-runs.js'

function redact(name: string, text: string): string {
  return createPattern(name).redact(text)
}

/** Test numbers published by the card networks. */
const CARDS = `
  4111111111111111 4242424242424242 4222222222222 5555555555554444 2223003122003222 378282246310005
  6011111111111117 30569309025904 3566002020360505 6200000000000005 6759649826438453 2200123456789019
`
  .trim()
  .split(/\s+/)

describe('email', () => {
  test.each([
    ['write to bob@example.com, please', 'write to [email], please'],
    ['<bob.o+tag@mail.example.co.uk>', '<[email]>'],
    ['?email=bob%40example.com&x=1', '?email=[email]&x=1'],
    ['mailto:a@b.co', 'mailto:[email]'],
    ['jörg@müller.de and 李@例子.中国', '[email] and [email]'],
    ['a@b.com.', '[email].'],
    ['a@b.com,c@d.org;e@f.net', '[email],[email];[email]'],
    ['a@xn--bcher-kva.xn--p1ai', '[email]'],
  ])('%s', (text, clean) => expect(redact('email', text)).toBe(clean))

  test.each([
    'pino@10.4.0',
    'node_modules/@scope/name',
    'user@localhost',
    '@bob',
    'a@.com',
    'a@b',
    'see https://example.com/@bob',
    'a@b.c',
    '100 @ 2.50',
  ])('left: %s', (text) => expect(redact('email', text)).toBe(text))
})

describe('creditCard', () => {
  test.each(CARDS)('%s, with and without separators', (card) => {
    const groups =
      card.length === 15 ? [4, 10] : card.length === 14 ? [4, 10] : [4, 8, 12, 16].filter((at) => at < card.length)
    for (const separator of ['', ' ', '-']) {
      const written = [0, ...groups].map((at, index) => card.slice(at, groups[index])).join(separator)
      expect(redact('creditCard', written)).toBe('[creditCard]')
      expect(redact('creditCard', `pay with ${written}, now`)).toBe('pay with [creditCard], now')
      expect(redact('creditCard', `12 ${written} 2027 v1`)).toBe('12 [creditCard] 2027 v1')
      expect(redact('creditCard', `order7 ${written} 2x`)).toBe('order7 [creditCard] 2x')
    }
  })

  test.each([
    ['4111111111111111 5555555555554444', '[creditCard] [creditCard]'],
    ['paid.4111111111111111.', 'paid.[creditCard].'],
    ['4111111111111111,12/27', '[creditCard],12/27'],
  ])('%s', (text, clean) => expect(redact('creditCard', text)).toBe(clean))

  test.each([
    '1763740800000',
    '1763740800000000',
    '1763740800000000000',
    '4111111111111112',
    '0.4111111111111111',
    'a4111111111111111',
    '4111111111111111f',
    '41111111111111111111',
    '12345678901234567890',
    '1111 1111 1111 1111',
    '2026-11-21 10:00:00',
  ])('left: %s', (text) => expect(redact('creditCard', text)).toBe(text))

  test('keeps a number with one wrong digit', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CARDS), fc.nat(11), fc.integer({ min: 1, max: 9 }), (card, at, by) => {
        const wrong = card.slice(0, at) + String((Number(card[at]) + by) % 10) + card.slice(at + 1)
        expect(redact('creditCard', wrong)).toBe(wrong)
      }),
    )
  })
})

describe('ssn', () => {
  test.each([
    ['ssn 123-45-6789.', 'ssn [ssn].'],
    ['123 45 6789', '[ssn]'],
    ['899-99-9999', '[ssn]'],
    ['ssn_078-05-1120', 'ssn_[ssn]'],
    ['078-05-1120 2026-11-21', '[ssn] 2026-11-21'],
  ])('%s', (text, clean) => expect(redact('ssn', text)).toBe(clean))

  test.each(
    '000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000 123456789 1123-45-6789 12-123-45-6789 123-45-67890 123-45-6789-0'
      .split(' ')
      .concat('123-45 6789'),
  )('left: %s', (text) => expect(redact('ssn', text)).toBe(text))
})

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-bmF0_dXJl'

describe('bearer', () => {
  test.each([
    [`token ${JWT}.`, 'token [bearer].'],
    [`id_${JWT}`, 'id_[bearer]'],
    ['eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn', '[bearer]'],
  ])('%s', (text, clean) => expect(redact('bearer', text).replace(/\.$/, '')).toBe(clean.replace(/\.$/, '')))

  test.each([
    'Bearer token is missing',
    'Basic authentication',
    'Bearer',
    'the bearer of this',
    'eyJhbGciOiJIUzI1NiJ9',
    'eyJhbGci...',
    'forbearer abc123',
  ])('left: %s', (text) => expect(redact('bearer', text)).toBe(text))
})

describe('an expression', () => {
  test('does not replace the placeholder of another secret', () => {
    expect(redact('scrubbed|email', '[scrubbed] [email] email')).toBe('[scrubbed] [email] [scrubbed]')
  })

  test('in a long text, of any length', () => {
    const key = `-----BEGIN KEY-----${'x'.repeat(3_000)}-----END KEY-----`
    expect(redact('-----BEGIN[^]*?END KEY-----', `${'a '.repeat(9_000)}${key}${' b'.repeat(9_000)}${key}`)).toBe(
      `${'a '.repeat(9_000)}[scrubbed]${' b'.repeat(9_000)}[scrubbed]`,
    )
    expect(redact('sk_.*', `a\nsk_${'x'.repeat(100_000)}\nb`)).toBe('a\n[scrubbed]\nb')
    expect(redact('^a', 'a'.repeat(20_000))).toBe(`[scrubbed]${'a'.repeat(19_999)}`)
    expect(redact('b$', `${'b'.repeat(20_000)}`)).toBe(`${'b'.repeat(19_999)}[scrubbed]`)
  })
})

test('redacting twice changes nothing', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...CARDS,
      JWT,
      'Bearer ',
      ' ',
      ...'a@b.com @ .com 123-45-6789 123 - . [email] [ssn] eyJ %40 4'.split(' '),
    ),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom(...BUILT_INS), (pieces, name) => {
      const clean = redact(name, pieces.join(''))
      expect(redact(name, clean)).toBe(clean)
    }),
    { numRuns: modelRuns(1_000, 20_000) },
  )
})

test('the search that precedes a pattern misses no match', () => {
  const digits = ['1', '4', '22', '12345', ' ', '-', '.', '  ', 'e', '\u0001', '\u0019.']
  const others = ['\n', '\t', '"', '\\', '', ...'@ %40 a b.co bob é / xn--p 123-45-6789 eyJhIjoxfQ'.split(' ')]
  const text = fc
    .array(fc.constantFrom(...digits, ...others, ...CARDS, ...CARDS.map((card) => card.replace(/.{4}(?=.)/g, '$& '))), {
      maxLength: 12,
    })
    .map((pieces) => pieces.join(''))
  const number = fc.oneof(fc.constantFrom(...CARDS, `${CARDS[0]}.0`, '0.4111111111111111e16', '811.5786949135605'))
  let found = 0
  fc.assert(
    fc.property(text, text, number, fc.constantFrom(...BUILT_INS), (message, value, n, name) => {
      const redactor = new Redactor({ patterns: [name], keys: [] })
      const json = `{"message":${JSON.stringify(message)},"metadata":{"n":${n},"value":${JSON.stringify(value)}}}`
      const clean = redactor.redactJson(json)
      // An escaped letter skips the search.
      const escaped = redactor.redactJson(json.replace('"metadata":{', String.raw`$&"\u0061":1,`))
      expect(JSON.parse(clean)).toEqual(JSON.parse(escaped.replace(/"(?:a|\\u0061)":1,/, '')))
      if (clean !== json) found += 1
    }),
    { numRuns: modelRuns(2_000, 50_000) },
  )
  expect(found).toBeGreaterThan(300)
})
