/** A forwarder with an in-memory queue and service. */
import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { headers as createHeaders } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { Account } from '../../src/diagnostics/account.js'
import { BatchForwarder } from '../../src/forward/batch-forwarder.js'
import type { BatchForwarderOptions } from '../../src/forward/batch-forwarder.js'
import { createLeasedSender } from '../../src/forward/held-message.js'
import { EndpointPipeline } from '../../src/pipeline/endpoint-pipeline.js'
import type { EndpointPipelineOptions } from '../../src/pipeline/endpoint-pipeline.js'
import { KeyPause } from '../../src/shared/key-pause.js'
import { FakeClock } from '../fake-clock.js'

const PATIENCE_MS = 10_000
const ACK_WAIT_MS = 30_000
/** Confirms each acknowledgement. */
const CONNECTION = { request: async () => ({}) } as unknown as NatsConnection

interface Rig {
  readonly clock: FakeClock
  readonly forwarder: BatchForwarder
  /** Ids of accepted batches. */
  readonly accepted: string[]
  /** Ids of batches that became dead letters. */
  readonly dead: string[]
  /** Delays, in milliseconds, with which batches were given back. */
  readonly givenBack: number[]
  readonly add: (id: string, init?: { readonly text?: string; readonly entries?: number }) => void
  readonly setConnected: (isConnected: boolean) => void
  readonly setService: (send: (batch: Batch) => Outcome) => void
  /** Advances the clock until the condition is true. */
  readonly until: (condition: () => boolean) => Promise<void>
}

/** Without the hash of the content. */
function originalId(batchId: string): string {
  return batchId.replace(/\..*/, '')
}

function rig({ maxBufferBytes = 8_000_000 }: { readonly maxBufferBytes?: number } = {}): Rig {
  const clock = new FakeClock()
  const queue: JsMsg[] = []
  const accepted: string[] = []
  const dead: string[] = []
  const givenBack: number[] = []
  let sequence = 0
  const consumer: BatchForwarderOptions['consumer'] = {
    info: { config: { ack_wait: ACK_WAIT_MS * 1_000_000 } } as never,
    run: async ({ waitForRoom, take }) => {
      for (;;) {
        if (queue.length > 0 && (await waitForRoom(1_000))) take(queue.shift() as JsMsg)
        else await new Promise<void>((resolve) => void clock.timer(10, resolve))
      }
    },
    close: () => {},
  }
  /** Messages that are redelivered come first, as in JetStream. */
  const deliver = (seq: number, data: Uint8Array, headers: JsMsg['headers'], deliveryCount: number): void => {
    const message = {
      data,
      headers,
      seq,
      redelivered: deliveryCount > 1,
      info: { deliveryCount, streamSequence: seq, timestampNanos: 1 },
      working: () => {},
      nak: (ms = 0) => {
        givenBack.push(ms)
        clock.timer(ms, () => deliver(seq, data, headers, deliveryCount + 1))
      },
    }
    queue[deliveryCount > 1 ? 'unshift' : 'push'](message as never)
  }
  let send = (batch: Batch): Outcome => ({ kind: 'delivered', accepted: batch.count, rejected: [], status: 200 })
  const ignored = new Proxy({}, { get: () => () => {} })
  const pipeline = new EndpointPipeline({
    settings: {
      retry: { maxMs: 30_000 },
      maxConcurrency: 8,
      maxBufferBytes: Infinity,
      batch: {},
      spool: false,
    },
    target: createLeasedSender({
      send: async (batch: Batch) => {
        await new Promise<void>((resolve) => void clock.timer(10, resolve))
        const outcome = send(batch)
        if (outcome.kind === 'delivered') accepted.push(originalId((batch.origin ?? batch).batchId))
        return outcome
      },
    }),
    clock,
    account: new Account(),
    pause: new KeyPause(clock),
    report: ignored,
    mask: (text: string) => text,
  } as unknown as EndpointPipelineOptions)
  const queueConnection = {
    current: CONNECTION as NatsConnection | undefined,
  }
  const forwarder = new BatchForwarder({
    kind: 'logs',
    connection: queueConnection as never,
    consumer,
    pipeline,
    delivered: { has: async () => false, add: async () => {} },
    deadLetters: {
      store: async (_kind, letters) => {
        dead.push(...letters.map(({ batchId }) => originalId(batchId)))
        return true
      },
    },
    health: { failed: (_part, _code, reason) => expect.fail(reason), works: () => {} },
    clock,
    maxBufferBytes,
  })
  return {
    clock,
    forwarder,
    accepted,
    dead,
    givenBack,
    add: (id, { text = '', entries = 1 } = {}) => {
      sequence += 1
      const list = Array.from({ length: entries }, (_, index) => JSON.stringify({ index, text }))
      const body = Buffer.from(`{"batch_id":"${id}","logs":[${list.join(',')}]}`)
      const headers = createHeaders()
      headers.set('Nats-Msg-Id', id)
      headers.set('Pino-Ingest-Count', String(entries))
      deliver(sequence, body, headers, 1)
    },
    setConnected: (isConnected) => {
      queueConnection.current = isConnected ? CONNECTION : undefined
    },
    setService: (service) => (send = service),
    until: async (condition) => {
      const endsAt = performance.now() + PATIENCE_MS
      while (!condition()) {
        if (performance.now() > endsAt) throw new Error(`not within ${clock.now()} ms: ${String(condition)}`)
        await clock.advance(100)
      }
    },
  }
}

/** Refuses batches whose id starts with "bad", without naming an entry. */
function refusesBad(batch: Batch): Outcome {
  return (batch.origin ?? batch).batchId.startsWith('bad')
    ? { kind: 'refused', status: 400, reason: 'bad', rejected: [] }
    : { kind: 'delivered', accepted: batch.count, rejected: [], status: 200 }
}

test.each([
  ['as many as may be held', 80, 1],
  ['more than may be held', 200, 1],
  ['with several entries', 80, 3],
])('refused batches give way to the others: %s', async (_case, count, entries) => {
  const { forwarder, add, accepted, dead, setService, until } = rig()
  setService(refusesBad)
  for (let n = 0; n < 3; n += 1) add(`good-${n}`)
  for (let n = 0; n < count; n += 1) add(`bad-${n}`, { entries })
  for (let n = 3; n < 60; n += 1) add(`good-${n}`)
  void forwarder.run()
  await until(() => accepted.length === 60)
  // Each accepted batch shows that the refused ones are bad.
  let more = 0
  await until(() => {
    if (more < accepted.length) add(`good-more-${(more = accepted.length)}`)
    return dead.length === count * entries
  })
  expect(new Set(accepted).size).toBe(accepted.length)
})

test('a refused batch that exceeds the budget gives way to the others', async () => {
  const { forwarder, add, accepted, setService, until } = rig({ maxBufferBytes: 10_000 })
  setService(refusesBad)
  add('good-0')
  add('bad', { text: 'x'.repeat(12_000) })
  for (let n = 1; n < 20; n += 1) add(`good-${n}`)
  void forwarder.run()
  await until(() => accepted.length === 20)
})

test('refused batches that exceed the budget together give way to the others', async () => {
  const { forwarder, add, accepted, setService, until } = rig({ maxBufferBytes: 20_000 })
  setService(refusesBad)
  for (let n = 0; n < 15; n += 1) add(`bad-${n}`, { text: 'x'.repeat(1_000) })
  for (let n = 0; n < 10; n += 1) add(`good-${n}`)
  void forwarder.run()
  await until(() => accepted.length === 10)
})

test('a batch that fails again and again gives way to the others', async () => {
  const { forwarder, add, accepted, setService, until } = rig()
  setService((batch) =>
    batch.batchId.startsWith('bad') ? { kind: 'retryable', status: 500, reason: 'bad' } : refusesBad(batch),
  )
  for (let n = 0; n < 3; n += 1) add(`bad-${n}`)
  add('good')
  void forwarder.run()
  await until(() => accepted.includes('good'))
})

test('does not send a batch that JetStream may have delivered to another forwarder', async () => {
  const { forwarder, clock, add, accepted, setConnected, setService, until } = rig()
  void forwarder.run()
  setService(() => ({ kind: 'retryable', reason: 'ECONNREFUSED' }))
  add('overdue')
  await until(() => forwarder.inFlight === 1)
  setConnected(false)
  // The client notices a lost connection with a delay, so the lease is a third of `ack_wait`.
  await clock.advance(ACK_WAIT_MS / 3 + 1_000)
  setConnected(true)
  setService(refusesBad)
  await until(() => forwarder.inFlight === 0)
  add('other')
  await until(() => accepted.length > 0)
  expect(accepted).toEqual(['other'])
})

test('a refused batch gives way to the others while a message with the same id waits for it', async () => {
  const { forwarder, add, accepted, setService, until } = rig()
  setService(refusesBad)
  add('bad')
  add('bad')
  add('good')
  void forwarder.run()
  await until(() => accepted.includes('good'))
})

test('a batch that exceeds the budget is kept while its bad entries are searched', async () => {
  const { forwarder, add, accepted, dead, setService, until } = rig({ maxBufferBytes: 10_000 })
  setService((batch) =>
    Buffer.from(batch.body).includes('"index":63,')
      ? { kind: 'refused', status: 400, reason: 'bad', rejected: [] }
      : { kind: 'delivered', accepted: batch.count, rejected: [], status: 200 },
  )
  add('large', { text: 'x'.repeat(300), entries: 64 })
  void forwarder.run()
  let count = 0
  await until(() => {
    add(`good-${(count += 1)}`)
    return dead.length === 1
  })
  expect(dead).toEqual(['large'])
  expect(new Set(accepted.filter((id) => id === 'large')).size).toBe(1)
})

test('a refused entry that exceeds the budget becomes a dead letter when others are accepted', async () => {
  const { forwarder, add, accepted, dead, setService, until } = rig({ maxBufferBytes: 10_000 })
  setService(refusesBad)
  add('bad', { text: 'x'.repeat(12_000) })
  for (let n = 0; n < 20; n += 1) add(`good-${n}`)
  void forwarder.run()
  let count = 20
  await until(() => {
    if (count === accepted.length) add(`good-${(count += 1)}`)
    return dead.length === 1
  })
})

test('batches that are refused do not hold the others for long', async () => {
  const { forwarder, clock, add, accepted, setService, until } = rig()
  setService(refusesBad)
  for (let n = 0; n < 3; n += 1) add(`good-${n}`)
  for (let n = 0; n < 40; n += 1) add(`bad-${n}`)
  for (let n = 3; n < 100; n += 1) add(`good-${n}`)
  void forwarder.run()
  await until(() => accepted.length === 100)
  expect(clock.now()).toBeLessThan(60_000)
})

test('a refused batch goes back to the queue once, since another forwarder may deliver it', async () => {
  const { forwarder, clock, add, accepted, givenBack, setService, until } = rig()
  setService(() => ({ kind: 'endpoint-rejected', status: 401, reason: 'wrong key' }))
  for (let n = 0; n < 5; n += 1) add(`batch-${n}`, { entries: 10 })
  void forwarder.run()
  await until(() => forwarder.refusesEverything)
  await clock.advance(1_800_000)
  expect(givenBack).toHaveLength(5)
  setService(refusesBad)
  await until(() => forwarder.stats.entries.forwarded === 50)
  expect(forwarder.refusesEverything).toBe(false)
  expect(new Set(accepted).size).toBe(5)
})
