/** Headers with credentials in all forms in which they occur in records. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/log-entry.js'
import { REMOVED, SecretNames, isSecretHeader } from '../../src/redaction/secret-names.js'
import { findNextSecret, removeSecretsFromText } from '../../src/redaction/secret-text.js'
import { removeSecrets } from '../../src/redaction/secret-members.js'

const CANARY = 'canary-7f3a'
const headersOnly = new SecretNames([])
const removeHeaders = (record: JsonObject): number => removeSecrets(record, headersOnly)
const removeHeaderLines = (text: string): string => removeSecretsFromText(text, headersOnly)
const findNextHeader = (json: string): number => findNextSecret(json, 0, headersOnly)
const REMOVED_NAMES = [
  ...`
    authorization Proxy-Authorization COOKIE Set-Cookie X-Api-Key api_key apikey apiKey x-auth-token
    X_ACCESS_TOKEN x-csrf-token X-XSRF-TOKEN x-csrftoken x-amz-security-token x-goog-api-key
    x-goog-iap-jwt-assertion cf-access-client-secret cf-access-jwt-assertion x-vault-token private-token
    job-token ocp-apim-subscription-key x-functions-key x-rapidapi-key x-shopify-access-token dd-api-key
    DD-APPLICATION-KEY x-auth-key x-gitlab-token x-hasura-admin-secret x-forwarded-authorization
    http.request.header.authorization http.response.header.set_cookie x.api.key HTTP_AUTHORIZATION
    http_x_token REDIRECT_HTTP_COOKIE --api-key rack.request.cookie_string x-insert-key x-mashape-key
    x-master-key x-license-key x-access-key x-secret-key X-ZUMO-AUTH deploy-token refresh-token id_token
    session-token bearerToken client_secret api-token apiSecret set-cookie2 cookie_hash
  `
    .trim()
    .split(/\s+/),
  `${'attributes.'.repeat(9)}http.request.header.cookie`,
]
const KEPT_NAMES = [
  ...`
    accept user-agent content-type host authority x-request-id traceparent token tokens max_tokens
    idempotency-key cache-key authorization.type HTTP_HOST secretary authenticated keyboard
    x-forwarded-for www-authenticate cookieConsent x-cache-key monkey session_id
  `
    .trim()
    .split(/\s+/),
]

/** Attached to the errors of axios, got and undici. */
const failure = {
  message: 'Request failed with status code 401',
  config: {
    url: '/orders',
    headers: {
      Accept: 'application/json',
      Authorization: `Bearer ${CANARY}`,
      'x-api-key': CANARY,
      'Set-Cookie': [`a=${CANARY}`, `b=${CANARY}; Path=/`],
    },
    auth: { username: 'bob', password: CANARY },
    data: JSON.stringify({ headers: { cookie: CANARY }, quantity: 2 }),
  },
  request: {
    _header: `GET / HTTP/1.1\r\nHost: example.com\r\nAuthorization: Basic ${CANARY}\r\nCookie: sid=${CANARY}\r\n\r\n`,
  },
  response: {
    rawHeaders: ['Content-Type', 'text/plain', 'Set-Cookie', `sid=${CANARY}`],
    headers: [
      ['authorization', CANARY],
      ['accept', 'x'],
    ],
    har: [
      { name: 'Cookie', value: CANARY },
      { name: 'Accept', value: 'x' },
    ],
    options: { auth: `bob:${CANARY}` },
  },
}

describe('names', () => {
  test.each(['[removed]', '[scrubbed]'])('text after %s of another author is removed, too', (marker) => {
    expect(removeHeaderLines(`Cookie: ${marker}; session=${CANARY}`)).toBe(`Cookie: ${REMOVED}`)
    expect(removeHeaderLines(`{ cookie: ${marker}, accept: x }`)).toBe(`{ cookie: ${marker}, accept: x }`)
  })

  test.each(REMOVED_NAMES)('removes %s, also in JSON text', (name) => {
    expect(isSecretHeader(name)).toBe(true)
    const record: JsonObject = { a: { [name]: 'x' } }
    expect(findNextHeader(JSON.stringify(record))).toBeLessThan(Infinity)
    expect(findNextHeader(JSON.stringify({ a: `${name}: x` }))).toBeLessThan(Infinity)
    expect(findNextHeader(JSON.stringify([name, 'x']))).toBeLessThan(Infinity)
    expect(removeHeaders(record)).toBe(1)
    expect(record).toEqual({ a: {} })
  })

  test.each(KEPT_NAMES)('keeps %s', (name) => {
    expect(isSecretHeader(name)).toBe(false)
    const record: JsonObject = { [name]: 'x', list: [name, 'x'] }
    expect(removeHeaders(record)).toBe(0)
    expect(record).toEqual({ [name]: 'x', list: [name, 'x'] })
  })

  test('a capital letter ends the x of a name', () => {
    for (const name of ['xVaultToken', 'XVaultToken', 'xHubSecret', 'xSessionCookie', 'req.headers.xGoogAuth']) {
      expect(isSecretHeader(name)).toBe(true)
      expect(removeHeaderLines(`{ ${name}: '${CANARY}' }`)).toBe(`{ ${name}: '${REMOVED}' }`)
      expect(findNextHeader(JSON.stringify({ a: `${name}: x` }))).toBeLessThan(Infinity)
    }
    for (const name of ['xylophoneToken', 'XMLToken', 'maxToken', 'xmlSecret']) expect(isSecretHeader(name)).toBe(false)
  })

  test('ignores case', () => {
    fc.assert(
      fc.property(fc.constantFrom(...REMOVED_NAMES), fc.infiniteStream(fc.boolean()), (name, upper) => {
        const mixed = [...name]
          .map((letter) => (upper.next().value === true ? letter.toUpperCase() : letter.toLowerCase()))
          .join('')
        expect(isSecretHeader(mixed)).toBe(true)
        expect(findNextHeader(`{"${mixed}":"x"}`)).toBeLessThan(Infinity)
      }),
    )
  })

  test('an escaped control character does not stop the search', () => {
    expect(findNextHeader(String.raw`{"msg":"\u001b[31mred\u001b[0m"}`)).toBe(Infinity)
    expect(findNextHeader(String.raw`{"msg":"\u001bcookie: x"}`)).toBeLessThan(Infinity)
  })
})

describe('in a record', () => {
  test('keeps user information without a password', () => {
    const record = { auth: null, other: { auth: { username: 'bob' } }, list: [{ auth: [] }] }
    expect(removeHeaders(structuredClone(record) as unknown as JsonObject)).toBe(0)
  })

  test('removes only the credentials from an error of an HTTP client', () => {
    const record = structuredClone(failure) as unknown as JsonObject
    expect(removeHeaders(record)).toBeGreaterThan(8)
    expect(JSON.stringify(record)).not.toContain(CANARY)
    expect(record).toEqual({
      message: failure.message,
      config: {
        url: '/orders',
        headers: { Accept: 'application/json' },
        auth: { username: 'bob' },
        data: `{"headers":{"cookie":"${REMOVED}"},"quantity":2}`,
      },
      request: {
        _header: `GET / HTTP/1.1\r\nHost: example.com\r\nAuthorization: ${REMOVED}\r\nCookie: ${REMOVED}\r\n\r\n`,
      },
      response: {
        rawHeaders: ['Content-Type', 'text/plain', 'Set-Cookie', REMOVED],
        headers: [
          ['authorization', REMOVED],
          ['accept', 'x'],
        ],
        har: [{ name: 'Cookie' }, { name: 'Accept', value: 'x' }],
        options: {},
      },
    })
  })

  test('at the top level and anywhere in a list, and redacting again changes nothing', () => {
    const record: JsonObject = {
      authorization: 'x',
      cookies: { sid: 'x' },
      level: 30,
      list: ['GET', 'Cookie', 'x', 'b'],
      mixed: [1, 'cookie', { sid: 'x' }, 2],
      names: ['Authorization', 'Cookie', null],
    }
    expect(removeHeaders(record)).toBe(4)
    expect(record).toEqual({
      level: 30,
      list: ['GET', 'Cookie', REMOVED, 'b'],
      mixed: [1, 'cookie', REMOVED, 2],
      names: ['Authorization', 'Cookie', null],
    })
    expect(removeHeaders(record)).toBe(0)
  })

  test('next to its name, in any order and case', () => {
    const record: JsonObject = {
      a: { value: 'x', comment: '', Name: 'COOKIE' },
      b: [
        { Key: 'x-api-key', Values: ['x'] },
        { headerName: 'Authorization', headerValue: 'x' },
      ],
      c: { name: 'accept', value: 'y' },
    }
    expect(removeHeaders(record)).toBe(3)
    expect(record).toEqual({
      a: { comment: '', Name: 'COOKIE' },
      b: [{ Key: 'x-api-key' }, { headerName: 'Authorization' }],
      c: { name: 'accept', value: 'y' },
    })
  })

  test('in keys, which stay distinct', () => {
    const keys = Array.from({ length: 1_000 }, (_, n) => `Bearer t${n}`)
    const record: JsonObject = Object.fromEntries(keys.map((key, n) => [key, n]))
    expect(removeHeaders(record)).toBe(1_000)
    expect(Object.keys(record)).toHaveLength(1_000)
    expect(Object.values(record)).toEqual(keys.map((_, n) => n))
    expect(record['Bearer [removed]']).toBe(0)
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
  const pair = ['Cookie', CANARY.repeat(9)]
  const named = [{ name: 'Cookie', value: CANARY.repeat(9) }]
  const indented = [
    JSON.stringify(pair, undefined, 2),
    JSON.stringify(named, undefined, '\t'),
    inspect(pair),
    inspect(named),
    `Cookie:\n  ${CANARY.repeat(9)}\nHost: x`,
    `GET / HTTP/1.1\r\nCookie: a=1;\r\n b=${CANARY};\r\n\tc=${CANARY}\r\nHost: x`,
  ]
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
    ['a folded line', `Cookie: a=1;\r\n b=${CANARY}\r\nHost: x`],
    ['a folded line, in JSON', JSON.stringify({ raw: `Cookie: a=1;\r\n\tb=${CANARY}\r\nHost: x` })],
    ['a folded line, in indented JSON', JSON.stringify({ raw: [`Cookie: a=1;\r\n b=${CANARY}`] }, undefined, 2)],
    ['spaces around the sign', `authorization = "Digest ${CANARY}", "X-Api-Key" : '${CANARY}'`],
    ...indented.map((text): readonly [string, string] => ['indented lines that inspect divides', inspect({ text })]),
    ...indented.map((text): readonly [string, string] => ['these in JSON', JSON.stringify(inspect({ text }))]),
    ['a bracket within a quoted value', `Cookie: {"a": "}", "b": "${CANARY}"}`],
    ['a value that continues after its quotes', `Cookie: "a=1"; b=${CANARY}`],
    ['a credential without a header', `the token Bearer ${CANARY} was refused`],
    ['credentials in a query', `GET /x?a=Bearer%20${CANARY}&b=bearer+${CANARY}&c=1`],
    ['an opaque token', `sent Bearer 1|${CANARY}:${CANARY}$x`],
    ['Digest', `Authorization: Digest username="bob", realm="x", response="${CANARY}", cnonce="${CANARY}"`],
  ]

  test.each(forms)('%s', (_name, text) => {
    const clean = removeHeaderLines(text)
    expect(clean).not.toContain(CANARY)
    expect(clean).toContain(REMOVED)
    expect(removeHeaderLines(clean)).toBe(clean)
    expect(findNextHeader(JSON.stringify({ msg: text }))).toBeLessThan(Infinity)
  })

  test('keeps JSON valid', () => {
    const clean = removeHeaderLines(JSON.stringify({ body: JSON.stringify(failure) }))
    const { body } = JSON.parse(clean) as { body: string }
    expect(JSON.parse(body)).toMatchObject({
      config: { url: '/orders', headers: { Accept: 'application/json', 'Set-Cookie': REMOVED } },
    })
  })

  test.each([
    'authorization failed for user 7',
    'Cookie::Jar',
    'the basic plan, Basic authentication',
    'Bearer token missing',
    'cookie === undefined',
    '"authorization": null',
    '"vary": "cookie", "server": "nginx"',
    'the api key is missing',
    'tokens: 12',
    'at Cookies.get (/srv/app/cookie.js:10:5)',
    'auth: failed',
    'authorization',
    'Basic HTML5 page',
    'basic rate-limiting is on',
    'Basic 9.99 USD',
    'the Basic JavaScript bundle',
    'tier=basic seats=5',
    'basic user_profile loaded',
    'www-authenticate: Basic realm="x", charset="UTF-8"',
    'Bearer realm="api", error="invalid_token"',
    'Bearer strategy registered',
  ])('keeps text that is not a header: %s', (text) => {
    expect(removeHeaderLines(text)).toBe(text)
  })

  test('keeps the members after a value in several parts', () => {
    expect(removeHeaderLines("{ cookie: 'a\\n' +\n    'b',\n  accept: 'x' }")).toBe(
      `{ cookie: '${REMOVED}',\n  accept: 'x' }`,
    )
  })

  test('does not mistake a stack for a folded header', () => {
    const stack = 'Error: bad Authorization: Bearer x\n    at f (/srv/a.js:1:2)\n    at g (/srv/b.js:3:4)'
    expect(removeHeaderLines(stack)).toBe(stack.replace('Bearer x', REMOVED))
  })

  test('keeps the following lines with the same indentation', () => {
    expect(removeHeaderLines('h:\n  Cookie: a\n    b\n  Accept: x')).toBe(`h:\n  Cookie: ${REMOVED}\n  Accept: x`)
  })
})
