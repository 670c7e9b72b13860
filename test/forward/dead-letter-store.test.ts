/** Storing rejected entries in the dead-letter stream. */
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import type { DeadLetter } from '../../src/batch/batch.js'
import { DeadLetterStore } from '../../src/forward/dead-letter-store.js'
import { FakeClock } from '../fake-clock.js'

const LIVE = new AbortController().signal

function letter(index: number, entry = '{"message":"m"}', reason = 'wrong'): DeadLetter {
  return { batchId: 'b', index, status: 422, code: 'C', field: 'f', reason, entry }
}

function rig(answers: readonly string[], maxPayload = 1_048_576) {
  const clock = new FakeClock()
  const sent: { readonly subject: string; readonly body: Buffer; readonly id: string }[] = []
  const failures: string[] = []
  const current = {
    options: {},
    info: { max_payload: maxPayload },
    request: async (subject: string, body: Uint8Array, { headers }: { headers: MsgHdrs }) => {
      // Like the client.
      const total = body.length + (headers as unknown as { encode(): Uint8Array }).encode().length
      if (total > maxPayload) throw new Error('max_payload size exceeded')
      sent.push({ subject, body: Buffer.from(body), id: headers.get('Nats-Msg-Id') })
      const answer = answers[Math.min(sent.length, answers.length) - 1] ?? ''
      return { data: Buffer.from(answer) } as unknown as Msg
    },
  } as unknown as NatsConnection
  const store = new DeadLetterStore({
    connection: { current },
    names: { deadStream: 'S', deadSubject: 'dead' },
    health: { failed: (part) => void failures.push(part), works: () => {} },
    clock,
  })
  return { clock, sent, failures, store }
}

const STORED = '{"stream":"S","seq":1}'

test('publishes each letter under its own message ID', async () => {
  const { store, sent } = rig([STORED])
  expect(await store.store('requests', [letter(1), letter(7)], LIVE)).toBe(true)
  expect(sent.map(({ subject, id }) => [subject, id])).toEqual([
    ['dead.requests', 'b-1'],
    ['dead.requests', 'b-7'],
  ])
})

test('stores a message that is not a batch unchanged', async () => {
  const { store, sent } = rig([STORED])
  expect(await store.store('logs', [letter(0, '')], LIVE, Buffer.from([0xff, 0]))).toBe(true)
  expect(sent[0]?.body).toEqual(Buffer.from([0xff, 0]))
})

test.each([
  ['a refusal', '{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"}}'],
  ['a message in doubt', '{"error":{"code":500,"err_code":10158,"description":"message in doubt"}}'],
  ['a duplicate in doubt', '{"stream":"S","seq":0,"duplicate":true}'],
  ['an acknowledgement of another stream', '{"stream":"other","seq":1}'],
  ['a reply that is none of JetStream', '{}'],
])('retries after %s', async (_, answer) => {
  const { store, sent, clock, failures } = rig([answer, answer, STORED])
  const stored = store.store('logs', [letter(0)], LIVE)
  await clock.advance(10_000)
  expect(await stored).toBe(true)
  expect([sent.length, failures.length, clock.timers]).toEqual([3, 2, 0])
})

test('ends when the signal is aborted', async () => {
  const { store, clock, failures } = rig(['{}'])
  const abort = new AbortController()
  const stored = store.store('logs', [letter(0)], abort.signal)
  await clock.advance(3_500)
  expect(failures.length).toBeGreaterThan(1)
  abort.abort()
  expect(await stored).toBe(false)
  expect(clock.timers).toBe(0)
})

describe('a letter that exceeds max_payload is shortened', () => {
  const entry = JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', level: 'info', message: 'x'.repeat(60_000) })

  test.each([
    ['with long texts of the service', '誤'.repeat(1_024), 60_100, 15_000],
    ['for a small limit', 'wrong', 4_096, 500],
  ])('%s', async (_, text, maxPayload, leastBytes) => {
    const { store, sent } = rig([STORED], maxPayload)
    expect(await store.store('logs', [{ ...letter(0, entry, text), field: text, code: text }], LIVE)).toBe(true)
    expect(sent[0]?.body.length).toBeGreaterThanOrEqual(leastBytes)
    expect(JSON.parse(sent[0]?.body.toString() ?? '')).toMatchObject({ level: 'info' })
  })

  test('also if it is not JSON', async () => {
    const { store, sent } = rig([STORED], 65_536)
    expect(await store.store('logs', [letter(0, '{'.repeat(100_000))], LIVE)).toBe(true)
    expect(await store.store('logs', [letter(0, '')], LIVE, Buffer.alloc(100_000))).toBe(true)
    for (const { body } of sent) expect(body.length).toBeGreaterThan(40_000)
  })
})
