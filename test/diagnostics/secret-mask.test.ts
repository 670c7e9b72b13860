/** Masks secrets in text in every form, complete or partial. */
import { describe, expect, test } from 'vitest'
import { createSecretMask } from '../../src/diagnostics/secret-mask.js'
import { expectLinearTime } from '../linear-time.js'

const KEY = 'pk_Live/8f3A1c5D+7e9b2F4a6C0d'
const mask = createSecretMask([KEY])

const codes = [...KEY].map((char) => char.charCodeAt(0))
const percents = codes.map((code) => `%${code.toString(16)}`).join('')
const escapes = codes.map((code) => String.raw`\u00${code.toString(16)}`).join('')

/** The longest part of `secret` in `text`, compared case-insensitively. */
function longestPart(text: string, secret: string): string {
  let longest = ''
  for (let from = 0; from < secret.length; from += 1) {
    for (let to = from + longest.length + 1; to <= secret.length; to += 1) {
      const part = secret.slice(from, to)
      if (text.toLowerCase().includes(part.toLowerCase())) longest = part
    }
  }
  return longest
}

describe('a key is masked', () => {
  test.each<[string, string]>([
    ['unchanged', KEY],
    ['in upper case', KEY.toUpperCase()],
    ['in JSON', JSON.stringify(KEY)],
    ['in JSON with escaped slashes', KEY.replaceAll('/', String.raw`\/`)],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
    ['in the base64 of user and password', Buffer.from(`me:${KEY}!`).toString('base64')],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ['percent-encoded, every character', percents],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(KEY))],
    ['percent-encoded three times', percents.replaceAll('%', '%2525')],
    ['in JSON escapes', escapes],
    ['in JavaScript escapes', escapes.replaceAll('u00', 'x')],
    ['in decimal HTML entities', codes.map((code) => `&#${code};`).join('')],
    ['in hexadecimal HTML entities', codes.map((code) => `&#x${code.toString(16)};`).join('')],
    ['with NUL between its characters', [...KEY].join('\0')],
    ['with zero-width spaces between its characters', [...KEY].join('\u200b')],
    ['with a line break', `${KEY.slice(0, 10)}\r\n${KEY.slice(10)}`],
  ])('%s', (_, form) => {
    const masked = mask(`refused: <${form}>, try again`)
    expect(masked).toMatch(/^refused: <.*\*\*\*.*>, try again$/s)
    expect(longestPart(masked, form).length).toBeLessThan(8)
  })

  test.each<[string, string]>([
    ['without its end', KEY.slice(0, 12)],
    ['without its beginning', KEY.slice(-12)],
    ['by its last half, in upper case', KEY.slice(KEY.length / 2).toUpperCase()],
    ['by its first 8, without a digit', KEY.slice(0, 8)],
    ['cut off in base64', Buffer.from(KEY).toString('base64').slice(0, 16)],
  ])('%s', (_, part) => {
    expect(mask(`refused: <${part}>`)).toBe('refused: <***>')
  })

  test('twice, next to another key, and at both ends of the text', () => {
    const both = createSecretMask([KEY, 'other-key-0123456789'])
    expect(both(`${KEY} OTHER-KEY-0123456789 ${KEY}`)).toBe('*** *** ***')
    expect(mask('')).toBe('')
  })

  test('nothing else is removed', () => {
    expect(mask(`\0%41&amp;\n${escapes}\n\\${KEY}\\ %2f${percents}%2f\0`)).toBe('\0%41&amp;\n***\n\\***\\ %2f***%2f\0')
  })

  test('a key that looks encoded', () => {
    const secret = String.raw`a%41&amp;b\u0042c&#67;d`
    const masked = createSecretMask([secret])
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      expect(masked(`<${form}>`)).toBe('<***>')
  })

  test('a key with other than ASCII characters', () => {
    const secret = 'schlüssel-für-täglich'
    const masked = createSecretMask([secret])
    const hex = Buffer.from(secret).toString('hex')
    for (const form of [secret, encodeURIComponent(secret), hex, hex.replace(/../g, '%$&')])
      expect(masked(`<${form}>`)).toBe('<***>')
  })

  test('a key of backslashes changes no text', () => {
    expect(createSecretMask(['\\'.repeat(8)])('a text')).toBe('a text')
  })

  test('a short key, only as a whole', () => {
    const short = createSecretMask(['Test-Key', 'a+b.c*'])
    expect(short('the key TEST-KEY is wrong, test-ke is not it; A+B.C* aab.c')).toBe(
      'the key *** is wrong, test-ke is not it; *** aab.c',
    )
    expect(short('%74%65st&#45;k\0ey, a%252Bb.c*')).toBe('***, ***')
  })
})

test.each<[string, string, string]>([
  ['k', 'the key k is wrong: K, "k", k=1, %6b; ok', 'the key *** is wrong: ***, "***", ***=1, ***; ok'],
  ['any', 'any key: ANY, many, \\u0061ny, 616e79', '*** key: ***, many, ***, ***'],
  ['a+b', 'a+b, a+bc, a%2Bb', '***, a+bc, ***'],
  ['*', 'a * b', 'a *** b'],
])('a key of fewer than 6 characters is masked as a whole word: %s', (secret, text, masked) => {
  expect(createSecretMask([secret])(text)).toBe(masked)
})

test('a key that is added later is masked, and the former one still is', () => {
  const later = 'key-that-was-rotated'
  const secrets = [KEY]
  const live = createSecretMask(secrets)
  expect(live(`${KEY} ${later}`)).toBe(`*** ${later}`)
  secrets.push(later)
  expect(live(`${KEY} ${later}`)).toBe('*** ***')
})

describe('other text is not masked', () => {
  test.each<[string, string]>([
    ['local', 'the service listens locally, in localhost and non_local'],
    ['k', 'keys, K8s, ok, µk and k_'],
    ['test-key', 'a test of the key; test keys'],
    ['my-checkout-key-2026', 'checkout in 2026: checkout failed'],
    ['', 'nothing'],
  ])('%j in %j', (secret, text) => {
    expect(createSecretMask([secret])(text)).toBe(text)
  })

  test('seven characters of the key', () => {
    expect(mask(`<${KEY.slice(6, 13)}>`)).toBe(`<${KEY.slice(6, 13)}>`)
  })

  test('characters with a longer lower-case form do not shift the mask', () => {
    expect(mask(`İİİİ ${KEY.toUpperCase()} İ`)).toBe('İİİİ *** İ')
  })
})

test.each(['a', 'a%', '%25', '%61', String.raw`\u0061`, '\\', '&#0', '&#97;', '\0'])(
  'takes linear time for %j',
  (unit) => {
    const repeated = createSecretMask(['ab'.repeat(20), `${'a'.repeat(30)}1`, 'a'.repeat(8)])
    expectLinearTime(400_000, (chars) => {
      const text = unit.repeat(chars / unit.length)
      return () => repeated(text)
    })
  },
)
