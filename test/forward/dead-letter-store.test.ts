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
  const sent: { readonly subject: string; readonly body: Buffer; readonly id: string; readonly total: number }[] = []
  const failures: string[] = []
  const current = {
    info: { max_payload: maxPayload },
    request: async (subject: string, body: Uint8Array, { headers }: { headers: MsgHdrs }) => {
      // Like the client.
      const total = body.length + (headers as unknown as { encode(): Uint8Array }).encode().length
      if (total > maxPayload) throw new Error('max_payload size exceeded')
      sent.push({ subject, body: Buffer.from(body), id: headers.get('Nats-Msg-Id'), total })
      const answer = answers[Math.min(sent.length, answers.length) - 1] ?? ''
      return { string: () => answer } as Msg
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
const REFUSED = '{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"}}'

test('publishes each letter under its own message ID', async () => {
  const { store, sent } = rig([STORED])
  expect(await store.store('requests', [letter(1), letter(7)], LIVE)).toBe(true)
  expect(sent.map(({ subject, id }) => [subject, id])).toEqual([
    ['dead.requests', 'b-1'],
    ['dead.requests', 'b-7'],
  ])
})

test.each(['{}', '{"stream":"other","seq":1}', '{"stream":"S"}'])(
  'a letter without an acknowledgement of the stream is not stored: %s',
  async (answer) => {
    const { store, sent, clock, failures } = rig([answer, STORED])
    const stored = store.store('logs', [letter(0)], LIVE)
    await clock.advance(1_000)
    expect(await stored).toBe(true)
    expect([sent.length, failures.length]).toEqual([2, 1])
  },
)

test('retries until the letter is stored or the signal is aborted', async () => {
  const { store, sent, clock, failures } = rig([REFUSED, REFUSED, STORED])
  let isStored: boolean | undefined
  void store.store('logs', [letter(0)], LIVE).then((result) => (isStored = result))
  await clock.advance(200)
  expect([isStored, sent.length, failures.length]).toEqual([undefined, 1, 1])
  await clock.advance(2_000)
  expect([isStored, sent.length]).toEqual([true, 3])
  const other = rig([REFUSED])
  const abort = new AbortController()
  const stored = other.store.store('logs', [letter(0)], abort.signal)
  await other.clock.advance(1_000)
  abort.abort()
  expect(await stored).toBe(false)
  expect(other.clock.timers).toBe(0)
})

describe('a letter that exceeds max_payload is shortened', () => {
  const entry = JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', level: 'info', message: 'x'.repeat(60_000) })

  test.each([
    ['the texts', 70_000, 60_000],
    ['texts and entry', 40_000, 15_000],
    ['for a small limit', 4_096, 1_024],
  ])('%s', async (_, maxPayload, leastBytes) => {
    const { store, sent } = rig([STORED], maxPayload)
    const text = '誤'.repeat(1_024)
    expect(await store.store('logs', [{ ...letter(0, entry, text), field: text, code: text }], LIVE)).toBe(true)
    expect(sent[0]?.total).toBeLessThanOrEqual(maxPayload)
    expect(sent[0]?.body.length).toBeGreaterThanOrEqual(leastBytes)
    expect(JSON.parse(sent[0]?.body.toString() ?? '')).toMatchObject({ level: 'info' })
  })

  test('also if it is not JSON', async () => {
    const { store, sent } = rig([STORED], 65_536)
    expect(await store.store('logs', [letter(0, '{'.repeat(100_000))], LIVE)).toBe(true)
    expect(await store.store('logs', [letter(0, '')], LIVE, Buffer.alloc(100_000))).toBe(true)
    for (const { body, total } of sent) {
      expect(total).toBeLessThanOrEqual(65_536)
      expect(body.length).toBeGreaterThan(60_000)
    }
  })
})
