/** Terminal lines for records of every kind: colored, and always one line. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createEntryFormat, createRecordFormat, formatFullEntry } from '../../../src/cli/local/record-line.js'
import { PLAIN, createPaint } from '../../../src/cli/shared/terminal.js'
import type { Paint } from '../../../src/cli/shared/terminal.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { RecordKind, Records } from '../../../src/service/store/stored-record.js'
import { entryOf, requestLog } from '../../service/support.js'

const HOSTILE = 'a\nb\r\u001b[2J\u202e\u2028\u0000'
const ESCAPED = 'a\\nb\\r\\u001b[2J\\u202e\\u2028\\u0000'
const stored = { id: 'x_1', seq: 1, received_at: '2026-01-31T09:30:00.500Z' }
const DAY = '2026-01-31'

function line(entry: Partial<LogEntry>, paint: Paint = PLAIN): string {
  return createEntryFormat(paint, true)({ ...stored, batch_id: null, entry: entryOf(entry) })
}

describe('an entry', () => {
  const request = { method: 'GET', path: '/orders', status_code: 502, duration_ms: 12.345 }

  test.each<[string, Partial<LogEntry>, string]>([
    [
      'has its error before the message',
      { error: { type: 'E', message: 'card\ndeclined' } },
      '- E: card\\ndeclined · hello',
    ],
    ['has its text once', { message: 'same', error: { message: 'same' } }, '- same'],
    ['has its request', { request }, '- hello GET /orders 502 12.3 ms'],
    ['has the path once', { message: 'GET /orders failed', request }, '- GET /orders failed 502 12.3 ms'],
    [
      'has the error, not what a framework says',
      { message: 'request errored', error: { type: 'E' }, request },
      '- E GET /orders 502 12.3 ms',
    ],
    [
      'has the request, not what a framework says',
      { message: 'request completed', request },
      '- GET /orders 502 12.3 ms',
    ],
    ['has all that there is', { message: 'request completed' }, '- request completed'],
    [
      'has its user and values',
      { user: { id: 'u-42' }, metadata: { orderId: 4711, cart: { total: 1.5 }, note: 'a b' } },
      '- hello user=u-42 orderId=4711 cart.total=1.5 note="a b"',
    ],
    ['is shortened', { message: 'x'.repeat(5_000) }, `- ${'x'.repeat(499)}…`],
  ])('%s', (_, entry, text) => {
    expect(line(entry)).toBe(`${DAY} 08:00:00.000 info  ${text}\n`)
  })

  test('has the time of day, and the date of another day; local or UTC', () => {
    vi.useFakeTimers({ now: new Date(`${DAY}T12:00:00Z`) })
    vi.stubEnv('TZ', 'Asia/Kolkata')
    onTestFinished(() => {
      vi.useRealTimers()
      vi.unstubAllEnvs()
    })
    const times = ['2026-01-31T08:00:00.123456789Z', '2026-01-30T23:00:00Z', '2026-01-30T01:00:00Z']
    const format = (isUtc: boolean): string[] =>
      times.map((timestamp) => {
        const text = createEntryFormat(PLAIN, isUtc)({ ...stored, batch_id: null, entry: entryOf({ timestamp }) })
        return text.slice(0, text.indexOf(' info'))
      })
    expect(format(true)).toEqual(['08:00:00.123', '2026-01-30 23:00:00.000', '2026-01-30 01:00:00.000'])
    expect(format(false)).toEqual(['13:30:00.123', '04:30:00.000', '2026-01-30 06:30:00.000'])
  })
})

const RECORDS: readonly { [K in RecordKind]: readonly [K, Records[K], string] }[RecordKind][] = [
  ['entry', { ...stored, batch_id: null, entry: entryOf() }, '08:00:00.000 info  - hello'],
  [
    'entry',
    {
      ...stored,
      batch_id: null,
      entry: entryOf({ service: 's', error: { type: 'E' }, user: { id: 'u' }, metadata: { a: 'b' } }),
    },
    '08:00:00.000 info  s E · hello user=u a=b',
  ],
  [
    'request',
    { ...stored, request: { ...requestLog, path: '/a', status_code: 503, duration_ms: 1234.5, service: 'shop' } },
    '08:00:00.000 http  shop GET /a 503 1.23 s',
  ],
  [
    'feedback',
    { ...stored, feedback: { event_id: 'e-1', comments: 'It broke', email: 'a@example.com' } },
    '09:30:00.500 feedback a@example.com on e-1: It broke',
  ],
  [
    'release',
    { ...stored, release_id: 'r-1', release: { version: '1.4.0', branch: 'main', commit_hash: 'abc' } },
    '09:30:00.500 release 1.4.0 is r-1 (abc, main)',
  ],
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
    '09:30:00.500 rejected ingest 422, 3 of 10: logs.3.level must be known (and 2 more)',
  ],
]

test.each(RECORDS)('a record of the kind %s', (kind, record, text) => {
  expect(createRecordFormat(PLAIN, true)(kind, record)).toBe(`${DAY} ${text}\n`)
})

/** Replaces all texts except those of enumerations. */
function toHostile(value: unknown): unknown {
  if (typeof value === 'string') return HOSTILE
  if (Array.isArray(value)) return value.map(toHostile)
  if (typeof value !== 'object' || value === null) return value
  const kept = ['level', 'endpoint']
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, kept.includes(name) ? one : toHostile(one)]),
  )
}

test.each(RECORDS.map(([kind, record]) => [kind, record] as const))(
  'control characters in a %s are escaped',
  (kind, record) => {
    const text = createRecordFormat(PLAIN, true)(kind, toHostile(record) as Records[typeof kind])
    expect(text).toContain(ESCAPED)
    expect(text.slice(0, -1)).toMatch(/^[^\p{Cc}\u2028\u202e]*$/u)
  },
)

describe('color', () => {
  test('depends on the level, and colors in logged text are escaped', () => {
    vi.stubEnv('FORCE_COLOR', '1')
    const text = line({ level: 'error', message: '\u001b[32mforged' }, createPaint(process.stdout))
    vi.unstubAllEnvs()
    expect(text).toContain('\u001b[31merror\u001b[39m')
    expect(text).toMatch(/ \\u001b\[32mforged\n$/)
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
    request     {"method":"POST","path":"/orders","status_code":502}
    trace       {"trace_id":"t-1"}
    tags        ["a","b"]
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
