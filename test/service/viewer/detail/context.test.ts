/** Facts of an entry: every field of the interface is listed, and missing fields are omitted. */
import { expect, test } from 'vitest'
import type { LogEntry } from '../../../../src/protocol/log-entry.js'
import type { Fact } from '../../../../src/service/viewer/detail/fact.js'
import {
  listContextFacts,
  listPerfFacts,
  listRequestFacts,
  listUserFacts,
} from '../../../../src/service/viewer/detail/context.js'

const bare: LogEntry = { level: 'info', message: 'hello', timestamp: '2026-01-31T08:00:00.000Z' }

test('a minimal entry has no facts', () => {
  for (const facts of [listRequestFacts, listUserFacts, listPerfFacts]) expect(facts(bare)).toEqual([])
  expect(listContextFacts(bare, undefined)).toEqual([])
})

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
  expect(format(listRequestFacts(full))).toEqual([
    'Method: GET',
    'Path: /p',
    'URL: http://h/p?q',
    'Status: 500',
    'Duration: 13 ms',
    'IP: ::1',
    'User agent: curl',
  ])
  expect(format(listUserFacts(full))).toEqual([
    'Id: u-2',
    'User id: u-1',
    'Name: Jane',
    'E-mail: jane@example.com',
    'Session: s-1',
  ])
  expect(format(listPerfFacts(full))).toEqual([
    'Duration: 3 ms',
    'Memory: 20 MB',
    'Database queries: 0',
    'Cache hits: 2',
  ])
  expect(format(listContextFacts(full, 'computed'))).toEqual([
    'Action: pay',
    'Source: a.js:1:2',
    'Request id: req',
    'Trace id: t-1',
    'Span id: sp',
    'Parent span: pp',
    'Fingerprint: fp',
    'Release id: rel',
    'Commit: c0ffee',
    'Branch: main',
    'Deployed by: ci',
    'Notify: requested: mail, chat',
  ])
})

test('ids are links to the entries that share them', () => {
  const facts = listContextFacts({ ...bare, request_id: 'r', trace: { trace_id: 't' }, release_id: 'l' }, 'computed')
  expect(facts.map(({ field, value, isLink }) => [field, value, isLink])).toEqual([
    ['request_id', 'r', true],
    ['trace_id', 't', true],
    ['fingerprint', 'computed', true],
    ['release_id', 'l', true],
  ])
})

test('filters use the value of a fact, not its text', () => {
  const [duration] = listRequestFacts({ ...bare, request: { duration_ms: 1284.6 } })
  expect(duration).toEqual({ name: 'Duration', field: 'duration', value: 1284.6, text: '1.28 s' })
})

test('an id is listed once, and `notify: false` is listed', () => {
  expect(listUserFacts({ ...bare, user_id: 'u', user: { id: 'u' } })).toEqual([
    { name: 'Id', field: 'user', value: 'u' },
  ])
  expect(listContextFacts({ ...bare, notify: false }, undefined)).toEqual([{ name: 'Notify', value: 'not requested' }])
})
