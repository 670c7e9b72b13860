/** Detection of a stream that was created again. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { StreamIncarnation } from '../../src/forward/stream-incarnation.js'
import { FakeClock } from '../fake-clock.js'

function rig() {
  const clock = new FakeClock()
  const state = { created: 'first', requests: 0, fails: false }
  const request = async (): Promise<Msg> => {
    state.requests += 1
    if (state.fails) throw new Error('timeout')
    return { data: Buffer.from(JSON.stringify({ created: state.created, state: {}, config: {} })) as Uint8Array } as Msg
  }
  const current = { request, options: {} } as unknown as NatsConnection
  return {
    clock,
    state,
    incarnation: new StreamIncarnation({ connection: { current }, names: { stream: 'S' }, clock }),
  }
}

test('needs no request for a message received within 2 s', async () => {
  const { clock, state, incarnation } = rig()
  await incarnation.read()
  await clock.advance(60_000)
  expect(await incarnation.isStill('first', clock.now() - 1_000)).toBe(true)
  expect(state.requests).toBe(1)
  const held = await Promise.all([incarnation.isStill('first', 0), incarnation.isStill('first', 0)])
  expect(held).toEqual([true, true])
  expect(state.requests).toBe(2)
})

test('a stream that was created again is detected, for all later checks', async () => {
  const { clock, state, incarnation } = rig()
  await incarnation.read()
  await clock.advance(60_000)
  state.created = 'second'
  expect(await incarnation.isStill('first', 0)).toBe(false)
  expect(await incarnation.isStill('first', clock.now())).toBe(false)
  expect(incarnation.id).toBe('second')
})

test('is undefined without a reply', async () => {
  const { clock, state, incarnation } = rig()
  await incarnation.read()
  await clock.advance(60_000)
  state.fails = true
  expect(await incarnation.isStill('first', 0)).toBe(undefined)
  expect(incarnation.id).toBe('first')
})
