/** Headers with credentials, in every form in which they come into a record. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/entry.js'
import { isRemovedHeader } from '../../src/scrub/header-names.js'
import { REMOVED, removeHeaderLines } from '../../src/scrub/header-text.js'
import { mayHoldHeaders, removeHeaders } from '../../src/scrub/headers.js'

const CANARY = 'canary-7f3a'
const REMOVED_NAMES = [
  'authorization', 'Proxy-Authorization', 'COOKIE', 'Set-Cookie', 'X-Api-Key', 'api_key', 'apikey', 'apiKey', 'x-auth-token', 'X_ACCESS_TOKEN',
  'x-csrf-token', 'X-XSRF-TOKEN', 'x-csrftoken', 'x-amz-security-token', 'x-goog-api-key', 'x-goog-iap-jwt-assertion', 'cf-access-client-secret',
  'cf-access-jwt-assertion', 'x-vault-token', 'private-token', 'job-token', 'ocp-apim-subscription-key', 'x-functions-key', 'x-rapidapi-key',
  'x-shopify-access-token', 'dd-api-key', 'DD-APPLICATION-KEY', 'x-auth-key', 'x-gitlab-token', 'x-hasura-admin-secret', 'x-forwarded-authorization',
]
const KEPT_NAMES = [
  'accept', 'user-agent', 'content-type', 'host', 'authority', 'x-request-id', 'traceparent', 'token', 'tokens', 'max_tokens', 'idempotency-key',
  'cache-key', 'secretary', 'authenticated', 'keyboard', 'x-forwarded-for', 'www-authenticate', 'cookieConsent', 'x-cache-key', 'monkey', 'session_id',
]

/** What axios, got and undici attach to their errors. */
const failure = {
  message: 'Request failed with status code 401',
  config: {
    url: '/orders', headers: { 'Accept': 'application/json', 'Authorization': `Bearer ${CANARY}`, 'x-api-key': CANARY, 'Set-Cookie': [`a=${CANARY}`, `b=${CANARY}; Path=/`] },
    auth: { username: 'bob', password: CANARY }, data: JSON.stringify({ headers: { cookie: CANARY }, quantity: 2 }),
  },
  request: { _header: `GET / HTTP/1.1\r\nHost: example.com\r\nAuthorization: Basic ${CANARY}\r\nCookie: sid=${CANARY}\r\n\r\n` },
  response: {
    rawHeaders: ['Content-Type', 'text/plain', 'Set-Cookie', `sid=${CANARY}`], headers: [['authorization', CANARY], ['accept', 'x']],
    har: [{ name: 'Cookie', value: CANARY }, { name: 'Accept', value: 'x' }], options: { auth: `bob:${CANARY}` },
  },
}

describe('names', () => {
  test.each(REMOVED_NAMES)('%s is removed, and found in JSON text', (name) => {
    expect(isRemovedHeader(name)).toBe(true)
    const record: JsonObject = { a: { [name]: 'x' } }
    expect(mayHoldHeaders(JSON.stringify(record), 0)).toBeLessThan(Infinity)
    expect(mayHoldHeaders(JSON.stringify({ a: `${name}: x` }), 0)).toBeLessThan(Infinity)
    expect(mayHoldHeaders(JSON.stringify([name, 'x']), 0)).toBeLessThan(Infinity)
    expect(removeHeaders(record)).toBe(1)
    expect(record).toEqual({ a: {} })
  })

  test.each(KEPT_NAMES)('%s is kept', (name) => {
    expect(isRemovedHeader(name)).toBe(false)
    const record: JsonObject = { [name]: 'x', list: [name, 'x'] }
    expect(removeHeaders(record)).toBe(0)
    expect(record).toEqual({ [name]: 'x', list: [name, 'x'] })
  })

  test('whatever the case of their letters', () => {
    fc.assert(fc.property(fc.constantFrom(...REMOVED_NAMES), fc.infiniteStream(fc.boolean()), (name, upper) => {
      const mixed = [...name].map((letter) => (upper.next().value === true ? letter.toUpperCase() : letter.toLowerCase())).join('')
      expect(isRemovedHeader(mixed)).toBe(true)
      expect(mayHoldHeaders(`{"${mixed}":"x"}`, 0)).toBeLessThan(Infinity)
    }))
  })

  test('a letter written as an escape is no hiding place', () => {
    expect(mayHoldHeaders(String.raw`{"\u0041uthorization":"x"}`, 0)).toBeLessThan(Infinity)
    expect(mayHoldHeaders(String.raw`{"x\u002dapi\u005fkey":"x"}`, 0)).toBeLessThan(Infinity)
    expect(mayHoldHeaders(String.raw`{"msg":"\u001b[31mred\u001b[0m"}`, 0)).toBe(Infinity)
  })
})

describe('in a record', () => {
  test('an error of an HTTP client: the credentials go, the rest stays', () => {
    const record = structuredClone(failure) as unknown as JsonObject
    expect(removeHeaders(record)).toBeGreaterThan(8)
    expect(JSON.stringify(record)).not.toContain(CANARY)
    expect(record).toEqual({
      message: failure.message,
      config: { url: '/orders', headers: { Accept: 'application/json' }, auth: { username: 'bob' }, data: `{"headers":{"cookie":"${REMOVED}"},"quantity":2}` },
      request: { _header: `GET / HTTP/1.1\r\nHost: example.com\r\nAuthorization: ${REMOVED}\r\nCookie: ${REMOVED}\r\n\r\n` },
      response: { rawHeaders: ['Content-Type', 'text/plain'], headers: [['accept', 'x']], har: [{ name: 'Accept', value: 'x' }], options: {} },
    })
  })

  test('at its top, with lists as values, and once more nothing', () => {
    const record: JsonObject = { authorization: 'x', cookies: { sid: 'x' }, level: 30, list: ['Vary', 'Cookie', 'Server', 'nginx'], mixed: [1, 'cookie', 'x', 2] }
    expect(removeHeaders(record)).toBe(4)
    expect(record).toEqual({ level: 30, list: ['Vary', 'Cookie', 'Server', 'nginx'], mixed: [1, 2] })
    expect(removeHeaders(record)).toBe(0)
  })

  test('however deep', () => {
    const record: JsonObject = {}
    let deepest = record
    for (let depth = 0; depth < 50_000; depth += 1) deepest = deepest['in'] = {}
    deepest['cookie'] = 'x'
    expect(removeHeaders(record)).toBe(1)
    expect(deepest).toEqual({})
  })
})

describe('in a text', () => {
  const forms: readonly (readonly [name: string, text: string])[] = [
    ['JSON', JSON.stringify(failure.config)],
    ['JSON in JSON', JSON.stringify({ body: JSON.stringify(failure) })],
    ['JSON in JSON in JSON', JSON.stringify([JSON.stringify({ body: JSON.stringify(failure) })])],
    ['inspect', inspect(failure, { depth: 9 })],
    ['inspect, compact', inspect(failure, { depth: 9, compact: true, breakLength: Infinity })],
    ['inspect, in JSON', JSON.stringify({ text: inspect(failure, { depth: 9 }) })],
    ['a Map', inspect(new Map([['authorization', CANARY]]))],
    ['a command', `curl -H "Authorization: Bearer ${CANARY}" -H 'X-Api-Key: ${CANARY}' https://example.com`],
    ['what curl prints', `> GET / HTTP/2\n> Authorization: Bearer ${CANARY}\n< Set-Cookie: ${CANARY}\n`],
    ['a sentence', `sent authorization: Bearer ${CANARY}`],
    ['logfmt', `method=GET authorization=${CANARY} x-api-key="${CANARY}" status=200`],
    ['a list of names and values', inspect(['Authorization', CANARY, 'Host', 'x'])],
    ['an unfinished list', `cookie: ['${CANARY}', 'x`],
    ['line breaks that are written out', String.raw`GET / HTTP/1.1\r\nCookie: ${CANARY}\r\nHost: x`],
  ]

  test.each(forms)('%s', (_name, text) => {
    const clean = removeHeaderLines(text)
    expect(clean).not.toContain(CANARY)
    expect(clean).toContain(REMOVED)
    expect(removeHeaderLines(clean)).toBe(clean)
    expect(mayHoldHeaders(JSON.stringify({ msg: text }), 0)).toBeLessThan(Infinity)
  })

  test('JSON stays JSON', () => {
    const clean = removeHeaderLines(JSON.stringify({ body: JSON.stringify(failure) }))
    const { body } = JSON.parse(clean) as { body: string }
    expect(JSON.parse(body)).toMatchObject({ config: { url: '/orders', headers: { 'Accept': 'application/json', 'Set-Cookie': REMOVED } } })
  })

  test.each([
    'authorization failed for user 7', 'bad cookie: expired', 'cookie === undefined', '"authorization": null', '"vary": "cookie", "server": "nginx"',
    'the api key is missing', 'tokens: 12', 'at Cookies.get (/srv/app/cookie.js:10:5)', 'auth: failed', 'authorization',
  ])('words that are no header stay: %s', (text) => {
    expect(removeHeaderLines(text)).toBe(text)
  })

  test('in any text: once is enough', () => {
    const piece = fc.constantFrom('cookie', 'Authorization', 'x-api-key', 'auth', ':', '=', '=>', ',', '"', '\'', '\\', '\\"', '[', ']', '{', '}', '\n', '\\n', ' ', 'a', 'Bearer ', REMOVED)
    fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const clean = removeHeaderLines(pieces.join(''))
      expect(removeHeaderLines(clean)).toBe(clean)
    }), { numRuns: 3_000 })
  })
})
