/** Detection of batches that were already delivered. */
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { DeliveredBatches } from '../../../src/cli/forward/delivered-batches.js'
import { Signal } from '../../../src/shared/signal.js'
import { FakeClock, settled } from '../../fake-clock.js'

const LIVE = new AbortController().signal

interface Rig {
  readonly clock: FakeClock
  readonly batches: DeliveredBatches
  readonly stored: Set<string>
  readonly connected: Signal<[NatsConnection]>
  gets: number
  isUp: boolean
  isConnected: boolean
  isDistrusted: boolean
  isMissing: boolean
}

function rig(): Rig {
  const clock = new FakeClock()
  const stored = new Set<string>()
  const connected = new Signal<[NatsConnection]>()
  const state: Omit<Rig, 'batches'> = {
    clock,
    stored,
    connected,
    gets: 0,
    isUp: true,
    isConnected: true,
    isDistrusted: false,
    isMissing: false,
  }
  const batches = new DeliveredBatches(
    {
      put: async (key) => {
        if (made.isUp) stored.add(key)
        return made.isUp
      },
      get: async (key) => {
        made.gets += 1
        if (!made.isUp) return undefined
        return stored.has(key) ? { text: '', storedAtMs: 0, sequence: 1 } : null
      },
      connected,
      get isConnected() {
        return made.isConnected
      },
      get isDistrusted() {
        return made.isDistrusted
      },
      get isMissing() {
        return made.isMissing
      },
    },
    clock,
  )
  const made: Rig = Object.assign(state, { batches })
  return made
}

test('looks up every batch', async () => {
  const fleet = rig()
  fleet.stored.add('delivered.a')
  expect(await fleet.batches.find('a', LIVE)).toBe('')
  expect(await fleet.batches.find('b', LIVE)).toBe(undefined)
  expect(fleet.gets).toBe(2)
})

test('finds its own batches without the bucket', async () => {
  const fleet = rig()
  fleet.isUp = false
  await fleet.batches.add('a')
  expect(await fleet.batches.find('a', LIVE)).toBe('')
  expect(fleet.gets).toBe(0)
})

test('an id that could not be saved is saved with a later one', async () => {
  const fleet = rig()
  fleet.isUp = false
  await fleet.batches.add('a')
  fleet.isUp = true
  await fleet.batches.add('b')
  await settled()
  expect([...fleet.stored].toSorted()).toEqual(['delivered.a', 'delivered.b'])
})

test('an id that could not be saved is saved when the bucket answers again', async () => {
  const fleet = rig()
  fleet.isUp = false
  await fleet.batches.add('a')
  fleet.isUp = true
  await fleet.batches.find('b', LIVE)
  await settled()
  expect([...fleet.stored]).toEqual(['delivered.a'])
})

test('a lookup waits for the bucket', async () => {
  const fleet = rig()
  fleet.isUp = false
  fleet.stored.add('delivered.a')
  let known: boolean | undefined
  void fleet.batches.find('a', LIVE).then((found) => (known = found !== undefined))
  await fleet.clock.advance(25_000)
  expect(known).toBe(undefined)
  fleet.isUp = true
  await fleet.clock.advance(1_000)
  expect(known).toBe(true)
})

test.each([
  ['a lost connection', async ({ connected }: Rig) => connected.emit({} as NatsConnection)],
  [
    'an outage of the bucket',
    async (fleet: Rig) => {
      fleet.isUp = false
      void fleet.batches.find('other', LIVE)
      await fleet.clock.advance(2_000)
      fleet.isUp = true
      await fleet.clock.advance(500)
    },
  ],
])('after %s a batch waits for ids that other forwarders save', async (_, fail) => {
  const fleet = rig()
  fleet.connected.emit({} as NatsConnection)
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
  ['hangs', false, 30_000],
  ['does not exist', true, 3_000],
])('a bucket that %s delays batches only once', async (_, isMissing, patienceMs) => {
  const fleet = rig()
  Object.assign(fleet, { isUp: false, isMissing, isDistrusted: true })
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
  Object.assign(fleet, { isDistrusted: false })
  expect(await fleet.batches.find('b', LIVE)).toBe(undefined)
  // After it has answered, the bucket is used again.
  Object.assign(fleet, { isUp: true, isDistrusted: false })
  fleet.stored.add('delivered.b')
  expect(await fleet.batches.find('b', LIVE)).toBe('')
})

test('time without a connection does not count as waiting for the bucket', async () => {
  const fleet = rig()
  Object.assign(fleet, { isUp: false, isConnected: false })
  let known: boolean | undefined
  fleet.stored.add('delivered.a')
  void fleet.batches.find('a', LIVE).then((found) => (known = found !== undefined))
  await fleet.clock.advance(40_000)
  expect(known).toBe(undefined)
  fleet.isConnected = true
  fleet.connected.emit({} as NatsConnection)
  await fleet.clock.advance(25_000)
  expect(known).toBe(undefined)
  fleet.isUp = true
  await fleet.clock.advance(1_000)
  expect(known).toBe(true)
})
