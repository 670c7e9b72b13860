/** Detection of batches that were already delivered. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { DeliveredBatches } from '../../src/forward/delivered-batches.js'
import type { DeliveredBatchesOptions } from '../../src/forward/delivered-batches.js'
import { Signal } from '../../src/shared/signal.js'
import { FakeClock, settled } from '../fake-clock.js'

const LIVE = new AbortController().signal

interface Rig {
  readonly clock: FakeClock
  readonly batches: DeliveredBatches
  /** Keys of the bucket. */
  readonly stored: Set<string>
  readonly requested: string[]
  readonly connection: { current: NatsConnection | undefined; readonly connected: Signal<[NatsConnection]> }
  /** The replies, of which the last one is repeated, or the client's errors; none if the bucket works. */
  replies: object[]
  gets: number
}

const HANGS = new Error('timeout')
const MISSING = { error: { err_code: 10_059, description: 'stream not found' } }
const UNAVAILABLE = { error: { err_code: 10_008, description: 'not available' } }
const NO_VALUE = { error: { err_code: 10_037, description: 'no message found' } }

function rig(health: DeliveredBatchesOptions['health'] = { failed: () => {}, works: () => {} }): Rig {
  const clock = new FakeClock()
  const stored = new Set<string>()
  const requested: string[] = []
  const connected = new Signal<[NatsConnection]>()
  const request = async (subject: string, body: string): Promise<Msg> => {
    const text = Buffer.from(body).toString()
    requested.push(`${subject} ${text}`)
    const isGet = !subject.startsWith('$KV.')
    if (isGet) made.gets += 1
    const given = made.replies.length > 1 ? made.replies.shift() : made.replies[0]
    const reply = given ?? (isGet ? read(text) : write(subject))
    if (reply instanceof Error) throw reply
    const json = JSON.stringify(reply)
    return { string: () => json, data: Buffer.from(json) as Uint8Array } as Msg
  }
  const read = (text: string): object => {
    const { last_by_subj: subject } = JSON.parse(text) as { readonly last_by_subj: string }
    return stored.has(subject.slice('$KV.B.'.length)) ? { message: { seq: 7, data: '', time: TIME } } : NO_VALUE
  }
  const write = (subject: string): object => {
    stored.add(subject.slice('$KV.B.'.length))
    return { stream: 'KV_B', seq: 1 }
  }
  const connection = { current: { request, options: {} } as unknown as NatsConnection | undefined, connected }
  const batches = new DeliveredBatches({ connection, bucket: 'B', health, clock })
  const made: Rig = { clock, batches, stored, requested, connection, replies: [], gets: 0 }
  return made
}

const TIME = '2026-01-01T00:00:00Z'

test('reads from the leader, since a replica may lack the value', async () => {
  const { batches, requested } = rig()
  expect(await batches.find('x', LIVE)).toBe(undefined)
  expect(requested).toEqual(['$JS.API.STREAM.MSG.GET.KV_B {"last_by_subj":"$KV.B.delivered.x"}'])
})

test('looks up every batch', async () => {
  const fleet = rig()
  fleet.stored.add('delivered.a')
  expect(await fleet.batches.find('a', LIVE)).toBe('')
  expect(await fleet.batches.find('b', LIVE)).toBe(undefined)
  expect(fleet.gets).toBe(2)
})

test('finds its own batches without the bucket', async () => {
  const fleet = rig()
  fleet.replies = [HANGS]
  await fleet.batches.add('a')
  expect(await fleet.batches.find('a', LIVE)).toBe('')
  expect(fleet.gets).toBe(0)
})

test('an id that could not be saved is saved when the bucket answers again', async () => {
  const fleet = rig()
  fleet.replies = [HANGS]
  await fleet.batches.add('a')
  fleet.replies = []
  await fleet.batches.find('b', LIVE)
  await settled()
  expect([...fleet.stored]).toEqual(['delivered.a'])
})

test('a lookup waits for the bucket', async () => {
  const fleet = rig()
  fleet.replies = [HANGS]
  fleet.stored.add('delivered.a')
  let known: boolean | undefined
  void fleet.batches.find('a', LIVE).then((found) => (known = found !== undefined))
  await fleet.clock.advance(25_000)
  expect(known).toBe(undefined)
  fleet.replies = []
  await fleet.clock.advance(1_000)
  expect(known).toBe(true)
})

test.each([
  ['a lost connection', async ({ connection }: Rig) => connection.connected.emit({} as NatsConnection)],
  [
    'an outage of the bucket',
    async (fleet: Rig) => {
      fleet.replies = [HANGS]
      void fleet.batches.find('other', LIVE)
      await fleet.clock.advance(2_000)
      fleet.replies = []
      await fleet.clock.advance(500)
    },
  ],
])('after %s a batch waits for ids that other forwarders save', async (_, fail) => {
  const fleet = rig()
  fleet.connection.connected.emit({} as NatsConnection)
  expect(await fleet.batches.find('first', LIVE)).toBe(undefined)
  await fail(fleet)
  let known: string | undefined = 'not yet'
  void fleet.batches.find('a', LIVE).then((found) => (known = found))
  await fleet.clock.advance(1_000)
  expect(known).toBe('not yet')
  fleet.stored.add('delivered.a')
  await fleet.clock.advance(500)
  expect(known).toBe('')
  void fleet.batches.find('b', LIVE).then((found) => (known = found))
  await fleet.clock.advance(3_000)
  expect(known).toBe(undefined)
  // Later batches do not wait.
  expect(await fleet.batches.find('c', LIVE)).toBe(undefined)
})

test.each([
  ['hangs', [HANGS], 30_000],
  ['does not exist', [MISSING], 3_000],
  // A publish to a missing bucket has no reply.
  ['does not exist, and then hangs', [MISSING, HANGS], 3_000],
  ['exists again, and hangs', [MISSING, UNAVAILABLE, HANGS], 30_000],
])('a bucket that %s delays batches only once', async (_, replies, patienceMs) => {
  const fleet = rig()
  fleet.replies = [...replies]
  let known: boolean | undefined
  void fleet.batches.find('a', LIVE).then((found) => (known = found !== undefined))
  await fleet.clock.advance(patienceMs - 1_000)
  expect(known).toBe(undefined)
  await fleet.clock.advance(2_000)
  expect(known).toBe(false)
  const { gets } = fleet
  expect(await fleet.batches.find('b', LIVE)).toBe(undefined)
  expect(fleet.gets).toBe(gets)
  // Nor after a later attempt to read the bucket.
  await fleet.clock.advance(60_000)
  expect(await fleet.batches.find('b', LIVE)).toBe(undefined)
  expect(fleet.gets).toBe(gets + 1)
  // After it has answered, the bucket is used again.
  await fleet.clock.advance(5_000)
  fleet.replies = []
  fleet.stored.add('delivered.b')
  expect(await fleet.batches.find('b', LIVE)).toBe('')
})

test('time without a connection does not count as waiting for the bucket', async () => {
  const fleet = rig()
  const { current } = fleet.connection
  Object.assign(fleet.connection, { current: undefined })
  let known: boolean | undefined
  fleet.stored.add('delivered.a')
  void fleet.batches.find('a', LIVE).then((found) => (known = found !== undefined))
  await fleet.clock.advance(40_000)
  expect(known).toBe(undefined)
  fleet.replies = [HANGS]
  fleet.connection.current = current
  fleet.connection.connected.emit({} as NatsConnection)
  await fleet.clock.advance(25_000)
  expect(known).toBe(undefined)
  fleet.replies = []
  await fleet.clock.advance(1_000)
  expect(known).toBe(true)
})

test('a value that was deleted does not count', async () => {
  const fleet = rig()
  const hdrs = Buffer.from('NATS/1.0\r\nKV-Operation: DEL\r\n\r\n').toString('base64')
  fleet.replies = [{ message: { seq: 8, hdrs, time: TIME } }]
  expect(await fleet.batches.find('x', LIVE)).toBe(undefined)
})

test('returns the note of a batch whose rejected entries are not stored', async () => {
  const fleet = rig()
  fleet.replies = [{ message: { seq: 7, data: Buffer.from('{"ü":1}').toString('base64'), time: TIME } }]
  expect(await fleet.batches.find('x', LIVE)).toBe('{"ü":1}')
})

test.each([
  ['is not acknowledged', HANGS],
  ['is acknowledged without a stream', {}],
  ['is acknowledged by another stream', { stream: 'other', seq: 1 }],
] as const)('an id that %s is saved with a later one', async (_name, reply) => {
  const fleet = rig()
  fleet.replies = [reply]
  await fleet.batches.add('a')
  fleet.replies = []
  await fleet.clock.advance(5_000)
  await fleet.batches.add('b')
  await settled()
  expect([...fleet.stored].toSorted()).toEqual(['delivered.a', 'delivered.b'])
})

test('a lost connection is not reported as a failure of the bucket', async () => {
  const failed: string[] = []
  const fleet = rig({ failed: (part) => void failed.push(part), works: () => {} })
  fleet.connection.current = {
    request: async () => {
      fleet.connection.current = undefined
      throw new Error('the connection was lost')
    },
    options: {},
  } as unknown as NatsConnection
  await fleet.batches.add('a')
  expect(failed).toEqual([])
})
