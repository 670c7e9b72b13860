/** The JSON of an entry without secrets: it is still JSON and an entry, and nothing else changes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/protocol/log-entry.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { modelRuns } from '../model-runs.js'

const URL_PARAMS = ['token', 'password', 'secret', 'authorization', 'api_key', 'access_token']
const CANARY = 'canary-7f3a'
const CARD = '4111111111111111'
const plain = new Redactor({ patterns: [], keys: URL_PARAMS })
const all = new Redactor({
  patterns: ['email', 'creditCard', 'ssn', 'bearer', 'canary-[0-9a-f]+'],
  keys: URL_PARAMS,
})

function entry(more: JsonObject = {}): JsonObject {
  return { level: 'error', message: 'failed', timestamp: '2026-11-21T10:00:00.000Z', ...more }
}

function redacted(redactor: Redactor, value: JsonObject): JsonObject {
  return JSON.parse(redactor.redactJson(JSON.stringify(value))) as JsonObject
}

describe('without patterns', () => {
  test.each([
    [
      'proxy http://token=abc/def&user:SECRET@proxy.local:8080 failed',
      'proxy http://[scrubbed]@proxy.local:8080 failed',
    ],
    ['jdbc:sqlserver://db;password=a/b;trustStorePassword=SECRET@corp', 'jdbc:sqlserver://[scrubbed]@corp'],
    ['next=https%3A%2F%2Ftoken%3Da%2Fb%26user%3ASECRET%40host', 'next=https%3A%2F%2F[scrubbed]%40host'],
    [`http://u:pa${'\\'.repeat(40)}SECRET@host ?token=1`, 'http://[scrubbed]@host ?token=[scrubbed]'],
    [`http://u:pa${'\\'.repeat(40)}SECRET@host`, 'http://[scrubbed]@host'],
    ['a\token=kept ?token=SECRET', 'a\token=kept ?token=[scrubbed]'],
  ])('%s', (message, clean) => {
    expect(redacted(plain, entry({ message }))).toEqual(entry({ message: clean }))
  })

  test('a value that starts with an escape', () => {
    const json = String.raw`{"level":"info","message":"/x?token=\u00e9SECRET","timestamp":"t"}`
    expect(plain.redactJson(json)).not.toContain('SECRET')
  })

  test('keys that become equal', () => {
    expect(redacted(plain, entry({ metadata: { '?token=a': 1, '?token=b': 2 } }))).toEqual(
      entry({ metadata: { '?token=[scrubbed]': 1, '?token=[scrubbed]_2': 2 } }),
    )
  })

  test('returns the same string if there is nothing to redact', () => {
    const json = JSON.stringify(
      entry({
        metadata: { req: { query: {}, params: {} }, a: 'x = y', mail: 'bob@example.com', n: 1e21, deep: [[{}]] },
      }),
    )
    expect(plain.mayMatch(json)).toBe(false)
    expect(plain.redactJson(json)).toBe(json)
    expect(plain.hasPatterns).toBe(false)
  })

  test('detects letters written as escapes', () => {
    const json = String.raw`{"level":"info","message":"/x?\u0074oken\u003dcanary-7f3a","timestamp":"t","metadata":{"u":"https:\/\/a:canary-7f3a@b.com"}}`
    expect(plain.mayMatch(json)).toBe(true)
    expect(plain.redactJson(json)).not.toContain(CANARY)
    expect(JSON.parse(plain.redactJson(json))).toMatchObject({
      message: '/x?token=[scrubbed]',
      metadata: { u: 'https://[scrubbed]@b.com' },
    })
  })

  test('keeps the digits of long integers', () => {
    const json =
      '{"level":"info","message":"/x?token=a","timestamp":"t","metadata":{"big":12345678901234567890,"fraction":1.5,"small":1e-7}}'
    expect(plain.redactJson(json)).toBe(json.replace('token=a', 'token=[scrubbed]'))
  })
})

describe('with patterns', () => {
  test('every text, every key of the application, and card numbers', () => {
    expect(
      redacted(
        all,
        entry({
          message: `bob@example.com paid with ${CARD}`,
          user: { email: 'bob@example.com' },
          tags: [CANARY],
          error: { stack: `Error: ${CANARY}\n  at x` },
          metadata: {
            'bob@example.com': 1,
            list: [Number(CARD), `"${CANARY}"`],
            ssn: '123-45-6789',
            time: 1_763_740_800_000,
          },
          breadcrumbs: [
            {
              message: 'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn',
              timestamp: '2026-11-21T10:00:00.000Z',
              data: { card: Number(CARD) },
            },
          ],
        }),
      ),
    ).toEqual(
      entry({
        message: '[email] paid with [creditCard]',
        user: { email: '[email]' },
        tags: ['[scrubbed]'],
        error: { stack: 'Error: [scrubbed]\n  at x' },
        metadata: { '[email]': 1, list: ['[creditCard]', '"[scrubbed]"'], ssn: '[ssn]', time: 1_763_740_800_000 },
        breadcrumbs: [{ message: '[bearer]', timestamp: '2026-11-21T10:00:00.000Z', data: { card: '[creditCard]' } }],
      }),
    )
  })

  test('keeps the required fields of an entry', () => {
    const greedy = new Redactor({
      patterns: ['error|message|metadata|2026|level|stack|data|timestamp', 'creditCard'],
      keys: [],
    })
    const clean = redacted(
      greedy,
      entry({
        error: { message: 'an error', stack: 'x' },
        trace: { trace_id: '4111111111111111', span_id: 'a'.repeat(16) },
        request: { status_code: 500 },
        breadcrumbs: [{ timestamp: '2026-11-21T10:00:00.000Z', level: 'error', data: { level: 1 } }],
        metadata: { message: 1, level: 'error' },
      }),
    )
    expect(clean).toEqual(
      entry({
        error: { message: 'an [scrubbed]', stack: 'x' },
        trace: { trace_id: '4111111111111111', span_id: 'a'.repeat(16) },
        request: { status_code: 500 },
        breadcrumbs: [{ timestamp: '2026-11-21T10:00:00.000Z', level: '[scrubbed]', data: { '[scrubbed]': 1 } }],
        metadata: { '[scrubbed]': 1, '[scrubbed]_2': '[scrubbed]' },
      }),
    )
  })

  test('of a duplicate key', () => {
    const json =
      '{"level":"info","message":"m","timestamp":"t","metadata":{"a":{"to":"bob@example.com","to":"x"},"a":{"to":"x"}}}'
    expect(all.redactJson(json)).not.toContain('bob')
  })

  test('keys that become equal stay distinct', () => {
    const keys = Array.from({ length: 1_000 }, (_, n) => `user${n}@example.com`)
    const clean = redacted(
      all,
      entry({ metadata: { '[email]_3': 'own', ...Object.fromEntries(keys.map((key, n) => [key, n])) } }),
    )
    const metadata = clean['metadata'] as JsonObject
    expect(Object.keys(metadata)).toHaveLength(1_001)
    expect(metadata['[email]_3']).toBe('own')
    expect(new Set(Object.values(metadata)).size).toBe(1_001)
  })
})

const secret = fc.constantFrom(CANARY, `Bearer ${CANARY}`, `?token=${CANARY}`, `https://a:${CANARY}@b.com`)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).map((one) => one.toWellFormed()),
  fc
    .tuple(fc.string({ maxLength: 5 }), secret, fc.constantFrom('', ' ', '"', '\\', '\n', '/'))
    .map(([before, one, after]) => `${before} ${one}${after}`),
  fc.constantFrom('bob@example.com', CARD, '123-45-6789', 'token', 'query', 'a=b', '\u2028', '{"a":1}', '[scrubbed]'),
)
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(
      text,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.constant(Number(CARD)),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<Json>
const anyEntry = fc
  .record({
    message: text,
    metadata: fc.dictionary(text, value, { maxKeys: 4 }),
    breadcrumbs: fc.array(fc.record({ message: text, data: fc.dictionary(text, value, { maxKeys: 2 }) }), {
      maxLength: 2,
    }),
  })
  .map((more) => entry(more as unknown as JsonObject))

/** The same JSON with letters, slashes and signs as escapes. */
function escaped(json: string): string {
  return json.replace(/(\\.)|([a-z=@/])/g, (whole, escape: string | undefined, letter: string) =>
    escape === undefined && /[A-Za-z]/.test(letter) === false ? `\\u00${letter.charCodeAt(0).toString(16)}` : whole,
  )
}

/** The containers and their sizes. */
function shapeOf(one: Json): unknown {
  if (Array.isArray(one)) return one.map(shapeOf)
  return typeof one === 'object' && one !== null ? Object.values(one).map(shapeOf) : 'value'
}

describe('any entry', () => {
  test('is JSON of the same shape without canaries, and redacting again changes nothing', () => {
    fc.assert(
      fc.property(anyEntry, (one) => {
        const json = JSON.stringify(one)
        const clean = all.redactJson(json)
        expect(clean).not.toContain(CANARY)
        expect(clean.isWellFormed()).toBe(true)
        const parsed = JSON.parse(clean) as JsonObject
        expect([parsed['level'], parsed['timestamp']]).toEqual([one['level'], one['timestamp']])
        if (!/query|token/.test(json)) expect(shapeOf(parsed)).toEqual(shapeOf(JSON.parse(json) as Json))
        expect(all.redactJson(clean)).toBe(clean)
        if (clean !== json) expect(all.mayMatch(json)).toBe(true)
      }),
      { numRuns: modelRuns(300, 10_000) },
    )
  })

  test('gives the same result with escapes in its JSON', () => {
    fc.assert(
      fc.property(anyEntry, (one) => {
        const json = JSON.stringify(one)
        for (const redactor of [plain, all]) {
          expect(JSON.parse(redactor.redactJson(escaped(json)))).toEqual(JSON.parse(redactor.redactJson(json)))
        }
      }),
      { numRuns: modelRuns(150, 5_000) },
    )
  })

  test('redacts the message like the text alone', () => {
    fc.assert(
      fc.property(text, (message) => {
        expect(redacted(all, entry({ message }))['message']).toBe(all.redactText(message))
      }),
      { numRuns: modelRuns(200, 5_000) },
    )
  })
})
