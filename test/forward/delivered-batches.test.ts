/** Detection of batches that were already delivered. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { DeliveredBatches } from '../../src/forward/delivered-batches.js'
import { Signal } from '../../src/shared/signal.js'
import { FakeClock, settled } from '../fake-clock.js'

const LIVE = new AbortController().signal
const CONNECTION = {} as NatsConnection
const HANGS = new Error('timeout')

function rig() {
  const clock = new FakeClock()
  const stored = new Map<string, string>()
  const reported: string[] = []
  const connection = { current: CONNECTION as NatsConnection | undefined, connected: new Signal<[NatsConnection]>() }
  const made = {
    clock,
    stored,
    reported,
    connection,
    failure: undefined as Error | undefined,
    requests: 0,
    /** @returns what `has` answered, undefined until it does */
    lookUp: (batchId: string) => {
      const found: { known?: boolean } = {}
      void batches.has(batchId, LIVE).then((known) => (found.known = known))
      return found
    },
    add: (batchId: string) => batches.add(batchId, LIVE),
  }
  const ask = async <T>(answer: () => T): Promise<T> => {
    made.requests += 1
    if (made.failure !== undefined) throw made.failure
    return answer()
  }
  const bucket = {
    get: (key: string) => ask(() => (stored.has(key) ? { operation: stored.get(key) } : null)),
    create: (key: string) =>
      ask(() => {
        if (stored.has(key)) throw Object.assign(new Error('wrong last sequence'), { code: 10_071 })
        stored.set(key, 'PUT')
        return 1
      }),
  } as unknown as Pick<KV, 'get' | 'create'>
  const health = { failed: (part: string) => void reported.push(part), works: () => {} }
  const batches = new DeliveredBatches({ connection, bucket: 'B', health, clock, open: async () => bucket })
  return made
}

test('knows the batches that any forwarder has delivered', async () => {
  const { stored, lookUp, add } = rig()
  stored.set('delivered.other', 'PUT')
  stored.set('delivered.deleted', 'DEL')
  await add('own')
  // Another forwarder has delivered it meanwhile.
  await add('other')
  const found = ['own', 'other', 'deleted', 'new'].map(lookUp)
  await settled()
  expect(found.map(({ known }) => known)).toEqual([true, true, false, false])
})

test.each([
  ['that hangs', HANGS, 30_000],
  ['that does not exist', Object.assign(new Error('stream not found'), { code: 10_059 }), 3_000],
  ['without permission', Object.assign(new Error('denied'), { name: 'PermissionViolationError' }), 3_000],
])('waits for a bucket %s a limited time, and only once', async (_, failure, patienceMs) => {
  const made = rig()
  made.stored.set('delivered.a', 'PUT')
  made.failure = failure
  const first = made.lookUp('a')
  await made.clock.advance(patienceMs - 1_000)
  expect(first.known).toBe(undefined)
  await made.clock.advance(2_000)
  expect(first.known).toBe(false)
  const second = made.lookUp('a')
  const added = made.add('b')
  await settled()
  expect(second.known).toBe(false)
  await added
  made.failure = undefined
  const third = made.lookUp('a')
  await settled()
  expect(third.known).toBe(true)
})

test('after an outage an unknown batch waits for ids that other forwarders save', async () => {
  const made = rig()
  made.failure = HANGS
  const first = made.lookUp('a')
  await made.clock.advance(5_000)
  made.failure = undefined
  await made.clock.advance(600)
  const second = made.lookUp('b')
  await settled()
  expect([first.known, second.known]).toEqual([undefined, undefined])
  made.stored.set('delivered.a', 'PUT')
  await made.clock.advance(3_000)
  expect([first.known, second.known]).toEqual([true, false])
  const third = made.lookUp('c')
  await settled()
  expect(third.known).toBe(false)
})

test('an id is stored as soon as the bucket answers', async () => {
  const made = rig()
  made.failure = HANGS
  void made.add('a')
  await made.clock.advance(20_000)
  made.failure = undefined
  await made.clock.advance(1_000)
  expect([...made.stored.keys()]).toEqual(['delivered.a'])
})

test('time without a connection does not count, and is not a failure of the bucket', async () => {
  const made = rig()
  made.stored.set('delivered.a', 'PUT')
  made.connection.current = undefined
  const found = made.lookUp('a')
  await made.clock.advance(60_000)
  expect([found.known, made.requests, made.reported]).toEqual([undefined, 0, []])
  made.connection.current = CONNECTION
  await made.clock.advance(1_000)
  expect(found.known).toBe(true)
})

test('the end of the forwarder ends a wait', async () => {
  const { clock, connection } = rig()
  connection.current = undefined
  const health = { failed: () => {}, works: () => {} }
  const end = new AbortController()
  const batches = new DeliveredBatches({ connection, bucket: 'B', health, clock, open: () => Promise.reject(HANGS) })
  const waits = [batches.has('a', end.signal), batches.add('a', end.signal)]
  await settled()
  end.abort()
  expect(await Promise.all(waits)).toEqual([false, undefined])
})
