/** Reads and writes of the bucket. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { StateBucket } from '../../../src/cli/forward/state-bucket.js'
import { Signal } from '../../../src/shared/signal.js'
import { FakeClock, settled } from '../../fake-clock.js'

interface Rig {
  readonly bucket: StateBucket
  readonly asked: string[]
  readonly connection: { current: NatsConnection | undefined; readonly connected: Signal<[NatsConnection]> }
}

/** @param answer the server's reply or the client's error */
function setup(answer: () => object): Rig {
  const asked: string[] = []
  const request = async (subject: string, body: string): Promise<Msg> => {
    asked.push(`${subject} ${Buffer.from(body).toString()}`)
    const reply = answer()
    if (reply instanceof Error) throw reply
    const text = JSON.stringify(reply)
    return { string: () => text, data: Buffer.from(text) as Uint8Array } as Msg
  }
  const connection: Rig['connection'] = {
    current: { request, options: {} } as unknown as NatsConnection,
    connected: new Signal<[NatsConnection]>(),
  }
  const health = { failed: () => {}, works: () => {} }
  return { bucket: new StateBucket({ connection, bucket: 'B', health, clock: new FakeClock() }), asked, connection }
}

const encode = (text: string): string => Buffer.from(text).toString('base64')
const TIME = '2026-01-01T00:00:00Z'

test('reads from the leader, since a replica may lack the value', async () => {
  const { bucket, asked } = setup(() => ({ message: { seq: 7, data: encode('{"ü":1}'), time: TIME } }))
  expect(await bucket.get('x')).toEqual({ text: '{"ü":1}', sequence: 7, storedAtMs: Date.parse(TIME) })
  expect(asked).toEqual(['$JS.API.STREAM.MSG.GET.KV_B {"last_by_subj":"$KV.B.x"}'])
})

test.each([
  ['never existed', { error: { err_code: 10_037, description: 'no message found' } }],
  ['was deleted', { message: { seq: 8, hdrs: encode('NATS/1.0\r\nKV-Operation: DEL\r\n\r\n'), time: TIME } }],
])('a value that %s is null', async (_, answer) => {
  const { bucket } = setup(() => answer)
  expect(await bucket.get('x')).toBe(null)
  expect(bucket.isDistrusted).toBe(false)
})

test('isMissing is true until a missing bucket answers', async () => {
  let answer: object = { error: { err_code: 10_059, description: 'stream not found' } }
  const { bucket } = setup(() => answer)
  expect(await bucket.get('x')).toBe(undefined)
  expect([bucket.isMissing, bucket.isDistrusted]).toEqual([true, true])
  answer = new Error('no responders')
  // A publish to a missing bucket has no reply.
  expect(await bucket.put('x', '')).toBe(false)
  await settled()
  expect(bucket.isMissing).toBe(true)
  answer = { error: { err_code: 10_008, description: 'not available' } }
  expect(await bucket.get('x')).toBe(undefined)
  expect([bucket.isMissing, bucket.isDistrusted]).toEqual([false, true])
  answer = { stream: 'KV_B', seq: 1 }
  // So soon after a failure, callers do not wait.
  expect(await bucket.put('x', '')).toBe(false)
  await settled()
  expect([bucket.isMissing, bucket.isDistrusted]).toEqual([false, false])
})

test('a lost connection is not reported as a failure of the bucket', async () => {
  const { bucket, connection } = setup(() => {
    connection.current = undefined
    return new Error('the connection was lost')
  })
  expect(await bucket.get('x')).toBe(undefined)
  expect([bucket.isConnected, bucket.isDistrusted]).toEqual([false, false])
})

test('a value is stored when the stream of the bucket has acknowledged it', async () => {
  let answer: object = { stream: 'KV_B', seq: 1 }
  expect(await setup(() => answer).bucket.put('x', '')).toBe(true)
  for (answer of [{}, { stream: 'other', seq: 1 }]) expect(await setup(() => answer).bucket.put('x', '')).toBe(false)
})
