/** An error entry has the preceding lines of its scope as breadcrumbs, including lines below the sent level. */
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { piped } from './create-pipeline.js'

const messagesOf = ({ breadcrumbs = [] }: LogEntry): (string | undefined)[] => breadcrumbs.map(({ message }) => message)

test('50 concurrent requests: each error has the lines of its own request in order, and no debug line is sent', async () => {
  const { write, arrived, pipeline } = await piped()
  const requests = Array.from({ length: 50 }, (_, id) => id)
  for (let step = 0; step < 10; step += 1)
    for (const id of requests) write({ level: 20, reqId: `req-${id}`, step, msg: `step ${step} of ${id}` })
  for (const id of requests) {
    if (id % 10 === 0)
      write({
        level: 50,
        reqId: `req-${id}`,
        err: { type: 'Error', message: `failed ${id}`, stack: 'Error\n    at a (/a.js:1:1)' },
        msg: 'request failed',
      })
    write({ reqId: `req-${id}`, msg: `end of ${id}` })
  }
  const entries = await arrived()
  expect(entries.filter(({ level }) => level === 'debug')).toEqual([])
  const errors = entries.filter(({ level }) => level === 'error')
  expect(errors.map(messagesOf)).toEqual(
    requests
      .filter((id) => id % 10 === 0)
      .map((id) => Array.from({ length: 10 }, (_, step) => `step ${step} of ${id}`)),
  )
  expect(errors[1]?.breadcrumbs?.[3]).toEqual({
    type: 'log',
    category: 'log',
    message: 'step 3 of 10',
    level: 'debug',
    timestamp: expect.any(String),
    data: { step: 3 },
  })
  expect(entries.filter(({ level, breadcrumbs }) => level !== 'error' && breadcrumbs !== undefined)).toEqual([])
  expect(pipeline.snapshot).toMatchObject({
    received: 555,
    accepted: 55,
    filtered: 500,
    pending: 0,
    balances: true,
  })
})

test('prefers the own trace, then request, session and process', async () => {
  const { write, arrived } = await piped()
  write(
    { trace_id: 't', reqId: 'r', msg: 'traced' },
    { reqId: 'r', session_id: 's', msg: 'requested' },
    { session_id: 's', msg: 'in the session' },
    { msg: 'anywhere' },
  )
  write(
    { level: 50, trace_id: 't', reqId: 'other', msg: 'a' },
    { level: 50, reqId: 'r', msg: 'b' },
    { level: 60, session_id: 's', msg: 'c' },
    { level: 50, msg: 'd' },
  )
  const entries = await arrived()
  expect(entries.slice(-4).map(messagesOf)).toEqual([['traced'], ['requested'], ['in the session'], ['anywhere']])
})

test('attaches a breadcrumb to one error; the error becomes a breadcrumb of the next', async () => {
  const { write, arrived } = await piped()
  const records = ['before', 'first', 'second'].map((msg, at) => ({ level: at === 0 ? 20 : 50, reqId: 1, msg }))
  write(...records)
  expect((await arrived()).map(messagesOf)).toEqual([['before'], ['first']])
})

const REQ = { method: 'GET', url: '/', headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } }

test.each([
  ["pino-http's records", (id: string) => ({ req: { ...REQ, id } })],
  ['records that are parsed', (id: string) => ({ req: { ...REQ, id }, url: null, user: null, userId: null })],
  ['a traceparent outside of `req`', (id: string) => ({ reqId: id, traceparent: REQ.headers.traceparent })],
])("requests with the caller's trace have their own scopes: %s", async (_, fieldsOf) => {
  const { write, arrived } = await piped()
  for (const id of ['1', '2', '3']) write({ ...fieldsOf(id), msg: `line of ${id}` })
  write({ level: 50, ...fieldsOf('2'), msg: 'failed' })
  expect((await arrived()).map(messagesOf)).toEqual([[], [], [], ['line of 2']])
})

test("without a request id, records with the caller's trace share a scope, before that of the session", async () => {
  const { write, arrived } = await piped()
  write({ req: REQ, msg: 'asked' }, { session_id: 's', msg: 'in the session' })
  write({ level: 50, req: REQ, session_id: 's', msg: 'failed' })
  expect((await arrived()).at(-1)).toMatchObject({ breadcrumbs: [{ message: 'asked' }] })
})

test("merges a record's own breadcrumbs by time", async () => {
  const { write, arrived } = await piped()
  write({ level: 20, msg: 'early' })
  write({
    level: 50,
    breadcrumbs: [
      { message: 'own', timestamp: '2020-01-01T00:00:00.000Z' },
      { message: 'late', timestamp: '2030-01-01T00:00:00.000Z' },
    ],
    msg: 'failed',
  })
  expect((await arrived()).map(messagesOf)).toEqual([['own', 'early', 'late']])
})

test.each([
  [{ level: 'info' }, ['info', 'warn']],
  [{ level: 'trace' }, ['trace', 'debug', 'info', 'warn']],
  [{ limit: 2 }, ['info', 'warn']],
  [undefined, ['debug', 'info', 'warn']],
  [false, []],
] as const)('with breadcrumbs %j', async (breadcrumbs, expected) => {
  const { write, arrived } = await piped({ breadcrumbs, sendLevel: 'error' })
  const levels = { trace: 10, debug: 20, info: 30, warn: 40 }
  write(...Object.entries(levels).map(([msg, level]) => ({ level, msg })), { level: 50, msg: 'failed' })
  const entries = await arrived()
  expect(entries.map(messagesOf)).toEqual([expected])
})

test('shortens an entry to make room for its breadcrumbs', async () => {
  const { write, arrived } = await piped({ maxEntryBytes: 8_192 })
  for (let n = 0; n < 10; n += 1) write({ level: 20, msg: `${n} ${'.'.repeat(100)}` })
  write({ level: 50, dump: 'x'.repeat(100_000), msg: 'failed' })
  const [entry] = await arrived()
  expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThanOrEqual(8_192)
  expect(entry?.breadcrumbs?.length).toBeGreaterThan(7)
  expect(messagesOf(entry as LogEntry).at(-1)).toMatch(/^9 /)
})
