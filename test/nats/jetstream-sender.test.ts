import { NoRespondersError, RequestError } from '@nats-io/transport-node'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { createJetStreamSender } from '../../src/nats/jetstream-sender.js'

interface Sent {
  readonly subject: string
  readonly body: Uint8Array
  readonly headers: MsgHdrs
}

const UNANSWERED = new RequestError('no responders', { cause: new NoRespondersError('a') })
const STORED = { stream: 'S', seq: 1 }
const reply = (value: object) => Promise.resolve({ json: () => value, data: Buffer.from(JSON.stringify(value)) })
const never = new AbortController().signal

/** The first publishes receive `replies`; later ones are acknowledged. */
function setup(
  replies: (object | Error)[] = [],
  { maxPayload = 10_000, info = new Error('no info') as object | Error } = {},
) {
  const sent: Sent[] = []
  const open = {
    options: {},
    info: { max_payload: maxPayload },
    request: (subject: string, body: Uint8Array, { headers }: Sent) => {
      if (subject.startsWith('$JS')) return info instanceof Error ? Promise.reject(info) : reply(info)
      sent.push({ subject, body, headers })
      const next = replies.shift() ?? STORED
      return next instanceof Error ? Promise.reject(next) : reply(next)
    },
  } as unknown as NatsConnection
  const sender = createJetStreamSender({
    connection: { use: (_, request) => request(open) },
    kind: 'logs',
    stream: 'S',
    subject: 's.logs',
    clean: (text) => `cleaned ${text}`,
  })
  return { sent, send: (batch: Batch): Promise<Outcome> => sender.send(batch, never) }
}

function batchOf(bytes = 100): Batch {
  return { batchId: 'id-1', count: 2, highestSeverity: 1, body: Buffer.alloc(bytes, 'x') }
}

test('an acknowledged or duplicate message is delivered', async () => {
  const { send, sent } = setup([STORED, { ...STORED, duplicate: true }])
  const batch = batchOf()
  const delivered = { kind: 'delivered', accepted: 2, rejected: [] }
  expect([await send(batch), await send(batch)]).toEqual([delivered, delivered])
  expect(sent[0]).toMatchObject({ subject: 's.logs', body: batch.body })
  expect(sent[0]?.headers.get('Nats-Msg-Id')).toBe('id-1')
  expect(sent[0]?.headers.get('Nats-Expected-Stream')).toBe('S')
})

test.each([{}, { stream: 'S' }, { stream: 'S', seq: 0, duplicate: true }, { stream: 'other', seq: 1 }, { seq: 1 }])(
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
  test('is retried', async () => {
    const { send } = setup([UNANSWERED])
    expect(await send(batchOf())).toMatchObject({ kind: 'retryable', queue: 'unavailable' })
    expect(await send(batchOf())).toMatchObject({ kind: 'delivered' })
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
