import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validateRequest } from '../../src/client/request-validation.js'
import { createHeartbeatCall } from '../../src/client/heartbeat-call.js'
import { IngestError } from '../../src/shared/errors.js'
import { validateEntry } from '../../src/service/index.js'

const TIME = '2026-01-31T08:00:00.000Z'
const ENTRY = { level: 'info', message: 'hello', timestamp: TIME }
const REQUEST = { method: 'GET', path: '/', status_code: 200, duration_ms: 1.5, request_id: 'r', timestamp: TIME }

type Kind = Parameters<typeof validateRequest>[0]

function fault(kind: Kind, value: unknown): string {
  try {
    validateRequest(kind, value)
  } catch (error) {
    if (error instanceof IngestError && error.code === 'INVALID') return error.message
    throw error
  }
  return ''
}
const entryFault = (fields: Record<string, unknown>): string => fault('batch', { logs: [{ ...ENTRY, ...fields }] })

const FULL = {
  ...ENTRY,
  service: 's',
  environment: 'e',
  version: 'v',
  user_id: 'u',
  user: { id: 'i', email: 'e', name: 'n' },
  metadata: { any: [1, null] },
  tags: ['t'],
  error: { type: 't', message: 'm', stack: 's' },
  perf: { duration_ms: 1.5, memory_mb: 1, db_queries: 2, cache_hits: 0 },
  request: { method: 'GET', url: '/', path: '/', status_code: 200, duration_ms: 0.1, ip: '::1', user_agent: 'x' },
  trace: { trace_id: 't', span_id: 's', parent_span_id: 'p' },
  deploy: { commit: 'c', branch: 'b', deployed_by: 'd' },
  breadcrumbs: [
    { type: 't', category: 'c', message: 'm', level: 'l', timestamp: '2026-01-31T08:00:00+02:00', data: {} },
  ],
  fingerprint: 'f',
  action: 'a',
  session_id: 's',
  release_id: 'r',
  request_id: 'r',
  source: 's',
  notify: true,
  notify_channels: ['slack'],
}

test('accepts all fields of the interface, and the required ones alone', () => {
  expect(fault('batch', { batch_id: 'free-form 7', logs: [FULL, ENTRY] })).toBe('')
  expect(fault('batch', { logs: Array.from({ length: 100 }, () => ENTRY) })).toBe('')
  const optional = { route: '/:id', host: 'h', service: 's', environment: 'e', timestamp: '2026-01-31T08:00:00+02:00' }
  expect(fault('requests', { requests: [{ ...REQUEST, ...optional }] })).toBe('')
  expect(fault('feedback', { event_id: 'e', comments: 'c', name: 'n', email: 'm@example.com' })).toBe('')
  expect(fault('release', { version: '1', commit_hash: 'c', branch: 'b', deployed_by: 'd', changelog: 'l' })).toBe('')
})

test('an undefined field counts as absent, as in JSON', () => {
  expect(entryFault({ service: undefined, unknown: undefined })).toBe('')
})

describe('an error names path, rule and value', () => {
  test.each<[Kind, unknown, string]>([
    ['batch', {}, 'batch.logs must be given, got undefined'],
    ['batch', { logs: {} }, 'batch.logs must be a list, got [object Object]'],
    ['batch', { logs: [ENTRY], more: 1 }, 'batch.more must be a field of the interface, which it is not, got 1'],
    ['batch', { logs: Array.from({ length: 101 }, () => ENTRY) }, 'batch.logs must hold at most 100 entries, got 101'],
    ['batch', { logs: [ENTRY, null] }, 'batch.logs[1] must be an object, got null'],
    // oxlint-disable-next-line no-sparse-arrays -- JSON would make the hole a null
    ['batch', { logs: [, ENTRY] }, 'batch.logs[0] must be an object, got undefined'],
    [
      'requests',
      { requests: [{ ...REQUEST, status_code: 200.5 }] },
      'requests.requests[0].status_code must be an integer, got 200.5',
    ],
    [
      'requests',
      { requests: [{ ...REQUEST, request_id: undefined }] },
      'requests.requests[0].request_id must be given, got undefined',
    ],
    ['feedback', { event_id: 'e' }, 'feedback.comments must be given, got undefined'],
    ['feedback', { event_id: 'e', comments: ' \n' }, 'feedback.comments must be text that is not empty, got " \\n"'],
    ...['', 'jane@', '@example.com', 'jane doe@example.com', 'a@b@c'].map((email): [Kind, unknown, string] => [
      'feedback',
      { event_id: 'e', comments: 'c', email },
      `feedback.email must be an e-mail address, such as jane@example.com, got "${email}"`,
    ]),
    ['release', { version: 1 }, 'release.version must be text, got 1'],
  ])('%s %#', (kind, value, message) => {
    expect(fault(kind, value)).toBe(message)
  })

  test.each<[Record<string, unknown>, string]>([
    [{ level: 'trace' }, 'level must be one of debug, info, warn, error, fatal, got "trace"'],
    [{ message: () => 'secret' }, 'message must be text, got a function'],
    [{ user: { id: 5 } }, 'user.id must be text, got 5'],
    [{ user: { age: 5 } }, 'user.age must be a field of the interface'],
    [{ notify: 'yes' }, 'notify must be true or false, got "yes"'],
    [{ metadata: [] }, 'metadata must be an object'],
    [{ breadcrumbs: [{ timestamp: 'now' }] }, 'breadcrumbs[0].timestamp must be an ISO 8601 time'],
    [JSON.parse('{"__proto__":5}') as Record<string, unknown>, '__proto__ must be a field of the interface'],
    [{ 'a\nb': 5 }, 'logs[0]["a\\nb"] must be a field of the interface'],
    [{ level: 'x'.repeat(1_000) }, `got "${'x'.repeat(80)}"`],
  ])('%o', (fields, words) => {
    // In an object literal, an assigned `__proto__` would set the prototype; the spread keeps it as a member.
    expect(entryFault(fields)).toContain(words)
  })
})

describe('the local service has its own validation with the same results', () => {
  test('client and service accept the same requests', () => {
    // The interface allows NUL and lone surrogates; the service rejects them for reasons of its own.
    const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0') && one.isWellFormed())
    const wild = fc.oneof(
      text,
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(text, { maxLength: 2 }),
      fc.dictionary(text, text, { maxKeys: 2 }),
    )
    const time = fc.oneof(
      fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
      fc.stringMatching(/^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\d(?:\.\d{1,10})?(?:Z|[+-]0\d:00)$/),
    )
    const field = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(FULL)), wild) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('timestamp'), time) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom('constructor', 'valueOf', '__proto__', 'zzz'), wild) },
    )
    fc.assert(
      fc.property(fc.array(field, { maxLength: 3 }), (fields) => {
        const entry: unknown = { ...FULL, ...Object.fromEntries(fields) }
        const asSent = JSON.parse(JSON.stringify(entry)) as unknown
        expect(fault('batch', { logs: [asSent] }) === '').toBe(validateEntry(asSent).length === 0)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('monitor tokens', () => {
  test.each([
    ['A.b_c~9', 'A.b_c~9'],
    ['...', '...'],
    ['../releases/register', '..%2Freleases%2Fregister'],
    ['\\', '%5C'],
    ['%2e%2e', '%252e%252e'],
    ['a\n', 'a%0A'],
    ['ä😀', '%C3%A4%F0%9F%98%80'],
    ['a?b#c;d@e+f&g', 'a%3Fb%23c%3Bd%40e%2Bf%26g'],
    ["!'()*", '%21%27%28%29%2A'],
  ])('%j: %s, one path segment', (token, segment) => {
    expect(createHeartbeatCall(token)).toMatchObject({
      path: `/heartbeat/${segment}`,
      body: null,
      secrets: [token, segment],
    })
  })

  test.each(['', '.', '..', 'tok-4711-\udc00', undefined, ['a'], { toString: () => 'a' }])(
    'rejects %o without showing it',
    (token) => {
      const refused = (): unknown => createHeartbeatCall(token)
      expect(refused).toThrow(
        expect.objectContaining({
          code: 'INVALID',
          message: expect.stringMatching(token === '' ? /empty/ : /not shown/) as string,
        }) as Error,
      )
      if (typeof token === 'string' && token.length > 3) expect(refused).not.toThrow(token)
    },
  )
})
