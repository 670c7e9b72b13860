/** Deletion of replayed dead letters. */
import type { JetStreamPublishOptions } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { republishLetter } from '../../../src/cli/forward/forward-dead-replay.js'
import { toStreamNames } from '../../../src/nats/message.js'

const LETTER = {
  batchId: '11111111-2222-4333-8444-555555555555',
  index: 3,
  status: 422,
  code: 'INVALID',
  field: 'metadata',
  reason: 'wrong',
  entry: '{"message":"m"}',
  sequence: 7,
  kind: 'logs',
  at: '2026-01-01T00:00:00Z',
  bytes: 15,
} as const

/** @param stream the stream with the subject of logs */
async function replay(stream: string, answer: object = { stream, seq: 1, duplicate: false }) {
  const stored: string[] = []
  const deleted: number[] = []
  const publish = async (subject: string, _: Uint8Array, { expect: wanted }: JetStreamPublishOptions) => {
    if (wanted?.streamName !== undefined && wanted.streamName !== stream)
      throw new Error('expected stream does not match')
    stored.push(subject)
    return answer
  }
  const deleteMessage = async (_: string, sequence: number): Promise<boolean> => deleted.push(sequence) > 0
  const session = {
    jetstream: { publish },
    manager: { streams: { deleteMessage } },
    names: toStreamNames({ stream: 'S', subject: 's' }),
    describe: String,
  } as unknown as Parameters<typeof republishLetter>[0]
  const result = { replayed: 0, skipped: 0, failed: 0, lastFailure: undefined }
  await republishLetter(session, LETTER, result)
  return { stored, deleted, result }
}

test('a letter is deleted when the queue has stored its entry', async () => {
  expect(await replay('S')).toMatchObject({ stored: ['s.logs'], deleted: [7], result: { replayed: 1, failed: 0 } })
})

test('a letter is kept if another stream has the subject', async () => {
  expect(await replay('other')).toMatchObject({ stored: [], deleted: [], result: { replayed: 0, failed: 1 } })
})

test.each([{}, { stream: 'other', seq: 1 }, { stream: 'S', seq: 0, duplicate: true }])(
  'a letter is kept if the reply is not an acknowledgement of the queue: %o',
  async (answer) => {
    expect(await replay('S', answer)).toMatchObject({ deleted: [], result: { replayed: 0, failed: 1 } })
  },
)
