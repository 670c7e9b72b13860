/** Facts of an entry: every field of the interface is listed, and missing fields are omitted. */
import { expect, test } from 'vitest'
import type { LogEntry } from '../../../../src/protocol/log-entry.js'
import type { Fact } from '../../../../src/service/viewer/detail/fact.js'
import { listFacts } from '../../../../src/service/viewer/detail/fact.js'

const bare: LogEntry = { level: 'info', message: 'hello', timestamp: '2026-01-31T08:00:00.000Z' }

test('every field of a complete entry is listed', () => {
  const full: LogEntry = {
    ...bare,
    user_id: 'u-1',
    user: { id: 'u-2', email: 'jane@example.com', name: 'Jane' },
    session_id: 's-1',
    action: 'pay',
    source: 'a.js:1:2',
    request: {
      method: 'GET',
      url: 'http://h/p?q',
      path: '/p',
      status_code: 500,
      duration_ms: 12.5,
      ip: '::1',
      user_agent: 'curl',
    },
    perf: { duration_ms: 3, memory_mb: 20, db_queries: 0, cache_hits: 2 },
    trace: { trace_id: 't-1', span_id: 'sp', parent_span_id: 'pp' },
    deploy: { commit: 'c0ffee', branch: 'main', deployed_by: 'ci' },
    fingerprint: 'fp',
    release_id: 'rel',
    request_id: 'req',
    notify: true,
    notify_channels: ['mail', 'chat'],
  }
  const format = (facts: readonly Fact[]) => facts.map(({ name, value, text = value }) => `${name}: ${text}`)
  const listed = Object.entries(listFacts(full, 'computed')).map(([title, facts]) => [title, format(facts)])
  expect(Object.fromEntries(listed)).toEqual({
    Request: [
      'Method: GET',
      'Path: /p',
      'URL: http://h/p?q',
      'Status: 500',
      'Duration: 13 ms',
      'IP: ::1',
      'User agent: curl',
    ],
    User: ['Id: u-2', 'User id: u-1', 'Name: Jane', 'E-mail: jane@example.com', 'Session: s-1'],
    Performance: ['Duration: 3 ms', 'Memory: 20 MB', 'Database queries: 0', 'Cache hits: 2'],
    Context: [
      'Action: pay',
      'Source: a.js:1:2',
      'Span id: sp',
      'Parent span: pp',
      'Fingerprint: fp',
      'Commit: c0ffee',
      'Branch: main',
      'Deployed by: ci',
      'Notify: requested: mail, chat',
    ],
  })
})

test.each([
  [
    'the value of a fact is not its text',
    { request: { duration_ms: 1284.6 } },
    { field: 'duration', value: 1284.6, text: '1.28 s' },
  ],
  ['an id is listed once', { user_id: 'u', user: { id: 'u' } }, { name: 'Id', field: 'user', value: 'u' }],
  ['`notify: false` is listed', { notify: false }, { name: 'Notify', value: 'not requested' }],
])('%s', (_, entry, fact) => expect(Object.values(listFacts({ ...bare, ...entry })).flat()).toMatchObject([fact]))
