import { NoRespondersError, RequestError } from '@nats-io/transport-node'
import type { MsgHdrs } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { createJetStreamSender } from '../../src/nats/jetstream-sender.js'
import type { OpenConnection } from '../../src/nats/publisher-connection.js'
import { FakeClock } from '../fake-clock.js'

interface Sent {
  readonly subject: string
  readonly body: Uint8Array
  readonly headers: MsgHdrs
  readonly msgID: string
  readonly expect: { readonly streamName: string }
}

const UNANSWERED = new RequestError('no responders', { cause: new NoRespondersError('a') })
const STORED = { stream: 'S', seq: 1 }
const never = new AbortController().signal

/** The first publishes receive `replies`; later ones are acknowledged. */
function setup(
  replies: (object | Error)[] = [],
  { maxPayload = 10_000, info = new Error('no info') as object | Error } = {},
) {
  const clock = new FakeClock()
  const sent: Sent[] = []
  const open = {
    connection: {
      info: { max_payload: maxPayload },
      request: () => (info instanceof Error ? Promise.reject(info) : Promise.resolve({ json: () => info })),
    },
    jetstream: {
      publish: (subject: string, body: Uint8Array, options: Sent) => {
        sent.push({ ...options, subject, body })
        const reply = replies.shift() ?? STORED
        return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply)
      },
    },
  } as never as OpenConnection
  const sender = createJetStreamSender({
    connection: { use: (_, request) => request(open) },
    kind: 'logs',
    stream: 'S',
    subject: 's.logs',
    clock,
    clean: (text) => `cleaned ${text}`,
  })
  return { clock, sent, send: (batch: Batch): Promise<Outcome> => sender.send(batch, never) }
}

function batchOf(bytes = 100): Batch {
  return { batchId: 'id-1', count: 2, highestSeverity: 1, body: Buffer.alloc(bytes, 'x') }
}

test('an acknowledged or duplicate message is delivered', async () => {
  const { send, sent } = setup([STORED, { ...STORED, duplicate: true }])
  const batch = batchOf()
  const delivered = { kind: 'delivered', accepted: 2, rejected: [] }
  expect([await send(batch), await send(batch)]).toEqual([delivered, delivered])
  expect(sent[0]).toMatchObject({ subject: 's.logs', body: batch.body, msgID: 'id-1', expect: { streamName: 'S' } })
})

test.each([{}, { stream: 'S' }, { stream: 'S', seq: 0 }, { stream: 'other', seq: 1 }, { seq: 1 }])(
  'a reply that is not an acknowledgement of the stream is a failure: %o',
  async (answer) => {
    const { send } = setup([answer])
    expect(await send(batchOf())).toMatchObject({ kind: 'retryable', queue: 'unavailable' })
    expect(await send(batchOf())).toMatchObject({ kind: 'delivered' })
  },
)

test('a batch that exceeds max_payload with its headers is refused without a request', async () => {
  const { send, sent } = setup([], { maxPayload: 4_096 })
  expect(await send(batchOf(3_073))).toMatchObject({ kind: 'refused', status: 413, rejected: [] })
  expect(sent).toEqual([])
  expect(await send(batchOf(3_072))).toMatchObject({ kind: 'delivered' })
})

test('a batch without a body is never published', async () => {
  const { send, sent } = setup()
  expect(await send(batchOf(0))).toMatchObject({ kind: 'abandoned' })
  expect(sent).toEqual([])
})

test('removes secrets and control characters from texts of the servers', async () => {
  const { send } = setup([new Error('something')])
  expect(await send(batchOf())).toMatchObject({ kind: 'retryable', reason: 'cleaned something' })
})

describe('a publish without a responder', () => {
  test('is retried for 60 s, then reported as a misconfiguration until a batch is accepted', async () => {
    const { send, clock } = setup([UNANSWERED, UNANSWERED, UNANSWERED, STORED, UNANSWERED])
    const batch = batchOf()
    expect(await send(batch)).toMatchObject({ kind: 'retryable', queue: 'unavailable' })
    await clock.advance(59_000)
    expect(await send(batch)).toMatchObject({ kind: 'retryable', queue: 'unavailable' })
    await clock.advance(1_000)
    expect(await send(batch)).toMatchObject({ kind: 'endpoint-rejected', queue: 'misconfigured' })
    expect(await send(batch)).toMatchObject({ kind: 'delivered' })
    expect(await send(batch)).toMatchObject({ kind: 'retryable' })
  })

  test('restarts the 60 s after another failure, since returning servers elect a leader', async () => {
    const { send, clock } = setup([UNANSWERED, new Error('connection refused'), UNANSWERED, UNANSWERED])
    const batch = batchOf()
    const outcomes: Outcome[] = []
    for (const ms of [0, 59_000, 1_000, 60_000]) {
      await clock.advance(ms)
      outcomes.push(await send(batch))
    }
    expect(outcomes.map(({ kind }) => kind)).toEqual(['retryable', 'retryable', 'retryable', 'endpoint-rejected'])
  })

  test('is reported immediately if the stream does not exist', async () => {
    const { send } = setup([UNANSWERED], { info: { error: { code: 404, err_code: 10_059 } } })
    expect(await send(batchOf())).toMatchObject({
      kind: 'endpoint-rejected',
      queue: 'misconfigured',
      reason: expect.stringContaining('S does not exist'),
    })
  })
})

describe('a message in doubt', () => {
  const conflict = Object.assign(new Error('duplicate message id is in process'), { code: 10_158 })

  const timeout = Object.assign(new Error('timeout'), { name: 'TimeoutError' })

  /** Sends the batch again at these times, in seconds. @returns the message IDs */
  const idsOf = async (replies: (object | Error)[], ...seconds: readonly number[]): Promise<string[]> => {
    const { clock, send, sent } = setup(replies)
    const kinds: string[] = []
    for (const at of seconds) {
      await clock.advance(at * 1_000 - clock.now())
      kinds.push((await send(batchOf())).kind)
    }
    expect(kinds).toEqual(seconds.map((_, at) => (at < seconds.length - 1 ? 'retryable' : 'delivered')))
    for (const { msgID, headers } of sent)
      expect(headers.get('Pino-Ingest-Batch-Id')).toBe(msgID === 'id-1' ? '' : 'id-1')
    return sent.map(({ msgID }) => msgID)
  }

  describe.each([
    ['before 2.11', { stream: 'S', seq: 0, duplicate: true }],
    ['since', conflict],
  ])('%s', (_, doubt) => {
    test('gets another ID after 10 s in doubt, repeatedly', async () => {
      const ids = await idsOf([doubt, doubt, doubt, doubt, doubt], 0, 1, 11, 12, 22, 23)
      expect(ids).toEqual(['id-1', 'id-1', 'id-1', 'id-1-1', 'id-1-1', 'id-1-2'])
    })

    test('is first retried under its own ID, even later, since it may be stored by then', async () => {
      expect(await idsOf([doubt, { ...STORED, duplicate: true }], 0, 60)).toEqual(['id-1', 'id-1'])
    })

    test('keeps its ID after a timeout', async () => {
      const ids = await idsOf([doubt, timeout, doubt, timeout, timeout], 0, 30, 60, 61, 91, 121)
      expect(ids).toEqual(['id-1', 'id-1', 'id-1', 'id-1-1', 'id-1-1', 'id-1-1'])
    })
  })

  test('starts with its own ID again after it was stored', async () => {
    const { clock, send, sent } = setup([conflict, conflict])
    for (const ms of [10_000, 10_000, 10_000, 10_000]) {
      await clock.advance(ms)
      await send(batchOf())
    }
    expect(sent.map(({ msgID }) => msgID)).toEqual(['id-1', 'id-1', 'id-1-1', 'id-1'])
  })
})
