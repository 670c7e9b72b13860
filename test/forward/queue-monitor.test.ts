/** Use of the queue's state. */
import type { StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import type { ConsumerFloor, SequenceRange } from '../../src/forward/orphaned-messages.js'
import { QueueMonitor } from '../../src/forward/queue-monitor.js'
import type { BatchKind } from '../../src/nats/message.js'
import { Signal } from '../../src/shared/signal.js'
import { FakeClock, settled } from '../fake-clock.js'

function forwarder(kind: BatchKind) {
  const facts = { pending: 1, ackPending: 1, ackFloor: 5, ackWaitMs: 30_000 }
  const own = { kind, facts, isReady: true, isFound: true, inspect: async () => own.isFound }
  return own
}

test('without a current reply of each consumer, unaccounted messages are unknown', async () => {
  const clock = new FakeClock()
  const checked: (readonly [SequenceRange, readonly BatchKind[]])[] = []
  const [logs, requests] = [forwarder('logs'), forwarder('requests')]
  const check = async (range: SequenceRange, floors: readonly ConsumerFloor[]): Promise<void> => {
    checked.push([range, floors.map(({ kind }) => kind)])
  }
  const monitor = new QueueMonitor({
    connection: { current: {} as NatsConnection, connected: new Signal<[NatsConnection]>() },
    incarnation: { read: async () => ({ state: { messages: 6, first_seq: 1, last_seq: 9 } }) as StreamInfo },
    forwarders: [logs, requests],
    orphaned: { check, republished: 0 },
    clock,
  })
  const range = { first: 1, last: 9 }
  monitor.start()
  await settled()
  expect(monitor.state.unaccounted).toBe(2)
  // The forwarder keeps its last facts.
  logs.isFound = false
  await clock.advance(5_000)
  expect(monitor.state.unaccounted).toBe(undefined)
  logs.isFound = true
  await clock.advance(5_000)
  expect(monitor.state.unaccounted).toBe(2)
  monitor.end()
  expect(checked).toEqual([
    [range, ['logs', 'requests']],
    [range, ['requests']],
    [range, ['logs', 'requests']],
  ])
})
