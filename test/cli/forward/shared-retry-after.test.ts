/** Sharing of a Retry-After between forwarders. */
import { expect, test } from 'vitest'
import { SharedRetryAfter } from '../../../src/cli/forward/shared-retry-after.js'
import type { StateValue } from '../../../src/cli/forward/state-bucket.js'
import { Signal } from '../../../src/shared/signal.js'
import { FakeClock, settled } from '../../fake-clock.js'

interface One {
  readonly applied: number[]
  readonly breaker: { applyRetryAfter(delayMs: number): void }
  readonly retryAfter: Signal<[number]>
}

function createDelivery(): One {
  const applied: number[] = []
  return { applied, breaker: { applyRetryAfter: (delayMs) => applied.push(delayMs) }, retryAfter: new Signal() }
}

interface Rig {
  readonly clock: FakeClock
  readonly logs: One
  readonly requests: One
  readonly puts: (readonly [string, string])[]
  readonly retryAfter: SharedRetryAfter
  readonly write: (text: string) => void
  stored: StateValue | null | undefined
}

function rig(): Rig {
  const clock = new FakeClock()
  const [logs, requests] = [createDelivery(), createDelivery()]
  const puts: [string, string][] = []
  let listener = (_text: string): void => {}
  const made = { clock, logs, requests, puts, stored: null as StateValue | null | undefined }
  const retryAfter = new SharedRetryAfter({
    bucket: {
      put: async (key, text) => {
        puts.push([key, text])
        return true
      },
      get: async () => state.stored,
      watch: (_key, listen) => (listener = listen),
    },
    destination: '0123456789abcdef',
    deliveries: [logs, requests],
    clock,
  })
  const state: Rig = Object.assign(made, { retryAfter, write: (text: string) => listener(text) })
  return state
}

test('is applied to the other endpoint, and written once for concurrent replies', () => {
  const { logs, requests, puts } = rig()
  logs.retryAfter.emit(10_000)
  logs.retryAfter.emit(10_000)
  expect(requests.applied).toEqual([10_000, 10_000])
  expect(logs.applied).toEqual([])
  expect(puts).toEqual([['retry-after.0123456789abcdef', '{"delayMs":10000}']])
})

test('from another forwarder is applied to all endpoints', () => {
  const { logs, requests, write, puts } = rig()
  write('{"delayMs":5000}')
  expect([logs.applied, requests.applied]).toEqual([[5_000], [5_000]])
  expect(puts).toEqual([])
})

test('from itself, or shorter than a known one, changes nothing', () => {
  const { logs, requests, write } = rig()
  logs.retryAfter.emit(10_000)
  requests.applied.length = 0
  write('{"delayMs":10000}')
  write('{"delayMs":3000}')
  expect([logs.applied, requests.applied]).toEqual([[], []])
})

test.each(['', 'no', '{"delayMs":-1}', '{"delayMs":"9"}', 'null', '[]'])('%j is ignored', (text) => {
  const { logs, write } = rig()
  write(text)
  expect(logs.applied).toEqual([])
})

test('is limited to an hour', () => {
  const { logs, write } = rig()
  write('{"delayMs":1e15}')
  expect(logs.applied).toEqual([3_600_000])
})

test('is read from the bucket if it was missed, minus its age', async () => {
  const fleet = rig()
  fleet.retryAfter.read()
  await settled()
  fleet.stored = { text: '{"delayMs":8000}', storedAtMs: fleet.clock.wallNow() + 4_000, sequence: 1 }
  await fleet.clock.advance(5_000)
  expect(fleet.logs.applied).toEqual([7_000])
  await fleet.clock.advance(20_000)
  expect(fleet.logs.applied).toEqual([7_000])
  fleet.retryAfter.end()
  expect(fleet.clock.timers).toBe(0)
})

test('is read again after a failure of the bucket', async () => {
  const fleet = rig()
  fleet.stored = undefined
  fleet.retryAfter.read()
  await fleet.clock.advance(1_000)
  fleet.stored = { text: '{"delayMs":60000}', storedAtMs: fleet.clock.wallNow(), sequence: 3 }
  await fleet.clock.advance(5_000)
  expect(fleet.requests.applied).toHaveLength(1)
})
