/** A forwarder with an in-memory queue and service. */
import { gzipSync } from 'node:zlib'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { headers as createHeaders } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { BatchForwarder } from '../../src/forward/batch-forwarder.js'
import { createLeasedSender } from '../../src/forward/pulled-batch.js'
import { Account } from '../../src/diagnostics/account.js'
import { toStreamNames } from '../../src/nats/message.js'
import { EndpointPipeline } from '../../src/pipeline/endpoint-pipeline.js'
import type { EndpointPipelineOptions } from '../../src/pipeline/endpoint-pipeline.js'
import { KeyPause } from '../../src/shared/key-pause.js'
import { Signal } from '../../src/shared/signal.js'
import { FakeClock } from '../fake-clock.js'

const PATIENCE_MS = 50_000

interface Rig {
  readonly clock: FakeClock
  readonly forwarder: BatchForwarder
  /** Ids of accepted batches. */
  readonly accepted: string[]
  /** Ids of batches that became dead letters. */
  readonly dead: string[]
  /** Reported failures. */
  readonly failed: Set<string>
  readonly add: (
    id: string,
    init?: { readonly text?: string; readonly entries?: number; readonly gzip?: boolean },
  ) => void
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
  const queue: Msg[] = []
  const accepted: string[] = []
  const dead: string[] = []
  const failed = new Set<string>()
  const unsettled = new Map<string, Msg>()
  let sequence = 0
  let receive = (_message: Msg): void => {}
  let pull = { reply: '', left: 0 }
  const deliver = (): void => {
    while (pull.left > 0 && queue.length > 0) {
      const message = queue.shift() as Msg
      pull.left -= 1
      unsettled.set(message.reply ?? '', message)
      receive(message)
    }
  }
  const settle = (reply: string, text: string): void => {
    const message = unsettled.get(reply)
    if (message === undefined || text === '+WPI') return
    unsettled.delete(reply)
    const { delay = 0 } = (text.startsWith('-NAK {') ? JSON.parse(text.slice(5)) : {}) as { readonly delay?: number }
    if (!text.startsWith('-NAK')) return
    clock.timer(delay / 1_000_000, () => {
      const again = reply.replace(/(?<=^\$JS\.ACK\.S\.c\.)\d+/, (deliveries) => String(Number(deliveries) + 1))
      queue.unshift({ ...message, reply: again } as Msg)
      deliver()
    })
  }
  const status = (subject: string, code: number): void =>
    receive({ subject, headers: { code, description: '' } } as unknown as Msg)
  const connection = {
    subscribe: (_subject: string, options: { callback: (error: Error | null, message: Msg) => void }) => {
      receive = (message) => options.callback(null, message)
      return { drain: () => Promise.resolve(), isClosed: () => false }
    },
    publish: (subject: string, body: string, options?: { readonly reply?: string }) => {
      if (!subject.includes('MSG.NEXT')) return settle(subject, body)
      const own = { reply: options?.reply ?? '', left: (JSON.parse(body) as { readonly batch: number }).batch }
      pull = own
      clock.timer(0, deliver)
      for (let ms = 1_000; ms < 5_000; ms += 1_000)
        clock.timer(ms, () => pull === own && own.left > 0 && status(own.reply, 100))
      clock.timer(5_000, () => {
        if (pull === own && own.left > 0) status(own.reply, 408)
        own.left = 0
      })
    },
    request: async (subject: string, body?: unknown) => {
      if (subject.startsWith('$JS.ACK')) settle(subject, String(body))
      const text = JSON.stringify({ created: 'c', state: {}, config: { ack_wait: 30e9 } })
      return { data: Buffer.from(text) as Uint8Array } as Msg
    },
    options: {},
  } as unknown as NatsConnection
  let send = (batch: Batch): Outcome => ({ kind: 'delivered', accepted: batch.count, rejected: [], status: 200 })
  const ignored = new Proxy({}, { get: () => () => {} })
  const pipeline = new EndpointPipeline({
    settings: {
      retry: { minMs: 100, maxMs: 30_000 },
      maxConcurrency: 8,
      maxBufferBytes: Infinity,
      batch: {},
      compression: 'none',
      spool: false,
    },
    target: {
      sender: createLeasedSender({
        send: async (batch: Batch) => {
          await new Promise<void>((resolve) => void clock.timer(10, resolve))
          const outcome = send(batch)
          if (outcome.kind === 'delivered') accepted.push(originalId((batch.origin ?? batch).batchId))
          return outcome
        },
      }),
    },
    clock,
    account: new Account(),
    pause: new KeyPause(clock),
    report: ignored,
    mask: (text: string) => text,
  } as unknown as EndpointPipelineOptions)
  const queueConnection = {
    current: connection as NatsConnection | undefined,
    connected: new Signal<[NatsConnection]>(),
    disconnected: new Signal(),
  }
  const forwarder = new BatchForwarder({
    kind: 'logs',
    names: toStreamNames({ stream: 'S', subject: 's' }),
    connection: queueConnection as never,
    incarnation: { id: 'c', read: async () => ({}), isStill: async () => true } as never,
    pipeline,
    delivered: { find: async () => undefined, add: async () => {}, addUnfinished: async () => {} },
    deadLetters: {
      store: async (_kind, letters) => {
        dead.push(...letters.map(({ batchId }) => originalId(batchId)))
        return true
      },
    },
    health: { failed: (part) => void failed.add(part), works: (part) => void failed.delete(part) },
    clock,
    maxBufferBytes,
    maxConcurrency: 8,
  })
  return {
    clock,
    forwarder,
    accepted,
    dead,
    failed,
    add: (id, { text = '', entries = 1, gzip = false } = {}) => {
      sequence += 1
      const list = Array.from({ length: entries }, (_, index) => JSON.stringify({ index, text }))
      const body = Buffer.from(`{"batch_id":"${id}","logs":[${list.join(',')}]}`)
      const headers = createHeaders()
      headers.set('Nats-Msg-Id', id)
      headers.set('Pino-Ingest-Count', String(entries))
      if (gzip) headers.set('Content-Encoding', 'gzip')
      const reply = `$JS.ACK.S.c.1.${sequence}.${sequence}.1.0`
      queue.push({ subject: 's.logs', data: gzip ? gzipSync(body) : body, headers, reply } as unknown as Msg)
      deliver()
    },
    setConnected: (isConnected) => {
      queueConnection.current = isConnected ? connection : undefined
      if (isConnected) queueConnection.connected.emit(connection)
      else {
        pull.left = 0
        queueConnection.disconnected.emit()
      }
    },
    setService: (service) => (send = service),
    until: async (condition) => {
      // Decompression takes real time, not time of the test clock.
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

test.each([false, true])(
  'a refused batch that exceeds the budget gives way to the others, compressed: %s',
  async (gzip) => {
    const { forwarder, add, accepted, setService, until } = rig({ maxBufferBytes: 10_000 })
    setService(refusesBad)
    add('good-0', { gzip })
    add('bad', { text: 'x'.repeat(12_000), gzip })
    for (let n = 1; n < 20; n += 1) add(`good-${n}`, { gzip })
    void forwarder.run()
    await until(() => accepted.length === 20)
  },
)

test('refused batches that exceed the budget together give way to the others', async () => {
  const { forwarder, add, accepted, setService, until } = rig({ maxBufferBytes: 20_000 })
  setService(refusesBad)
  for (let n = 0; n < 60; n += 1) add(`bad-${n}`, { text: 'x'.repeat(1_000) })
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
  await clock.advance(31_000)
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

test.each([false, true])(
  'a refused entry that exceeds the budget becomes a dead letter when others are accepted, gzip: %s',
  async (gzip) => {
    const { forwarder, add, accepted, dead, setService, until } = rig({ maxBufferBytes: 10_000 })
    setService(refusesBad)
    add('bad', { text: 'x'.repeat(12_000), gzip })
    for (let n = 0; n < 20; n += 1) add(`good-${n}`, { gzip })
    void forwarder.run()
    await until(() => accepted.length === 20 && dead.length === 1)
  },
)

test('is ready again after a short outage of NATS while the service is down', async () => {
  const { forwarder, clock, add, failed, accepted, setConnected, setService, until } = rig()
  void forwarder.run()
  // The concurrency limit rises, so it requests several batches.
  let count = 0
  await until(() => {
    for (let n = 0; n < 6; n += 1) add(`batch-${(count += 1)}`)
    return forwarder.limit > 2
  })
  await until(() => accepted.length === count)
  setService(() => ({ kind: 'retryable', reason: 'ECONNREFUSED' }))
  add('last')
  await until(() => forwarder.inFlight === 1 && forwarder.limit === 1)
  setConnected(false)
  await clock.advance(2_000)
  expect(forwarder.isReady).toBe(false)
  setConnected(true)
  await clock.advance(60_000)
  await forwarder.inspect()
  expect(forwarder.isReady).toBe(true)
  expect([...failed]).toEqual([])
  setService(refusesBad)
  await until(() => accepted.includes('last'))
})

test('a lost connection is not reported as a failure of the consumer', async () => {
  const { forwarder, clock, failed, setConnected, until } = rig()
  void forwarder.run()
  await until(() => forwarder.isReady)
  setConnected(false)
  await clock.advance(2_000)
  expect([...failed]).toEqual([])
  setConnected(true)
  await clock.advance(10)
  expect(forwarder.isReady).toBe(true)
})
