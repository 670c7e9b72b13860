/** Secrets in URLs in every form. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UrlParams } from '../../src/redaction/url-params.js'
import { modelRuns } from '../model-runs.js'

const params = new UrlParams(['token', 'password', 'secret', 'authorization', 'api_key', 'access_token'])
const CANARY = 'canary-7f3a'
const S = '[scrubbed]'

describe('parameters', () => {
  test.each([
    [`https://example.com/x?token=${CANARY}&b=1#top`, `https://example.com/x?token=${S}&b=1#top`],
    [`GET /x?a=1&Api-Key=${CANARY} HTTP/1.1`, `GET /x?a=1&Api-Key=${S} HTTP/1.1`],
    [`/cb#access_token=${CANARY}&state=2`, `/cb#access_token=${S}&state=2`],
    [`token=${CANARY}&b=c`, `token=${S}&b=c`],
    [`/x?apikey=${CANARY};b=2`, `/x?apikey=${S};b=2`],
    [`/x?a=1&amp;secret=${CANARY}&amp;b=2`, `/x?a=1&amp;secret=${S}&amp;b=2`],
    [`/x?user%5Bpassword%5D=${CANARY}`, `/x?user%5Bpassword%5D=${S}`],
    [`/x?user[password]=${CANARY}&token[]=${CANARY}`, `/x?user[password]=${S}&token[]=${S}`],
    [`/x?user.password=${CANARY}`, `/x?user.password=${S}`],
    [`/x?p%61ssword=${CANARY}`, `/x?p%61ssword=${S}`],
    [
      `/login?next=https%3A%2F%2Fa.com%3Ftoken%3D${CANARY}%26b%3D1`,
      `/login?next=https%3A%2F%2Fa.com%3Ftoken%3D${S}%26b%3D1`,
    ],
    [
      `/x?u=https%253A%252F%252Fa.com%253Ftoken%253D${CANARY}%2526b%253D1%26c%3D2`,
      `/x?u=https%253A%252F%252Fa.com%253Ftoken%253D${S}%2526b%253D1%26c%3D2`,
    ],
    [
      `/x?u=%25253Fuser%25255Bpassword%25255D%25253d${CANARY}%26c%3D2`,
      `/x?u=%25253Fuser%25255Bpassword%25255D%25253d${S}%26c%3D2`,
    ],
    [`/x?token%3D${CANARY}%2526${CANARY}%26b%3D1`, `/x?token%3D${S}%26b%3D1`],
    [`/x?p%2561ssword=${CANARY}`, `/x?p%2561ssword=${S}`],
    [`/x?token=it's<${CANARY}>x HTTP`, `/x?token=${S} HTTP`],
    [`<a href='/x?token=${CANARY}'>text</a>`, `<a href='/x?token=${S}'>text</a>`],
    [`{'url':'/x?token=${CANARY}'}`, `{'url':'/x?token=${S}'}`],
    [`token=;token%253Dtoken=${CANARY}`, `token=${S}`],
    [`line\ntoken=${CANARY}\nline`, `line\ntoken=${S}\nline`],
    [String.raw`line\ntoken=${CANARY}`, String.raw`line\ntoken=${S}`],
    [`{"url":"/x?token=${CANARY}"}`, `{"url":"/x?token=${S}"}`],
    [`fetch('/x?password=${CANARY}')`, `fetch('/x?password=${S}')`],
    [`token=;token%3D${CANARY}=b=`, `token=${S}`],
    [
      String.raw`{"url":"https:\/\/h\/x?token=a\/b\\/${CANARY}\"}"}`,
      String.raw`{"url":"https:\/\/h\/x?token=${S}\"}"}`,
    ],
    [String.raw`?u=x%3Ftoken%3Da\/${CANARY}%26b`, `?u=x%3Ftoken%3D${S}%26b`],
    [`/x?token="${CANARY} b"&page=2`, `/x?token="${S}"&page=2`],
    [`/x?token='${CANARY}'&page=2`, `/x?token='${S}'&page=2`],
    [`/x?a=1&api_key=\`${CANARY}\` failed`, `/x?a=1&api_key=\`${S}\` failed`],
    [
      String.raw`{"body":"{\"url\":\"/x?token=\\\"${CANARY}\\\"\",\"n\":1}"}`,
      String.raw`{"body":"{\"url\":\"/x?token=\\\"${S}\\\"\",\"n\":1}"}`,
    ],
    [String.raw`{"url":"/x?token=\"${CANARY}\"","b":"c"}`, String.raw`{"url":"/x?token=\"${S}\"","b":"c"}`],
    [`redis://h?PASSWORD=a;b`, `redis://h?PASSWORD=${S}`],
  ])('%s', (text, clean) => {
    expect(params.redact(text)).toBe(clean)
    expect(params.redact(clean)).toBe(clean)
    expect(params.mayMatch(JSON.stringify(text))).toBe(true)
    expect(params.mayMatch(JSON.stringify(clean))).toBe(false)
  })

  test.each([
    '/x?tokens=1&mytoken=2',
    '/x?token=',
    '{"url":"/x?token=","b":"c"}',
    '["/x?token=","x"]',
    "<a href='/x?token='>text</a>",
    '/x?token&b=1',
    'token: 12',
    'a=b=c',
    '/x?secretary=1',
    'password',
    '%3D',
    '=token',
  ])('left: %s', (text) => {
    expect(params.redact(text)).toBe(text)
    expect(params.mayMatch(JSON.stringify(text))).toBe(false)
  })

  test('set by the user, or none', () => {
    expect(new UrlParams(['sessionId']).redact('/x?session_id=1&token=2')).toBe(`/x?session_id=${S}&token=2`)
    expect(new UrlParams([]).redact(`/x?token=${CANARY}`)).toBe(`/x?token=${CANARY}`)
  })
})

describe('user and password', () => {
  test.each([
    [`https://bob:${CANARY}@example.com/x`, `https://${S}@example.com/x`],
    [`postgres://bob:${CANARY}@db:5432/app failed`, `postgres://${S}@db:5432/app failed`],
    [`redis://:${CANARY}@cache`, `redis://${S}@cache`],
    [`https://bob:p@ss${CANARY}@example.com`, `https://${S}@example.com`],
    [`mongodb+srv://u:${CANARY}@a,b/x and amqp://v:${CANARY}@c`, `mongodb+srv://${S}@a,b/x and amqp://${S}@c`],
    [`https://bob:<${CANARY}>@example.com/x`, `https://${S}@example.com/x`],
    [`see <https://bob:<b>"${CANARY}@example.com>`, `see <https://${S}@example.com>`],
    [`https://bob:it's\`😀${CANARY}@example.com/x`, `https://${S}@example.com/x`],
    [`{"url":"https:\\/\\/bob:${CANARY}@example.com\\/x"}`, `{"url":"https:\\/\\/${S}@example.com\\/x"}`],
    [`/x?next=https%3A%2F%2Fbob%3A${CANARY}%40a.example`, `/x?next=https%3A%2F%2F${S}%40a.example`],
    [`/x?next=https%3A//bob%3A${CANARY}%40a.example/x`, `/x?next=https%3A//${S}%40a.example/x`],
    [`/x?next=https%253A%252F%252Fbob%253A${CANARY}%2540a.example`, `/x?next=https%253A%252F%252F${S}%2540a.example`],
  ])('%s', (text, clean) => {
    expect(params.redact(text)).toBe(clean)
    expect(params.redact(clean)).toBe(clean)
    expect(params.mayMatch(JSON.stringify(text))).toBe(true)
    expect(params.mayMatch(JSON.stringify(clean))).toBe(false)
  })

  test.each([
    'https://example.com/@bob',
    'https://example.com?a=b@c.com',
    'git@github.com:a/b',
    '<a href="http://localhost:8080">bob@example.com</a>',
    '<http://localhost:80<b>>bob@example.com',
    'bob@example.com',
    '// bob@example.com',
  ])('left: %s', (text) => expect(params.redact(text)).toBe(text))
})

test('`mayMatch` detects text to scrub', () => {
  const piece = fc.constantFrom(
    ...`token= ' < api_key token = %3D %253D %2526 & ? %26 :// @ a / ; \\n " ${S} [ ] %5B`.split(' '),
    '\n',
    ' ',
  )
  let scrubbed = 0
  fc.assert(
    fc.property(fc.array(piece, { minLength: 2, maxLength: 25 }), (pieces) => {
      const text = pieces.join('')
      const clean = params.redact(text)
      expect(params.redact(clean)).toBe(clean)
      if (clean === text) return
      scrubbed += 1
      const json = JSON.stringify(text)
      expect(params.mayMatch(json)).toBe(true)
    }),
    { numRuns: modelRuns(1_000, 20_000) },
  )
  expect(scrubbed).toBeGreaterThan(20)
})
