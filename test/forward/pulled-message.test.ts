/** Acknowledgements and extensions of a message. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { PulledMessage } from '../../src/forward/pulled-message.js'
import { FakeClock } from '../fake-clock.js'

const LIVE = new AbortController().signal

interface Rig {
  readonly clock: FakeClock
  readonly held: PulledMessage
  readonly published: string[]
  isConnected: boolean
  /** Number of requests without a reply. */
  failures: number
  /** Incarnation of the current stream, and whether it can be read. */
  stream: string
  isStreamKnown: boolean
}

function rig(): Rig {
  const clock = new FakeClock()
  const published: string[] = []
  const publish = (_subject: string, body?: unknown): void => void published.push(String(body))
  const connection = {
    publish,
    request: async (subject: string, body?: unknown) => {
      publish(subject, body)
      if (state.failures-- > 0) throw new Error('timeout')
      return {} as Msg
    },
  } as Pick<NatsConnection, 'publish' | 'request'> as NatsConnection
  const state = { isConnected: true, failures: 0, stream: 'first', isStreamKnown: true }
  const held = new PulledMessage({
    message: { reply: '$JS.ACK.S.c.1.1.1.1.0' } as Msg,
    connection: {
      get current() {
        return state.isConnected ? connection : undefined
      },
    },
    incarnation: {
      get id() {
        return state.stream
      },
      isStill: async (id) => (state.isStreamKnown ? id === state.stream : undefined),
    },
    ackWaitMs: () => 30_000,
    clock,
  })
  return Object.assign(state, { clock, held, published })
}

test('a confirmed acknowledgement is sent once', async () => {
  const { held, published, clock } = rig()
  expect(await held.acknowledge(LIVE)).toBe(true)
  expect(published).toEqual(['+ACK'])
  expect(clock.timers).toBe(0)
})

test('an acknowledgement without a reply or a connection is repeated', async () => {
  const one = rig()
  one.failures = 2
  one.isConnected = false
  let isConfirmed: boolean | undefined
  void one.held.acknowledge(LIVE).then((result) => (isConfirmed = result))
  await one.clock.advance(5_000)
  expect(one.published).toEqual([])
  one.isConnected = true
  await one.clock.advance(5_000)
  expect(one.published).toEqual(['+ACK', '+ACK', '+ACK'])
  expect(isConfirmed).toBe(true)
})

test('the signal ends the acknowledgement', async () => {
  const one = rig()
  one.failures = Infinity
  const abort = new AbortController()
  const confirmed = one.held.acknowledge(abort.signal)
  await one.clock.advance(1_000)
  abort.abort()
  expect(await confirmed).toBe(false)
  expect(one.clock.timers).toBe(0)
})

test('a message is released once, and not after its acknowledgement', async () => {
  const one = rig()
  one.held.release(2_000)
  one.held.release()
  expect(one.published).toEqual(['-NAK {"delay":2000000000}'])
  const other = rig()
  await other.held.acknowledge(LIVE)
  other.held.release()
  expect(other.published).toEqual(['+ACK'])
})

test('a message that could not be extended is overdue', async () => {
  const one = rig()
  await one.clock.advance(20_000)
  await one.held.extend()
  await one.clock.advance(20_000)
  expect(one.held.isOverdue).toBe(false)
  one.isConnected = false
  await one.held.extend()
  await one.clock.advance(11_000)
  expect(one.held.isOverdue).toBe(true)
  expect(one.published).toEqual(['+WPI'])
})

test('only confirmed extensions count', async () => {
  const one = rig()
  one.failures = 2
  for (let times = 0; times < 2; times += 1) {
    await one.clock.advance(10_000)
    await one.held.extend()
  }
  await one.clock.advance(10_001)
  expect(one.held.isOverdue).toBe(true)
})

test('an overdue message stays overdue and is neither extended nor released, since another forwarder has it', async () => {
  const one = rig()
  await one.clock.advance(31_000)
  await one.held.extend()
  expect(one.held.isOverdue).toBe(true)
  one.held.release()
  expect(one.published).toEqual([])
})

test('a message of a deleted stream is not acknowledged, since its sequence may now belong to another message', async () => {
  const one = rig()
  one.stream = 'second'
  await one.held.extend()
  one.held.release()
  expect(await one.held.acknowledge(LIVE)).toBe(false)
  expect(one.published).toEqual([])
})

test('an acknowledgement waits until the stream incarnation is known', async () => {
  const one = rig()
  one.isStreamKnown = false
  const confirmed = one.held.acknowledge(LIVE)
  await one.clock.advance(2_000)
  expect(one.published).toEqual([])
  one.isStreamKnown = true
  await one.clock.advance(2_000)
  expect(await confirmed).toBe(true)
  expect(one.published).toEqual(['+ACK'])
})
