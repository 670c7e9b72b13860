/** Batches of replayed dead letters, and when the letters are deleted. */
import type { JetStreamPublishOptions } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { createSubBatchId, parseBatchEntries } from '../../../src/batch/sub-batch.js'
import { republishLetter } from '../../../src/cli/forward/forward-dead-replay.js'
import { toStreamNames } from '../../../src/nats/message.js'

const LETTER = {
  batchId: '11111111-2222-4333-8444-555555555555',
  index: 3,
  status: 422,
  code: 'INVALID',
  field: 'metadata',
  reason: 'wrong',
  entry: '{"big":12345678901234567890}',
  sequence: 7,
  kind: 'logs',
  at: '2026-01-01T00:00:00Z',
  bytes: 28,
} as const

async function replay(changes: { batchId?: string; index?: number; entry?: string } = {}, stream = 'S') {
  const published: { readonly id: string | undefined; readonly body: Buffer }[] = []
  const deleted: number[] = []
  const publish = async (_: string, body: Uint8Array, { msgID }: JetStreamPublishOptions) => {
    published.push({ id: msgID, body: Buffer.from(body) })
    return { stream, seq: 1, duplicate: false }
  }
  const deleteMessage = async (_: string, sequence: number): Promise<boolean> => deleted.push(sequence) > 0
  const session = {
    jetstream: { publish },
    manager: { streams: { deleteMessage } },
    names: toStreamNames({ stream: 'S', subject: 's' }),
  } as unknown as Parameters<typeof republishLetter>[0]
  const isPublished = await republishLetter(session, { ...LETTER, ...changes }).catch(() => 'failed')
  return { isPublished, deleted, id: published[0]?.id ?? '', body: published[0]?.body ?? Buffer.alloc(0) }
}

test('a letter is deleted when the queue, and no other stream, has stored its entry', async () => {
  const { body, id, ...rest } = await replay()
  expect(rest).toEqual({ isPublished: true, deleted: [7] })
  expect(parseBatchEntries(body)).toEqual([LETTER.entry])
  expect(JSON.parse(body.toString())).toMatchObject({ batch_id: id })
  expect(await replay({}, 'other')).toMatchObject({ isPublished: 'failed', deleted: [] })
})

test('its batch has the same id in each replay, different from sub-batches and other letters', async () => {
  const { id } = await replay()
  expect((await replay()).id).toBe(id)
  const others = [(await replay({ index: 4 })).id, (await replay({ batchId: id })).id]
  expect([LETTER.batchId, createSubBatchId(LETTER.batchId, [3]), ...others]).not.toContain(id)
})

test.each(['', 'text', '[1]', 'null', '{"a"', '\ufffd\u0000'])(
  'a letter without an entry is kept: %j',
  async (entry) => {
    expect(await replay({ entry })).toMatchObject({ isPublished: false, deleted: [] })
  },
)
