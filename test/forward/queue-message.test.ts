/** Parsing of queue messages. */
import type { JsMsg } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { readMessage } from '../../src/forward/queue-message.js'

const ID = '11111111-2222-4333-8444-555555555555'
const BODY = `{"batch_id":"${ID}","logs":[{"message":"ü"},{"message":"b"}]}`

function messageOf(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Pick<JsMsg, 'data' | 'headers'> {
  return {
    data: typeof body === 'string' ? Buffer.from(body) : body,
    headers: { get: (name: string) => headers[name] ?? '' } as NonNullable<JsMsg['headers']>,
  }
}

const OWN = { 'Nats-Msg-Id': ID, 'Pino-Ingest-Count': '2' }

test.each([
  ['with the headers of the transport', messageOf(BODY, OWN)],
  ['without headers', { data: Buffer.from(BODY), headers: undefined }],
  ['with another id', messageOf(BODY, { ...OWN, 'Nats-Msg-Id': 'other' })],
  ['with an impossible count', messageOf(BODY, { ...OWN, 'Pino-Ingest-Count': '101' })],
  ['with a count that is too small', messageOf(BODY, { ...OWN, 'Pino-Ingest-Count': '1' })],
  ['with a count that is too large', messageOf(BODY, { ...OWN, 'Pino-Ingest-Count': '3' })],
  ['published again', messageOf(BODY, { ...OWN, 'Nats-Msg-Id': 'orphan-1', 'Pino-Ingest-Batch-Id': ID })],
])('a batch %s keeps id and body', async (_, message) => {
  const read = readMessage(message)
  expect(read).toMatchObject({ batchId: ID, count: 2 })
  expect('body' in read && Buffer.from(read.body).toString()).toBe(BODY)
})

test('ids of other programs are distinguished by the content, also if they have the headers of the transport', async () => {
  const read = async (text: string, headers = {}): Promise<string> => {
    const found = readMessage(messageOf(`{"batch_id":"nightly-1","logs":[{"message":"${text}"}]}`, headers))
    return 'batchId' in found ? found.batchId : ''
  }
  const id = await read('from a')
  expect(id).toMatch(/^nightly-1\.[\da-f]{32}$/)
  expect(await read('from a', { 'Nats-Msg-Id': 'nightly-1', 'Pino-Ingest-Count': '1' })).toBe(id)
  expect(await read('from b')).not.toBe(id)
})

test.each([
  ['text', 'hello', {}],
  ['a truncated body', BODY.slice(0, -3), OWN],
  [
    'invalid UTF-8',
    Buffer.concat([Buffer.from('{"batch_id":"a","logs":["'), Buffer.from([0xff]), Buffer.from('"]}')]),
    {},
  ],
  ['an empty list', `{"batch_id":"${ID}","logs":[]}`, { 'Nats-Msg-Id': ID, 'Pino-Ingest-Count': '0' }],
  ['a missing element', `{"batch_id":"${ID}","logs":[,]}`, OWN],
  ['two lists', `{"batch_id":"${ID}","logs":[{}],"logs":[{},{}]}`, OWN],
  ['another key', `{"batch_id":"${ID}","logs":[{"a":1}],"extra":1}`, {}],
  [
    'another key, with the headers of a batch',
    `{"batch_id":"${ID}","logs":[{"a":1}],"z":[1]}`,
    { ...OWN, 'Pino-Ingest-Count': '1' },
  ],
  ['no list', `{"batch_id":"${ID}","logs":{}}`, {}],
  ['a list before the id', `{"logs":[{"a":1}],"batch_id":"${ID}"}`, {}],
  ['an invalid id', '{"batch_id":"a b>*","logs":[{"a":1}]}', {}],
  ['too many entries', JSON.stringify({ batch_id: ID, logs: Array.from({ length: 101 }, () => ({})) }), {}],
])('%s is not a batch', (_, body, headers) => {
  expect(readMessage(messageOf(body, headers as Record<string, string>))).toMatchObject({
    problem: expect.any(String),
  })
})
