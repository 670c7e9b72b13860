import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HttpReply } from '../../src/client/http-types.js'
import type { ExpectedBody } from '../../src/client/reply-parser.js'
import {
  classifyReply,
  parseIngestResult,
  describeReply,
  classifyStatus,
  parseRetryAfterMs,
} from '../../src/client/reply-parser.js'

const NOW = Date.UTC(2025, 0, 1)
const HOUR = 3_600_000
const replied = (status: number, body: unknown = ''): HttpReply => ({
  status,
  headers: {},
  text: typeof body === 'string' ? body : JSON.stringify(body),
  truncated: false,
})
const httpDate = (ms: number): string => new Date(ms).toUTCString()

describe('the kind of a reply, by status', () => {
  test.each([
    ['ok', [200, 201, 202, 204, 299]],
    ['refused', [400, 413, 422]],
    ['retryable', [408, 425, 429, 500, 502, 503, 504, 520, 599]],
    ['endpoint-rejected', [300, 301, 302, 303, 304, 307, 308, 401, 402, 403, 404, 405, 409, 410, 415, 418, 451, 499]],
  ])('%s', (kind, statuses) => {
    expect(statuses.filter((status) => classifyStatus(status) !== kind)).toEqual([])
  })
})

describe('a 2xx by its body', () => {
  const kindOf = (body: unknown, expected: ExpectedBody, truncated = false): string =>
    classifyReply({ ...replied(200, body), truncated }, expected)
  const RESULT = { accepted: 1, rejected: 0, message: '', errors: [] }

  test.each<[unknown, ingest: boolean, json: boolean]>([
    [RESULT, true, true],
    [`\ufeff${JSON.stringify(RESULT)}`, true, true],
    [{ accepted: 0, rejected: 2 }, true, true],
    ['', true, true],
    ['\ufeff', true, true],
    ['{}', true, true],
    [{ status: 'ok' }, true, true],
    // Not an ingest result, though its content type is JSON.
    [{ accepted: 'all', rejected: 0 }, false, true],
    [{ accepted: 1 }, false, true],
    [{ ...RESULT, accepted: -1 }, false, true],
    ['[]', false, true],
    ['null', false, true],
    ['"ok"', false, true],
    ['<!doctype html><title>Sign in</title>', false, false],
    ['OK', false, false],
    [`${JSON.stringify(RESULT)}<!-- 3 ms -->`, false, false],
    [JSON.stringify(RESULT).slice(0, -1), false, false],
    ['\u001f\ufffd\b\u0000', false, false],
  ])('%j: of /ingest %s, elsewhere %s', (body, ingest, json) => {
    // A monitor may answer with any text, but not with a web page.
    const isText = !String(body).startsWith('<')
    expect([kindOf(body, 'ingest-result'), kindOf(body, 'json'), kindOf(body, 'text')]).toEqual(
      [ingest, json, isText].map((isOk) => (isOk ? 'ok' : 'endpoint-rejected')),
    )
  })

  test.each([
    ['OK', 'ok'],
    ['<?xml version="1.0"?><ok/>', 'ok'],
    ['<!DOCTYPE html><title>Sign in</title>', 'endpoint-rejected'],
    ['\ufeff <html>', 'endpoint-rejected'],
    ['<!-- portal --><html>', 'endpoint-rejected'],
    ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', 'endpoint-rejected'],
  ])('of a heartbeat, %j: %s, whatever its content type is', (body, kind) => {
    for (const type of ['text/html; charset=utf-8', 'text/plain', 'application/json'])
      expect(classifyReply({ ...replied(200, body), headers: { 'content-type': type } }, 'text')).toBe(kind)
  })

  test.each([
    ['{"accepted":0,"rejected":1,"errors":[{"index":0,"message":"vvv', 'ok'],
    ['', 'endpoint-rejected'],
    ['<!doctype html><script>{', 'endpoint-rejected'],
    ['OK {', 'endpoint-rejected'],
  ])('a truncated body %j: %s', (body, kind) => {
    expect([kindOf(body, 'ingest-result', true), kindOf(body, 'json', true)]).toEqual([kind, kind])
  })
})

describe('Retry-After', () => {
  const asked = (header: string | string[], date?: string | string[], status = 429): number | undefined =>
    parseRetryAfterMs({ status, headers: { 'retry-after': header, ...(date !== undefined && { date }) } }, NOW)

  test.each<[string | string[], number | undefined]>([
    ['0', 0],
    ['1.5', 1_500],
    ['0.0001', 1],
    [' 7 ', 7_000],
    ['3600', HOUR],
    ['1000000000', HOUR],
    ['9'.repeat(400), HOUR],
    ['-5', undefined],
    ['1e9', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['soon', undefined],
    ['5 seconds', undefined],
    [['5', '2'], 5_000],
    [[], undefined],
    [httpDate(NOW + 5_000), 5_000],
    [httpDate(NOW - 5_000), 0],
    [httpDate(NOW + 99 * 365 * 24 * HOUR), HOUR],
    ['Wed, 99 Foo 2025 00:00:06 GMT', undefined],
  ])('%o: %o', (header, wait) => {
    expect(asked(header)).toBe(wait)
  })

  test("a date is relative to the reply's own Date header if that is valid", () => {
    const off = NOW - 10 * HOUR // the service's clock is behind
    expect(asked(httpDate(off + 5_000), httpDate(off))).toBe(5_000)
    expect(asked(httpDate(off + 5_000), [httpDate(off), httpDate(NOW)])).toBe(5_000)
    expect(asked(httpDate(NOW + 5_000), 'garbage 5')).toBe(5_000)
    expect(asked('4', httpDate(off))).toBe(4_000)
  })
})

describe('the ingest result', () => {
  const item = { index: 3, code: 'VALIDATION_ERROR', field: 'level', message: 'bad' }

  test('missing or wrong lists are empty, and items without a position are ignored', () => {
    expect(parseIngestResult('{"accepted":1,"rejected":0}')).toEqual({
      accepted: 1,
      rejected: 0,
      message: '',
      errors: [],
    })
    const wrong = [null, 'x', [], {}, { index: '3' }, { index: -1 }, { index: 1.5 }]
    const errors = [item, ...wrong, { index: 7, code: 5, field: null, message: {} }]
    expect(parseIngestResult(JSON.stringify({ accepted: 1, rejected: 2, message: 5, errors }))?.errors).toEqual([
      item,
      { index: 7, code: '', field: '', message: '' },
    ])
    expect(parseIngestResult('{"accepted":1,"rejected":0,"errors":{"length":3}}')?.errors).toEqual([])
  })

  test.each([
    ...['', 'null', '[]', '{"accepted":1}', '{"rejected":1}', '{"accepted":1,"rejected":0', '<html>502</html>'],
    ...['"1"', '-1', '1.5', '1e999'].map((accepted) => `{"accepted":${accepted},"rejected":0}`),
    '['.repeat(200_000),
  ])('%s is not a result', (text) => {
    expect(parseIngestResult(text)).toBeUndefined()
  })
})

describe('the reason as text', () => {
  test.each<[HttpReply, string]>([
    [replied(502, '<html>Bad gateway</html>'), 'status 502'],
    [replied(401, { detail: [{ msg: 'invalid API key', type: 'auth_error' }] }), 'status 401: invalid API key'],
    [replied(404, { detail: 'Not Found' }), 'status 404: Not Found'],
    [
      replied(422, { detail: [{ loc: ['body', 'logs', 3, 'level'], msg: 'field required' }] }),
      'status 422: body.logs.3.level: field required',
    ],
    [
      replied(422, {
        accepted: 0,
        rejected: 2,
        message: 'no',
        errors: [
          { index: 3, field: 'level', message: 'bad' },
          { index: 4, code: 'TOO_OLD' },
        ],
      }),
      'status 422: no; logs[3].level: bad; logs[4]: TOO_OLD',
    ],
    [replied(422, { message: 5, detail: {}, error: null }), 'status 422'],
    [
      replied(400, { message: 'one\r\ntwo\u001b[31m\u0000three\u2028four\u009bfive' }),
      'status 400: one two [31m three four five',
    ],
    [replied(400, { message: 'abc\u202Egnp.exe\u2066' }), 'status 400: abc gnp.exe'],
  ])('%#: %s', (reply, reason) => {
    expect(describeReply(reply)).toBe(reason)
  })

  test('is one line of at most 200 characters, cut between characters, for any body', () => {
    const body = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json({ stringUnit: 'binary' }),
      fc
        .record({
          message: fc.string({ unit: 'binary', maxLength: 400 }),
          detail: fc.jsonValue(),
          errors: fc.jsonValue(),
          error: fc.jsonValue(),
        })
        .map((one) => JSON.stringify(one)),
      fc.integer({ min: 150, max: 260 }).map((length) => JSON.stringify({ message: `${'x'.repeat(length)}😀😀😀` })),
    )
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), body, (status, text) => {
        const reason = describeReply(replied(status, text))
        expect(reason.length).toBeLessThanOrEqual(200)
        expect(reason).toMatch(new RegExp(`^status ${status}`))
        expect(reason).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u)
        expect(reason.isWellFormed()).toBe(true)
      }),
      { numRuns: 100 },
    )
    expect(describeReply(replied(400, { message: 'x'.repeat(1_000) }))).toMatch(/^status 400: x{187}…$/)
  })

  const signIn = '<!doctype html>\n<title>Sign\u001b[2J in</title>'
  test.each<[string, Record<string, string | string[]>, string]>([
    [signIn, { 'content-type': 'text/html; x' }, 'text/html; x: <!doctype html> <title>Sign [2J in</title>'],
    ['OK', {}, 'no content type: OK'],
    [' ', { 'content-type': ['text/plain', 'x/y'] }, 'text/plain, x/y'],
    ['\ufffd', { 'content-type': 'a/b', 'content-encoding': 'gzip' }, 'a/b (gzip): \ufffd'],
    ['<html>'.repeat(99), { 'content-type': 'x'.repeat(99) }, `${'x'.repeat(59)}…: ${'<html>'.repeat(13)}<…`],
  ])('of a 2xx from another program shows its reply: %#', (text, headers, reason) => {
    expect(describeReply({ status: 200, headers, text, truncated: false })).toBe(`status 200, ${reason}`)
  })

  test('secrets are masked before the text is cut', () => {
    const page = {
      status: 200,
      headers: { 'content-type': `text/html; ${'x'.repeat(40)}SECRETSECRET` },
      text: `${'x'.repeat(70)}SECRETSECRET`,
      truncated: false,
    }
    expect(describeReply(page, (words) => words.replaceAll('SECRETSECRET', '…'))).not.toContain('SECR')

    const reply = replied(400, { message: `${'x'.repeat(180)}SECRETSECRET` })
    expect(describeReply(reply, (words) => words.replaceAll('SECRETSECRET', '…'))).not.toContain('SECR')
  })
})

test.each([
  ['https://user:pass@login.example.com/sign-in?token=t#f', 'https://login.example.com/sign-in'],
  ['/login?next=%2F', '/login'],
  ['//user:pass@other.example.com/x?y', '//other.example.com/x'],
])('a redirect to %s is described without user info and query', (location, shown) => {
  const reply = { status: 302, headers: { location }, text: '<html>', truncated: false }
  expect(describeReply(reply)).toBe(`status 302: redirects to ${shown}`)
})
