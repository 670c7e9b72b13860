/** Republishing of messages that JetStream no longer delivers. */
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { OrphanedMessages } from '../../src/forward/orphaned-messages.js'
import { toStreamNames } from '../../src/nats/message.js'
import { FakeClock } from '../fake-clock.js'

const NAMES = toStreamNames({ stream: 'S', subject: 's' })
const CREATED = '2026-01-01T00:00:00Z'
const ACK_WAIT_MS = 30_000

interface Stored {
  readonly subject: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A fake stream. */
function setup(): {
  readonly clock: FakeClock
  readonly stream: Map<number, Stored>
  readonly notes: string[]
  readonly state: {
    created: string
    isFull: boolean
    isInDoubt: boolean
    isForeign: boolean
    deletes: boolean
    deniesDelete: boolean
    maxBytes: number
  }
  readonly check: (ackFloor: number, ackPending?: number) => Promise<void>
  readonly another: () => (ackFloor: number) => Promise<void>
  readonly orphaned: OrphanedMessages
} {
  const clock = new FakeClock()
  const stream = new Map<number, Stored>()
  const ids = new Set<string>()
  const notes: string[] = []
  const state = {
    created: CREATED,
    isFull: false,
    isInDoubt: false,
    isForeign: false,
    deletes: true,
    deniesDelete: false,
    maxBytes: Infinity,
  }
  let last = 100
  const answer = (subject: string, body: string, headers: Record<string, string>): object => {
    if (subject === '$JS.API.STREAM.MSG.GET.S') {
      const { seq, next_by_subj: wanted } = JSON.parse(body) as { seq: number; next_by_subj: string }
      const bySequence = [...stream].toSorted(([a], [b]) => a - b)
      const found = bySequence.find(([at, message]) => at >= seq && message.subject === wanted)
      if (found === undefined) return { error: { err_code: 10_037, description: 'no message found' } }
      const [at, message] = found
      const lines = Object.entries(message.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const encode = (text: string): string => Buffer.from(text).toString('base64')
      return {
        message: { seq: at, data: encode(message.body), hdrs: encode(`NATS/1.0\r\n${lines.join('')}\r\n`) },
      }
    }
    if (subject === '$JS.API.STREAM.MSG.DELETE.S') {
      if (!state.deletes) throw new Error('timeout')
      if (state.deniesDelete) return { error: { err_code: 10_057, description: 'message delete not permitted' } }
      const { seq } = JSON.parse(body) as { seq: number }
      return stream.delete(seq) ? { success: true } : { error: { err_code: 10_043, description: 'no message' } }
    }
    if (state.isFull) return { error: { err_code: 10_077, description: 'maximum bytes exceeded' } }
    if (state.isInDoubt) return { stream: 'S', duplicate: true, seq: 0 }
    if (state.isForeign) return {}
    if (body.length > state.maxBytes) return { error: { err_code: 10_054, description: 'message size exceeds' } }
    const id = headers['Nats-Msg-Id'] ?? ''
    if (ids.has(id)) return { stream: 'S', duplicate: true, seq: 1 }
    ids.add(id)
    stream.set((last += 1), { subject, body, headers })
    return { stream: 'S', seq: last }
  }
  const connection = {
    request: async (subject: string, body: string | Uint8Array, options: { headers?: MsgHdrs }) => {
      const { headers } = options
      const own = Object.fromEntries((headers?.keys() ?? []).map((name) => [name, headers?.get(name) ?? '']))
      const text = JSON.stringify(answer(subject, Buffer.from(body).toString(), own))
      return { string: () => text, data: Buffer.from(text) as Uint8Array } as Msg
    },
    options: {},
  } as unknown as NatsConnection
  const create = (): OrphanedMessages =>
    new OrphanedMessages({
      connection: { current: connection },
      incarnation: {
        get id() {
          return CREATED
        },
        isStill: async (id) => id === state.created,
      },
      names: NAMES,
      report: { note: (_, text) => void notes.push(text) },
      clock,
    })
  const range = (): { first: number; last: number } => ({ first: Math.min(...stream.keys()), last })
  const checkBy =
    (one: OrphanedMessages) =>
    (ackFloor: number, ackPending = 1) =>
      one.check(range(), [{ kind: 'logs', ackFloor, ackPending, pending: 0, ackWaitMs: ACK_WAIT_MS }])
  const orphaned = create()
  return { clock, stream, notes, state, orphaned, check: checkBy(orphaned), another: () => checkBy(create()) }
}

function batch(id: string, subject = 's.logs'): Stored {
  const headers = { 'Nats-Msg-Id': id, 'Nats-Expected-Stream': 'S', 'Pino-Ingest-Count': '2' }
  return { subject, body: `body of ${id}`, headers }
}

test('an orphaned message is republished after ack_wait under its batch id, and deleted', async () => {
  const { clock, stream, check, notes, orphaned } = setup()
  stream.set(3, batch('a'))
  stream.set(8, batch('not acknowledged'))
  await check(5)
  await clock.advance(ACK_WAIT_MS - 1_000)
  await check(5)
  expect([...stream.keys()]).toEqual([3, 8])
  await clock.advance(2_000)
  await check(6)
  expect([...stream.keys()]).toEqual([8, 101])
  expect(stream.get(101)).toEqual({
    subject: 's.logs',
    body: 'body of a',
    headers: {
      'Pino-Ingest-Count': '2',
      'Pino-Ingest-Batch-Id': 'a',
      'Nats-Msg-Id': `orphan-${CREATED}-3-a`,
      'Nats-Expected-Stream': 'S',
    },
  })
  expect(orphaned.republished).toBe(1)
  expect(notes).toHaveLength(1)
})

test('a message that is orphaned again keeps its batch id', async () => {
  const { clock, stream, check } = setup()
  stream.set(3, batch('a'))
  for (const floor of [5, 200]) {
    await check(floor)
    await clock.advance(ACK_WAIT_MS + 1)
    await check(floor)
  }
  expect([...stream.values()].map(({ headers }) => headers['Pino-Ingest-Batch-Id'])).toEqual(['a'])
  expect([...stream.keys()]).toEqual([102])
})

test('another batch at the same sequence is not a duplicate', async () => {
  const { clock, stream, check } = setup()
  for (const id of ['a', 'b']) {
    stream.set(3, batch(id))
    await check(5)
    await clock.advance(ACK_WAIT_MS + 1)
    await check(5)
  }
  expect([...stream].map(([at, { body }]) => [at, body])).toEqual([
    [101, 'body of a'],
    [102, 'body of b'],
  ])
})

test('messages that were acknowledged just before may still be deleted by JetStream', async () => {
  const { clock, stream, check } = setup()
  stream.set(3, batch('a', 's.requests'))
  await check(5)
  await clock.advance(ACK_WAIT_MS + 1)
  stream.set(7, batch('b'))
  await check(9)
  expect([...stream.keys()]).toEqual([3, 7])
})

test('messages unknown to an idle consumer are republished, unless it continues', async () => {
  const { clock, stream, check } = setup()
  stream.set(90, batch('a'))
  await check(80, 0)
  await clock.advance(ACK_WAIT_MS + 1)
  await check(80, 1)
  await check(80, 0)
  expect([...stream.keys()]).toEqual([90])
  await clock.advance(ACK_WAIT_MS + 1)
  await check(80, 0)
  expect([...stream.keys()]).toEqual([101])
})

test('messages above a floor that moved back are not republished', async () => {
  const { clock, stream, check } = setup()
  stream.set(3, batch('a'))
  await check(5)
  await clock.advance(ACK_WAIT_MS + 1)
  await check(2)
  await check(5)
  expect([...stream.keys()]).toEqual([3])
})

test('several forwarders republish a message once', async () => {
  const { clock, stream, check, another, state, orphaned } = setup()
  stream.set(3, batch('a'))
  const other = another()
  await Promise.all([check(5), other(5)])
  await clock.advance(ACK_WAIT_MS + 1)
  state.deletes = false
  await check(5)
  state.deletes = true
  await other(5)
  await check(5)
  expect([...stream.keys()]).toEqual([101])
  expect(orphaned.republished).toBe(1)
})

test.each(['isFull', 'isInDoubt', 'isForeign'] as const)(
  'a message is kept until its copy is stored: %s',
  async (reason) => {
    const { clock, stream, check, state, orphaned } = setup()
    stream.set(3, batch('a'))
    await check(5)
    await clock.advance(ACK_WAIT_MS + 1)
    state[reason] = true
    await check(5)
    expect([...stream.keys()]).toEqual([3])
    state[reason] = false
    await check(5)
    expect([...stream.keys()]).toEqual([101])
    expect(orphaned.republished).toBe(1)
  },
)

test.each<[string, Partial<Stored>]>([
  ['it exceeds the size limit of the stream', { body: 'x'.repeat(100) }],
  ['the client refuses its headers', { headers: { 'not a name': '' } }],
])('a message that cannot be republished does not block the others: %s', async (_, changes) => {
  const { clock, stream, check, state, notes, orphaned } = setup()
  stream.set(3, { ...batch('a'), ...changes })
  stream.set(4, batch('b'))
  state.maxBytes = 50
  await check(5)
  await clock.advance(ACK_WAIT_MS + 1)
  await check(5)
  expect([...stream.keys()]).toEqual([3, 101])
  expect([orphaned.republished, notes.length]).toEqual([1, 1])
})

test('a message that cannot be deleted is counted and reported once', async () => {
  const { clock, stream, check, state, notes, orphaned } = setup()
  stream.set(3, batch('a'))
  state.deniesDelete = true
  for (let round = 0; round < 3; round += 1) {
    await check(5)
    await clock.advance(ACK_WAIT_MS + 1)
    await check(5)
  }
  expect([...stream.keys()]).toEqual([3, 101])
  expect([orphaned.republished, notes.length]).toEqual([1, 1])
})

test('nothing is deleted from a new stream with the same name', async () => {
  const { clock, stream, check, state } = setup()
  stream.set(3, batch('a'))
  await check(5)
  await clock.advance(ACK_WAIT_MS + 1)
  state.created = 'later'
  await check(5)
  expect(stream.has(3)).toBe(true)
})
