/** Dead letters as messages of their stream. */
import type { JetStreamManager } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import type { DeadLetter } from '../../src/batch/batch.js'
import { encodeDeadLetter, MAX_DEAD_LETTER_HEADER_BYTES, readDeadLetters } from '../../src/nats/dead-letter.js'
import type { PublishInit } from '../../src/nats/publish-message.js'
import { toStreamNames } from '../../src/nats/message.js'

const NAMES = toStreamNames({ stream: 'S' })
const LETTER: DeadLetter = {
  batchId: '11111111-2222-4333-8444-555555555555',
  index: 7,
  status: 422,
  code: 'INVALID',
  field: 'metadata.a',
  reason: 'must be a string',
  entry: '{"message":"größer","big":12345678901234567890}',
}

async function read({ subject, headers: header, body }: Partial<PublishInit>) {
  const message = { seq: 1, subject, header, data: body, timestamp: '2026-01-01T00:00:00Z' }
  const streams = { info: async () => ({ state: { first_seq: 1, last_seq: 1 } }), getMessage: async () => message }
  return (await readDeadLetters({ streams } as unknown as JetStreamManager, NAMES).next()).value
}

test.each<[string, Partial<DeadLetter>]>([
  ['an entry', {}],
  [
    'texts of the service or another publisher that cannot be headers',
    { batchId: 'x y\n', reason: 'a\r\nNats-Rollup: all\r\n\u0000\u001b[31m ü 😀 % ', code: 'ß', field: '\t' },
  ],
])('a dead letter is read as it was written: %s', async (_, changes) => {
  const letter = { ...LETTER, ...changes }
  const message = encodeDeadLetter(NAMES, 'requests', letter)
  expect(message.subject).toBe('S.dead.requests')
  for (const [, [value]] of message.headers) expect(value).toMatch(/^[!-~]*$/)
  expect(await read(message)).toMatchObject({ ...letter, kind: 'requests' })
})

test('long texts are cut, even within a surrogate pair', async () => {
  const long = `${'誤'.repeat(511)}😀${'r'.repeat(1e6)}`
  const message = encodeDeadLetter(NAMES, 'logs', { ...LETTER, batchId: long, code: long, field: long, reason: long })
  expect(await read(message)).toMatchObject({ reason: `${'誤'.repeat(511)}\ufffd` })
  const { encode } = message.headers as unknown as { encode(): Uint8Array }
  expect(encode.call(message.headers).length + message.msgID.length).toBeLessThan(MAX_DEAD_LETTER_HEADER_BYTES)
})

test('a message with missing or damaged headers can be read', async () => {
  const damaged = headers()
  damaged.set('Pino-Ingest-Reason', '%zz')
  damaged.set('Pino-Ingest-Index', 'x')
  const empty = { batchId: '', index: 0, status: 0, code: '', field: '', reason: '', entry: '{}' }
  const body = Buffer.from('{}')
  expect(await read({ subject: 'S.dead.logs', body })).toMatchObject(empty)
  expect(await read({ subject: 'S.dead.logs', headers: damaged, body })).toMatchObject({
    ...empty,
    reason: '%zz',
  })
})
