/** The lines of `logTo: 'debug'`: one for each attempt and decision, none with the text of a reply. */
import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/batch/outcome.js'
import { createDebugSenders, describeSize } from '../../src/delivery/debug-senders.js'
import { createIsolationSender } from '../../src/delivery/isolation/isolation-sender.js'
import { CircuitBreaker } from '../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../src/delivery/retry/retry-sender.js'
import { createDebugLog } from '../../src/diagnostics/debug-log.js'
import { FakeClock } from '../fake-clock.js'
import { batchOf, OK, ScriptedSender } from './scripted-sender.js'

const SECRET_REPLY = 'reply that quotes a record'
const DOWN: Outcome = { kind: 'retryable', status: 503, reason: SECRET_REPLY }
const BUSY: Outcome = { ...DOWN, status: 429, retryAfterMs: 5_000 }

async function linesOf(script: readonly Outcome[], batches = 1): Promise<string[]> {
  const clock = new FakeClock()
  const lines: string[] = []
  const breaker = new CircuitBreaker({
    clock,
    maxConcurrency: 8,
    retry: { minMs: 100, maxMs: 1_000 },
    random: () => 0.5,
  })
  const debug = createDebugSenders((line) => lines.push(line), breaker)
  const sender = new ScriptedSender(clock, (_, attempt) => script[attempt - 1] ?? OK, 10)
  const retrying = debug.batches(createRetrySender(debug.attempts(sender), breaker))
  const chain = createIsolationSender({ inner: retrying, breaker, random: () => 0 })
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  for (let n = 1; n <= batches; n += 1)
    void chain.send({ ...batchOf(`b${n}`), body: Buffer.from('{"logs":[{}]}') }, signal)
  await clock.advance(60_000)
  expect(lines.join('\n')).not.toContain(SECRET_REPLY)
  return lines
}

test('a batch that is accepted: one line with status and counts', async () => {
  const lines = await linesOf([{ ...OK, status: 200 } as Outcome])
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^batch b1, attempt 1: status 200, accepted 1, rejected 0, took \d+ ms$/)
})

test('an outage: replies, the open circuit with the wait, the probe, and the end', async () => {
  const lines = await linesOf([DOWN, DOWN, DOWN])
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line))
  expect(at(/b1, attempt 1: status 503, retryable/)).toBe(0)
  expect(at(/^circuit open: status 503.*next attempt in \d+ ms$/)).toBeGreaterThan(0)
  expect(at(/attempt \d+: sent after \d+ ms, probe of the half-open circuit/)).toBeGreaterThan(at(/^circuit open/))
  expect(at(/^circuit closed after \d+ ms$/)).toBe(lines.length - 1)
})

test('a Retry-After: its length', async () => {
  expect(await linesOf([BUSY])).toContain('wait 5000 ms: Retry-After of the service')
})

test('a failure without a reply: its reason, which is ours', async () => {
  const lines = await linesOf([{ kind: 'retryable', reason: 'connection refused' }])
  expect(lines[0]).toContain('connection refused')
})

test('changes of concurrency', async () => {
  expect((await linesOf([], 20)).filter((line) => /^concurrency \d+$/.test(line)).length).toBeGreaterThan(1)
})

test('a refused batch is isolated, and its parts name it', async () => {
  const clock = new FakeClock()
  const lines: string[] = []
  const breaker = new CircuitBreaker({ clock, maxConcurrency: 1, retry: { minMs: 100, maxMs: 1_000 } })
  const debug = createDebugSenders((line) => lines.push(line), breaker)
  const refused: Outcome = { kind: 'refused', status: 422, reason: SECRET_REPLY, rejected: [] }
  const sender = new ScriptedSender(clock, (_, attempt) => (attempt === 1 ? refused : OK), 10)
  const inner = debug.batches(createRetrySender(debug.attempts(sender), breaker))
  const body = Buffer.from('{"batch_id":"b1","logs":[{},{}]}')
  void createIsolationSender({ inner, breaker }).send({ ...batchOf('b1', 2), body }, new AbortController().signal)
  await clock.advance(60_000)
  expect(lines).toContain('batch b1: the service named 0 of 2 entries; searching for the rejected ones')
  expect(lines.filter((line) => line.includes(': part of b1, 1 entry')).length).toBeGreaterThan(0)
})

test('size: entries, bytes, and where the batch is', () => {
  expect(describeSize(batchOf('b', 3, 10))).toBe('3 entries, 10 bytes, in memory')
  expect(describeSize({ ...batchOf('b', 3, 0), place: { segment: 1, offset: 0 } })).toBe(
    '3 entries, body on disk only, on disk',
  )
})

test('off, there is no log: callers build no text', () => {
  expect(createDebugLog(false)).toBeUndefined()
  expect(createDebugLog(undefined)).toBeUndefined()
})

test('control characters and secrets are removed from a line', () => {
  const lines: string[] = []
  createDebugLog(
    true,
    (text) => text.replaceAll('key-123', '***'),
    (line) => lines.push(line),
  )?.('a key-123\nb')
  expect(lines).toEqual([expect.stringMatching(/^pino-ingest: debug \d{4}-\S+Z \d+ a \*\*\* b\n$/)])
})
