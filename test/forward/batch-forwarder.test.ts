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
import { pause } from '../../src/shared/pause.js'
import { FakeClock } from '../fake-clock.js'

const PATIENCE_MS = 60_000
const ACK_WAIT_MS = 30_000
const DELIVERED_BEFORE = 'delivered-before'

interface Rig {
  readonly clock: FakeClock
  readonly forwarder: BatchForwarder
  /** Number of messages that it has not taken. */
  readonly waiting: () => number
  /** Ids of acknowledged messages. */
  readonly acknowledged: string[]
  /** Ids of accepted batches. */
  readonly accepted: string[]
  /** Ids of batches that became dead letters. */
  readonly dead: string[]
  /** Their ids with the part that makes them unique. */
  readonly letters: string[]
  readonly setStorable: (isStorable: boolean) => void
  /** Delays, in milliseconds, with which batches were given back. */
  readonly givenBack: number[]
  readonly add: (
    id: string,
    init?: { readonly text?: string; readonly entries?: number; readonly body?: string },
  ) => void
  readonly setConnected: (isConnected: boolean) => void
  readonly setService: (send: (batch: Batch) => Outcome | Promise<Outcome>) => void
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
  const acknowledged: string[] = []
  const dead: string[] = []
  const letters: string[] = []
  const givenBack: number[] = []
  let isStorable = true
  let sequence = 0
  /** Confirms each acknowledgement. */
  const connected = {
    request: async (id: string) => acknowledged.push(id),
  } as unknown as NatsConnection
  const consumer: BatchForwarderOptions['consumer'] = {
    info: { config: { ack_wait: ACK_WAIT_MS * 1_000_000 } } as never,
    run: async ({ waitForRoom, take }) => {
      for (;;) {
        if (queue.length > 0 && (await waitForRoom(1_000))) {
          const message = queue.shift() as JsMsg
          message.working()
          take(message)
        } else await new Promise<void>((resolve) => void clock.timer(10, resolve))
      }
    },
    close: () => {},
  }
  /** As JetStream: messages that are redelivered come first, and one that is not extended within `ack_wait` is redelivered. */
  const deliver = (seq: number, data: Uint8Array, headers: JsMsg['headers'], deliveryCount: number): void => {
    const reply = headers?.get('Nats-Msg-Id') ?? ''
    const redeliver = (): void => {
      if (!acknowledged.includes(reply)) deliver(seq, data, headers, deliveryCount + 1)
    }
    let cancel = (): void => {}
    const message = {
      data,
      headers,
      seq,
      reply,
      redelivered: deliveryCount > 1,
      info: { deliveryCount, streamSequence: seq, timestampNanos: seq },
      working: () => {
        cancel()
        cancel = clock.timer(ACK_WAIT_MS, redeliver)
      },
      nak: (ms = 0) => {
        cancel()
        givenBack.push(ms)
        cancel = clock.timer(ms, redeliver)
      },
    }
    queue[deliveryCount > 1 ? 'unshift' : 'push'](message as never)
  }
  let send = (batch: Batch): Outcome | Promise<Outcome> => ({
    kind: 'delivered',
    accepted: batch.count,
    rejected: [],
    status: 200,
  })
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
        const outcome = await send(batch)
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
    current: connected as NatsConnection | undefined,
  }
  const forwarder = new BatchForwarder({
    kind: 'logs',
    connection: queueConnection as never,
    consumer,
    pipeline,
    delivered: { has: async (id) => originalId(id) === DELIVERED_BEFORE, add: async () => {} },
    deadLetters: {
      store: async (_kind, stored, signal) => {
        while (!isStorable && stored.length > 0) {
          await pause(clock, 1_000, signal)
          if (signal.aborted) return false
        }
        dead.push(...stored.map(({ batchId }) => originalId(batchId)))
        letters.push(...stored.map(({ batchId }) => batchId))
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
    waiting: () => queue.length,
    accepted,
    acknowledged,
    dead,
    letters,
    givenBack,
    setStorable: (value) => (isStorable = value),
    add: (id, { text = '', entries = 1, body: own } = {}) => {
      sequence += 1
      const list = Array.from({ length: entries }, (_, index) => JSON.stringify({ index, text }))
      const body = Buffer.from(own ?? `{"batch_id":"${id}","logs":[${list.join(',')}]}`)
      const headers = createHeaders()
      headers.set('Nats-Msg-Id', id)
      headers.set('Pino-Ingest-Count', String(entries))
      deliver(sequence, body, headers, 1)
    },
    setConnected: (isConnected) => {
      queueConnection.current = isConnected ? connected : undefined
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

/** Rejects the first of several entries. */
function rejectsFirst({ count }: Batch): Outcome {
  const letter = { index: 0, code: '', field: '', message: '' }
  const rejected = count === 1 ? [] : [letter]
  return { kind: 'delivered', accepted: count - rejected.length, rejected, status: 200 }
}

test.each([
  ['soon', 40, 1, 60_000],
  ['more than may be held', 70, 1, Infinity],
  ['with several entries', 30, 3, Infinity],
])('refused batches give way to the others: %s', async (_case, count, entries, limitMs) => {
  const { forwarder, clock, add, accepted, dead, setService, until } = rig()
  setService(refusesBad)
  for (let n = 0; n < 3; n += 1) add(`good-${n}`)
  for (let n = 0; n < count; n += 1) add(`bad-${n}`, { entries })
  for (let n = 3; n < 60; n += 1) add(`good-${n}`)
  void forwarder.run()
  await until(() => accepted.length === 60)
  expect(clock.now()).toBeLessThan(limitMs)
  // Each accepted batch shows that the refused ones are bad.
  let more = 0
  await until(() => {
    if (more < accepted.length) add(`good-more-${(more = accepted.length)}`)
    return dead.length === count * entries
  })
  expect(new Set(accepted).size).toBe(accepted.length)
})

test.each([
  ['one', 1, 21_000],
  ['together', 15, 1_000],
])(
  'refused batches that exceed the budget give way to the others, and become dead letters: %s',
  async (_, count, size) => {
    const { forwarder, add, accepted, dead, setService, until } = rig({ maxBufferBytes: 20_000 })
    setService(refusesBad)
    for (let n = 0; n < count; n += 1) add(`bad-${n}`, { text: 'x'.repeat(size) })
    for (let n = 0; n < 10; n += 1) add(`good-${n}`)
    void forwarder.run()
    await until(() => accepted.length >= 10)
    let more = accepted.length
    await until(() => {
      if (more === accepted.length) add(`good-${(more += 1)}`)
      return dead.length === count
    })
  },
)

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

test('takes no more than it may send, and no more than its budget until the service works again', async () => {
  const { forwarder, clock, waiting, add, accepted, acknowledged, setService, until } = rig({ maxBufferBytes: 50_000 })
  setService(() => ({ kind: 'retryable', status: 503, reason: 'down' }))
  for (let n = 0; n < 60; n += 1) add(`good-${n}`, { text: 'x'.repeat(9_000) })
  void forwarder.run()
  await clock.advance(120_000)
  expect(waiting()).toBeGreaterThan(40)
  setService(refusesBad)
  await until(() => acknowledged.length === 60)
  expect(new Set(accepted).size).toBe(60)
})

test('extends a batch that waits for the service longer than ack_wait', async () => {
  const { forwarder, clock, add, accepted, acknowledged, setService, until } = rig()
  setService(async (batch) => {
    await pause(clock, 3 * ACK_WAIT_MS, new AbortController().signal)
    return refusesBad(batch)
  })
  add('slow')
  void forwarder.run()
  await until(() => acknowledged.length === 1)
  expect([accepted, forwarder.stats.batches.redelivered]).toEqual([['slow'], 0])
})

test('acknowledges a batch that was delivered before without sending it', async () => {
  const { forwarder, add, accepted, acknowledged, until } = rig()
  add(DELIVERED_BEFORE)
  void forwarder.run()
  await until(() => acknowledged.length === 1)
  expect([accepted, forwarder.stats.batches.duplicate]).toEqual([[], 1])
})

test('acknowledges a batch when its rejected entries are stored, and sends it once', async () => {
  const { forwarder, clock, add, accepted, acknowledged, dead, setStorable, setService, until } = rig()
  setService(rejectsFirst)
  setStorable(false)
  add('mixed', { entries: 2 })
  void forwarder.run()
  await until(() => accepted.length === 1)
  add('next')
  await until(() => acknowledged.includes('next'))
  await clock.advance(2 * ACK_WAIT_MS)
  expect(acknowledged).toEqual(['next'])
  setStorable(true)
  await until(() => acknowledged.includes('mixed'))
  expect([accepted, dead]).toEqual([['mixed', 'next'], ['mixed']])
})

test.each([
  ['hangs', () => new Promise<Outcome>(() => {}), true],
  ['rejected an entry that cannot be stored', rejectsFirst, false],
])('its end gives back a batch if the service %s', async (_, send, isStorable) => {
  const { forwarder, clock, add, givenBack, acknowledged, setStorable, setService, until } = rig()
  setStorable(isStorable)
  setService(send)
  add('held', { entries: 2 })
  void forwarder.run()
  await until(() => forwarder.inFlight === 0 || clock.now() > 1_000)
  let hasEnded = false
  void forwarder.stop(clock.now() + 8_000).then(() => (hasEnded = true))
  await until(() => hasEnded)
  expect([givenBack, acknowledged]).toEqual([[0], []])
  expect(clock.now()).toBeLessThan(12_000)
})

test('stores messages that are not batches as separate letters, also under one id', async () => {
  const { forwarder, add, letters, acknowledged, until } = rig()
  for (const body of ['one', 'two']) add('same', { body })
  add('good')
  void forwarder.run()
  await until(() => acknowledged.length === 3)
  expect(new Set(letters).size).toBe(2)
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
