/** Masks secrets in text in every form, complete or partial. */
import { describe, expect, test } from 'vitest'
import { createSecretMask } from '../../src/diagnostics/secret-mask.js'

const KEY = 'pk_Live/8f3A1c5D+7e9b2F4a6C0d'
const mask = createSecretMask([KEY])

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
    ['in lower case', KEY.toLowerCase()],
    ['in JSON', JSON.stringify(KEY)],
    ['in JSON with escaped slashes', KEY.replaceAll('/', String.raw`\/`)],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['percent-encoded, in lower case', encodeURIComponent(KEY).toLowerCase()],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
    ['in base64, after one byte', Buffer.from(`:${KEY}`).toString('base64')],
    ['in the base64 of user and password', Buffer.from(`me:${KEY}!`).toString('base64')],
  ])('%s', (_, form) => {
    const masked = mask(`refused: <${form}>, try again`)
    expect(masked).toMatch(/^refused: <.*\*\*\*.*>, try again$/)
    expect(longestPart(masked, form).length).toBeLessThan(8)
  })

  test.each<[string, string]>([
    ['without its end', KEY.slice(0, 12)],
    ['without its beginning', KEY.slice(-12)],
    ['without either', KEY.slice(8, 20)],
    ['by its first half', KEY.slice(0, KEY.length / 2)],
    ['by its last half, in upper case', KEY.slice(KEY.length / 2).toUpperCase()],
    ['by 8 characters', KEY.slice(6, 14)],
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

  test('a short key, only as a whole', () => {
    const short = createSecretMask(['Test-Key', 'a+b.c*'])
    expect(short('the key TEST-KEY is wrong, test-ke is not it; A+B.C* aab.c')).toBe(
      'the key *** is wrong, test-ke is not it; *** aab.c',
    )
  })
})

describe('other text is not masked', () => {
  test.each<[string, string]>([
    ['local', 'the local service listens locally'],
    ['test-key', 'a test of the key; test keys'],
    ['checkout-production-service', 'the checkout in production, a service'],
    ['my-checkout-key-2026', 'checkout in 2026: checkout failed'],
    ['checkoutproduction', 'the checkout in production'],
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

test('takes linear time', () => {
  const repeated = createSecretMask(['ab'.repeat(20), `${'a'.repeat(30)}1`])
  const msFor = (chars: number): number => {
    const text = 'a'.repeat(chars)
    return (
      Math.min(
        ...Array.from({ length: 3 }, () => {
          const start = process.cpuUsage().user
          repeated(text)
          return process.cpuUsage().user - start
        }),
      ) / 1_000
    )
  }
  msFor(20_000)
  // Quadratic time would be 256 times as long.
  expect(msFor(1_600_000)).toBeLessThan(64 * Math.max(msFor(100_000), 5))
})
