/** Terminal lines for records of every kind: colored, and always one line. */
import { describe, expect, test, vi } from 'vitest'
import { formatEntryLine, formatRecordLine } from '../../../src/cli/shared/record-line.js'
import { PLAIN, createPaint } from '../../../src/cli/shared/paint.js'
import { formatFullEntry } from '../../../src/cli/tail/full-entry.js'
import type { RecordKind, Records } from '../../../src/service/store/stored-record.js'
import { entryOf, requestLog } from '../../service/support.js'

const HOSTILE = 'a\nb\r\u001b[2J\u202e\u2028\u0000'
const ESCAPED = 'a\\nb\\r\\u001b[2J\\u202e\\u2028\\u0000'
const stored = { id: 'x_1', seq: 1, received_at: '2026-01-31T09:30:00.500Z' }

describe('an entry', () => {
  test('shows the error unless the message contains it', () => {
    const entry = entryOf({
      message: 'payment failed',
      service: 'shop',
      level: 'error',
      error: { type: 'TypeError', message: 'card\ndeclined' },
    })
    expect(formatEntryLine(entry)).toBe('08:00:00.000 error shop payment failed (TypeError: card\\ndeclined)\n')
    expect(formatEntryLine(entryOf({ message: 'same', error: { message: 'same' } }))).toBe(
      '08:00:00.000 info  - same\n',
    )
  })

  test('shows the HTTP request unless the message contains its path', () => {
    const request = { method: 'GET', path: '/orders', status_code: 502, duration_ms: 12.345 }
    expect(formatEntryLine(entryOf({ message: 'request errored', error: { type: 'E' }, request }))).toBe(
      '08:00:00.000 info  - request errored (E; GET /orders 502 12.3 ms)\n',
    )
    expect(formatEntryLine(entryOf({ message: 'GET /orders failed', request }))).toBe(
      '08:00:00.000 info  - GET /orders failed\n',
    )
    expect(formatEntryLine(entryOf({ request: { url: 'http://x/' } }))).toBe('08:00:00.000 info  - hello (http://x/)\n')
    expect(formatEntryLine(entryOf({ request: { user_agent: 'x' } }))).toBe('08:00:00.000 info  - hello\n')
  })

  test('is shortened', () => {
    const long = entryOf({ message: 'x'.repeat(5_000), timestamp: '2026-01-31T08:00:00.123456789Z' })
    expect(formatEntryLine(long)).toMatch(/^08:00:00\.123 info {2}- x{499}…\n$/)
  })
})

test.each<{ [K in RecordKind]: readonly [K, Records[K], string] }[RecordKind]>([
  ['entry', { ...stored, batch_id: null, entry: entryOf() }, '08:00:00.000 info  - hello'],
  [
    'request',
    { ...stored, request: { ...requestLog, path: '/a', status_code: 503, duration_ms: 1234.5, service: 'shop' } },
    '08:00:00     http  shop GET /a 503 1.23 s',
  ],
  [
    'feedback',
    { ...stored, feedback: { event_id: 'e-1', comments: 'It broke', email: 'a@example.com' } },
    '09:30:00.500 feedback a@example.com on e-1: It broke',
  ],
  [
    'feedback',
    { ...stored, feedback: { event_id: 'e-1', comments: 'It broke' } },
    '09:30:00.500 feedback somebody on e-1: It broke',
  ],
  [
    'release',
    { ...stored, release_id: 'r-1', release: { version: '1.4.0', branch: 'main', commit_hash: 'abc' } },
    '09:30:00.500 release 1.4.0 is r-1 (abc, main)',
  ],
  ['heartbeat', { ...stored, monitor: '0123456789ab', name: null }, '09:30:00.500 heartbeat of monitor 0123456789ab'],
  ['heartbeat', { ...stored, monitor: '0123456789ab', name: 'nightly' }, '09:30:00.500 heartbeat of monitor nightly'],
  [
    'rejected',
    {
      ...stored,
      endpoint: 'ingest',
      batch_id: null,
      status: 422,
      entries: 10,
      accepted: 7,
      reasons: [
        { loc: ['logs', 3, 'level'], message: 'must be known' },
        { loc: [], message: 'x' },
        { loc: [], message: 'y' },
      ],
    },
    '09:30:00.500 refused ingest 422, 3 of 10: logs.3.level must be known (and 2 more)',
  ],
  [
    'rejected',
    {
      ...stored,
      endpoint: 'feedback',
      batch_id: null,
      status: 422,
      entries: 0,
      accepted: 0,
      reasons: [{ loc: [], message: 'too long' }],
    },
    '09:30:00.500 refused feedback 422: too long',
  ],
])('a record of the kind %s', (kind, record, line) => {
  expect(formatRecordLine(kind, record)).toBe(`${line}\n`)
})

test.each<{ [K in RecordKind]: readonly [K, Records[K]] }[RecordKind]>([
  [
    'entry',
    {
      ...stored,
      batch_id: null,
      entry: entryOf({
        message: HOSTILE,
        service: HOSTILE,
        timestamp: HOSTILE,
        error: { type: HOSTILE, message: HOSTILE },
        request: { method: HOSTILE, path: HOSTILE.slice(1) },
      }),
    },
  ],
  [
    'request',
    { ...stored, request: { ...requestLog, method: HOSTILE, path: HOSTILE, service: HOSTILE, timestamp: HOSTILE } },
  ],
  ['feedback', { ...stored, feedback: { event_id: HOSTILE, comments: HOSTILE, name: HOSTILE } }],
  [
    'release',
    {
      ...stored,
      release_id: HOSTILE,
      release: { version: HOSTILE, branch: HOSTILE, commit_hash: HOSTILE, deployed_by: HOSTILE },
    },
  ],
  ['heartbeat', { ...stored, monitor: HOSTILE, name: null }],
  ['heartbeat', { ...stored, monitor: 'm', name: HOSTILE }],
  [
    'rejected',
    {
      ...stored,
      endpoint: 'ingest',
      batch_id: null,
      status: 422,
      entries: 1,
      accepted: 0,
      reasons: [{ loc: [HOSTILE], message: HOSTILE }],
    },
  ],
])('control characters in a %s are escaped', (kind, record) => {
  const line = formatRecordLine(kind, record)
  expect(line).toContain(ESCAPED)
  expect(line.slice(0, -1)).toMatch(/^[^\p{Cc}\u2028\u202e]*$/u)
})

describe('color', () => {
  test('depends on FORCE_COLOR, otherwise on the terminal', () => {
    const paint = createPaint(process.stdout)
    vi.stubEnv('FORCE_COLOR', '1')
    expect(paint('red', 'x')).toBe('\u001b[31mx\u001b[39m')
    vi.stubEnv('FORCE_COLOR', '0')
    expect(paint('red', 'x')).toBe('x')
    vi.unstubAllEnvs()
  })

  test('depends on the level, and colors in logged text are escaped', () => {
    vi.stubEnv('FORCE_COLOR', '1')
    const line = formatEntryLine(entryOf({ level: 'error', message: '\u001b[32mforged' }), createPaint(process.stdout))
    vi.unstubAllEnvs()
    expect(line).toBe('\u001b[2m08:00:00.000\u001b[22m \u001b[31merror\u001b[39m - \\u001b[32mforged\n')
  })
})

describe('the full text', () => {
  test('has the stack, then every field, then the metadata', () => {
    const entry = entryOf({
      message: 'payment failed',
      error: { type: 'E', message: 'm', stack: 'E: m\n\tat pay (/app/a.js:1:2)\u001b[2J' },
      request: { method: 'POST', path: '/orders', status_code: 502 },
      trace: { trace_id: 't-1' },
      tags: ['a', 'b'],
      metadata: { orderId: 1017, cart: { items: [1] }, 'x\ny': null },
      breadcrumbs: [{}, {}],
    })
    expect(formatFullEntry(entry, PLAIN)).toBe(`    E: m
        at pay (/app/a.js:1:2)\\u001b[2J
    request     method POST, path /orders, status_code 502
    trace       trace_id t-1
    tags        a, b
    orderId     1017
    cart        {"items":[1]}
    x\\ny        null
    breadcrumbs 2, shown on the page
`)
  })

  test('has all lines of the message, up to a limit', () => {
    const text = formatFullEntry(
      entryOf({ message: `one\n${'two\n'.repeat(500)}`, metadata: { long: 'x'.repeat(10_000) } }),
      PLAIN,
    )
    expect(text).toMatch(/^ {4}one\n {4}two\n/)
    expect(text).toContain('    … 402 more lines\n')
    expect(text.length).toBeLessThan(5_000)
    expect(formatFullEntry(entryOf(), PLAIN)).toBe('')
  })
})
