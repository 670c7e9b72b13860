/** The lines of `logTo: 'debug'`: one for each attempt and decision, none with the text of a reply. */
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/batch/outcome.js'
import { createDebugListener, describeSize } from '../../src/delivery/debug-events.js'
import { createDebugLog } from '../../src/diagnostics/debug-log.js'
import { batchFrom, batchOf, many, OK, seeded, setup } from './setup.js'

const SECRET_REPLY = 'reply that quotes a record'
const DOWN: Outcome = { kind: 'retryable', status: 503, reason: SECRET_REPLY }

async function linesOf(script: readonly Outcome[], batches = many(1)): Promise<string[]> {
  const lines: string[] = []
  const listener = createDebugListener((line) => lines.push(line))
  const one = setup(({ number }) => script[number - 1] ?? OK, { random: seeded(1) })
  one.enqueue(...batches)
  await one.clock.advance(60_000)
  for (const event of one.events) listener(event)
  expect(lines.join('\n')).not.toContain(SECRET_REPLY)
  return lines.slice(1)
}

test('a batch that is accepted: one line with status and counts', async () => {
  expect(await linesOf([{ kind: 'delivered', accepted: 1, rejected: [], status: 200 }])).toEqual([
    expect.stringMatching(/^batch b0, attempt 1: status 200, accepted 1, rejected 0, took \d+ ms$/),
  ])
})

test('an outage: replies, the wait, the probe, and the end', async () => {
  const lines = await linesOf([DOWN, DOWN])
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line))
  expect(at(/b0, attempt 1: status 503, retryable/)).toBe(0)
  expect(at(/^log service down: status 503.*next attempt in \d+ ms$/)).toBe(1)
  expect(at(/sent again, probe/)).toBeGreaterThan(1)
  expect(at(/^log service accepts entries again$/)).toBeGreaterThan(at(/sent again, probe/))
})

test('a Retry-After: its length; a failure without a reply: its reason, which is ours', async () => {
  expect(await linesOf([{ ...DOWN, retryAfterMs: 5_000 } as Outcome])).toContainEqual(
    expect.stringMatching(/^wait 5\d\d\d ms: Retry-After of the log service$/),
  )
  expect((await linesOf([{ kind: 'retryable', reason: 'connection refused' }]))[0]).toContain('connection refused')
})

test('changes of concurrency', async () => {
  expect((await linesOf([], many(20))).filter((line) => /^concurrency \d+$/.test(line)).length).toBeGreaterThan(1)
})

test('a refused batch: its parts name it', async () => {
  const lines = await linesOf(
    [{ kind: 'refused', status: 422, reason: SECRET_REPLY, rejected: [] }],
    [batchFrom('b1', 2)],
  )
  expect(lines[0]).toContain('refused, named 0')
  expect(lines.some((line) => line.includes('part of b1, 1 entry'))).toBe(true)
})

test('size: entries, bytes, and where the batch is', () => {
  expect(describeSize(batchOf('b', 3, 10))).toBe('3 entries, 10 bytes, in memory')
  expect(describeSize({ ...batchOf('b', 3, 0), place: { segment: 1, offset: 0 } })).toBe(
    '3 entries, body on disk only, on disk',
  )
})

test('off, there is no log; on, control characters and secrets are removed from a line', () => {
  expect(createDebugLog(false)).toBeUndefined()
  const lines: string[] = []
  createDebugLog(
    true,
    (text) => text.replaceAll('key-123', '***'),
    (line) => lines.push(line),
  )?.('a key-123\nb')
  expect(lines).toEqual([expect.stringMatching(/^pino-ingest: debug \d{4}-\S+Z \d+ a \*\*\* b\n$/)])
})
