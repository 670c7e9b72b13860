import { expect, describe, test } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { Delivery } from '../../src/delivery/delivery.js'
import { FailureState } from '../../src/delivery/retry/failure-state.js'
import { CircuitBreaker } from '../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../src/delivery/retry/retry-sender.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { LOCAL_URL } from '../../src/options/resolve-options.js'
import { FakeClock, settled } from '../fake-clock.js'
import { DOWN, OK, RecordingReport, batchOf, busyFor, many, setup, watch } from './scripted-sender.js'

describe('concurrency', () => {
  test('is one for a single batch, and rises to the maximum while batches wait', async () => {
    const { clock, sender, enqueue } = setup(() => OK, { latencyMs: 20, maxConcurrency: 4 })
    for (const batch of many(3)) {
      enqueue(batch)
      await clock.advance(25)
    }
    expect(sender.maxInFlight).toBe(1)
    enqueue(...many(10))
    await clock.advance(100)
    expect(sender.maxInFlight).toBe(4)
  })

  test('of one keeps the order strictly, even after failures', async () => {
    const { clock, sender, report, enqueue } = setup((_, attempt) => (attempt % 3 === 0 ? DOWN : OK), {
      maxConcurrency: 1,
    })
    enqueue(...many(12))
    await clock.advance(60_000)
    expect(sender.maxInFlight).toBe(1)
    expect(report.deliveredIds).toEqual(many(12).map(({ batchId }) => batchId))
  })

  test('of one keeps the order if flush() is called while a failed batch waits', async () => {
    const { clock, delivery, report, enqueue } = setup((_, attempt) => (attempt === 2 ? DOWN : OK), {
      maxConcurrency: 1,
      latencyMs: 200,
      retry: { minMs: 1_500, maxMs: 60_000 },
      random: () => 0.9,
    })
    enqueue(...many(4))
    await clock.advance(450)
    void delivery.flush(10_000)
    await clock.advance(5_000)
    expect(report.deliveredIds).toEqual(many(4).map(({ batchId }) => batchId))
  })
})

test('an outage loses no entry', async () => {
  const { clock, account, report, enqueue } = setup(() => (clock.now() >= 5000 && clock.now() < 15_000 ? DOWN : OK), {
    latencyMs: 30,
  })
  for (let second = 0; second < 20; second++) {
    enqueue(...many(10, 100))
    await clock.advance(1000)
    expect(account.snapshot().balances).toBe(true)
  }
  await clock.advance(10_000)
  expect(account.snapshot()).toMatchObject({ received: 20_000, accepted: 20_000, pending: 0, balances: true })
  expect(report.drops).toEqual([])
})

test('counts each final outcome under its own name', async () => {
  const named = [{ index: 1, code: 'VALIDATION_ERROR', field: 'level', message: 'invalid level' }]
  const outcomes: Record<string, Outcome> = {
    whole: { kind: 'delivered', accepted: 10, rejected: [] },
    partly: { kind: 'delivered', accepted: 9, rejected: named },
    unreadable: { kind: 'delivered', accepted: 10, rejected: [], unreadable: true },
    refused: { kind: 'refused', status: 422, reason: '422 all wrong', rejected: [] },
    abandoned: { kind: 'abandoned', reason: 'stopped', accepted: 4, rejected: named },
  }
  const { clock, account, report, enqueue } = setup((batch) => outcomes[batch.batchId])
  enqueue(...Object.keys(outcomes).map((batchId) => batchOf(batchId, 10)))
  await clock.advance(0)
  expect(account.snapshot()).toMatchObject({ accepted: 33, rejected: 12, dropped: { shutdown: 5 }, pending: 0 })
  expect(account.snapshot().balances).toBe(true)
  expect(report.drops).toEqual([{ count: 5, reason: 'shutdown', detail: 'stopped' }])
  expect(report.deliveredIds).toEqual(['whole', 'partly', 'unreadable', 'abandoned'])
  expect(report.rejections).toEqual([
    { count: 1, reason: 'invalid level' },
    { count: 10, reason: '422 all wrong' },
    { count: 1, reason: 'invalid level' },
  ])
  expect(report.problems).toMatchObject([{ code: 'MISDIRECTED' }])
})

test('a sender that rejects or throws loses only its batch, which is counted', async () => {
  const clock = new FakeClock()
  const account = new Account()
  const report = new RecordingReport()
  const breaker = {
    limit: 1,
    failures: new FailureState({ clock, retry: { minMs: 250, maxMs: 30_000 } }),
    isFinished: false,
    startShutdown: () => {},
    retrySoon: () => {},
    onCapacity: () => {},
  }
  const sender = {
    send: ({ batchId }: { batchId: string }): Promise<Outcome> => {
      if (batchId === 'throws') throw new Error('bug 1')
      return batchId === 'rejects' ? Promise.reject(new Error('bug 2')) : Promise.resolve(OK)
    },
  }
  const delivery = new Delivery({
    sender,
    breaker,
    clock,
    maxBufferBytes: 20_000,
    requestTimeoutMs: 10_000,
    account,
    report,
  })
  account.addStage(() => delivery.pendingEntries)
  for (const batchId of ['throws', 'rejects', 'fine']) {
    account.received += 1
    delivery.enqueue(batchOf(batchId))
  }
  await settled()
  expect(account.snapshot()).toMatchObject({ accepted: 1, dropped: { shutdown: 2 }, pending: 0, balances: true })
  expect(report.drops.map(({ detail }) => detail)).toEqual(['Error: bug 1', 'Error: bug 2'])
})

test('an entry that is not admitted is counted, and reported with the limit that was reached', () => {
  const { account, delivery, report } = setup(() => OK)
  for (const reason of ['buffer', 'spool'] as const) delivery.refuse(reason)
  expect(account.snapshot().dropped).toMatchObject({ buffer: 1, spool: 1 })
  expect(report.drops).toEqual([
    { count: 1, reason: 'buffer', detail: expect.stringContaining('maxBufferBytes') },
    { count: 1, reason: 'spool', detail: expect.stringContaining('spool.maxBytes') },
  ])
})

describe('memory', () => {
  test('is limited: the oldest waiting batch is dropped as a whole, counted and reported', async () => {
    const { clock, account, report, delivery, enqueue } = setup(() => DOWN, {
      maxBufferBytes: 20_000,
      maxConcurrency: 1,
    })
    for (const batch of many(30, 7)) {
      enqueue(batch)
      await clock.advance(10)
      expect(delivery.usedShare).toBeLessThanOrEqual(1)
      expect(account.snapshot().balances).toBe(true)
    }
    expect(account.snapshot()).toMatchObject({ dropped: { buffer: 140 }, pending: 70 })
    expect(report.drops).toHaveLength(20)
    expect(report.drops[0]).toMatchObject({ count: 7, reason: 'buffer' })
    expect(report.drops[0]?.detail).toMatch(/20000.*level info.*503 down/)
  })

  test('keeps the newest batches and sends them in order after the outage', async () => {
    let up = false
    const { clock, report, enqueue } = setup(() => (up ? OK : DOWN), { maxBufferBytes: 20_000, maxConcurrency: 1 })
    enqueue(...many(30))
    await clock.advance(1000)
    up = true
    await clock.advance(30_000)
    expect(report.deliveredIds).toEqual([
      'b0',
      ...many(30)
        .slice(21)
        .map(({ batchId }) => batchId),
    ])
  })

  test('does not drop waiting batches for a batch that never fits', async () => {
    const { clock, account, delivery, enqueue } = setup(() => undefined, { maxBufferBytes: 20_000, maxConcurrency: 1 })
    enqueue(...many(4), batchOf('giant', 5, 18_000))
    await clock.advance(0)
    expect(delivery.usedShare).toBe(0.4)
    expect(account.snapshot()).toMatchObject({ dropped: { buffer: 5 }, pending: 4, balances: true })
  })
})

describe('flush', () => {
  test('resolves when all batches enqueued before it are settled', async () => {
    const { clock, sender, delivery, enqueue } = setup(() => undefined)
    enqueue(batchOf('a'), batchOf('b'))
    const flushed = watch(delivery.flush())
    enqueue(batchOf('c'))
    await clock.advance(0)
    sender.attempts[0]?.end({ kind: 'refused', status: 400, reason: 'no', rejected: [] })
    await settled()
    expect(flushed.done).toBe(false)
    sender.attempts[2]?.end(OK)
    await settled()
    expect(flushed.done).toBe(false)
    sender.attempts[1]?.end(OK)
    await settled()
    expect(flushed.done).toBe(true)
  })

  test('resolves immediately if nothing waits', async () => {
    const { clock, delivery, enqueue } = setup(() => OK)
    await delivery.flush()
    enqueue(...many(3))
    await clock.advance(0)
    await delivery.flush()
  })

  test('counts a dropped batch as settled', async () => {
    const { clock, sender, delivery, enqueue } = setup(() => undefined, { maxBufferBytes: 4_000, maxConcurrency: 1 })
    enqueue(batchOf('sent'), batchOf('dropped later'))
    const flushed = watch(delivery.flush())
    await clock.advance(0)
    sender.attempts[0]?.end(OK)
    await settled()
    expect(flushed.done).toBe(false)
    sender.attempts[1]?.end(OK)
    await settled()
    expect(flushed.done).toBe(true)

    enqueue(batchOf('in flight'), batchOf('oldest'))
    const both = watch(delivery.flush())
    enqueue(batchOf('newest'))
    sender.attempts[2]?.end(OK)
    await settled()
    expect(both.done).toBe(true)
  })

  test('waits through an outage', async () => {
    const { clock, delivery, enqueue } = setup(() => (clock.now() < 8000 ? DOWN : OK))
    enqueue(...many(5))
    const flushed = watch(delivery.flush())
    await clock.advance(7999)
    expect(flushed.done).toBe(false)
    await clock.advance(10_000)
    expect(flushed.done).toBe(true)
  })
})

describe('drain', () => {
  test('ends as soon as everything is delivered, and leaves no timer', async () => {
    const { clock, account, delivery, enqueue, report } = setup(() => OK, { latencyMs: 100 })
    enqueue(...many(10, 100))
    const drained = watch(delivery.drain(3000))
    await clock.advance(199)
    expect(drained.done).toBe(false)
    await clock.advance(1)
    expect(drained.done).toBe(true)
    expect(account.snapshot()).toMatchObject({ accepted: 1000, pending: 0, balances: true })
    expect(report.drops).toEqual([])
    expect(clock.timers).toBe(0)
  })

  test('at its deadline aborts, counts and reports the remaining batches once, with the last failure', async () => {
    const { clock, sender, account, delivery, enqueue, report } = setup((_, attempt) =>
      attempt <= 8 ? DOWN : undefined,
    )
    enqueue(...many(20, 100))
    await clock.advance(100)
    const drained = watch(delivery.drain(3000))
    await clock.advance(2999)
    expect(drained.done).toBe(false)
    expect(sender.attempts.at(-1)?.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(sender.attempts.at(-1)?.signal.aborted).toBe(true)
    await clock.advance(100) // until the aborted requests end
    expect(drained.done).toBe(true)
    expect(report.drops).toEqual([
      { count: 2000, reason: 'shutdown', detail: expect.stringMatching(/shutdownTimeoutMs 3000.*503 down/) },
    ])
    sender.attempts.at(-1)?.end(OK) // too late, and already counted
    await settled()
    expect(account.snapshot()).toMatchObject({ accepted: 0, dropped: { shutdown: 2000 }, pending: 0, balances: true })
    expect(clock.timers).toBe(0)
  })

  test('ends at once if nothing listens at the implicit local URL', async () => {
    const nobody: Outcome = { kind: 'retryable', reason: 'refused', nobodyListens: true }
    const { clock, sender, account, delivery, enqueue, report } = setup(() => nobody, { random: () => 0.9 })
    enqueue(...many(3))
    await clock.advance(100)
    const before = sender.attempts.length
    const drained = watch(delivery.drain(3000))
    await clock.advance(0)
    expect(drained.done).toBe(true)
    expect(sender.attempts).toHaveLength(before + 1)
    expect(account.snapshot()).toMatchObject({ dropped: { shutdown: 3 }, pending: 0, balances: true })
    expect(report.drops).toEqual([{ count: 3, reason: 'shutdown', detail: expect.stringContaining(LOCAL_URL) }])
  })

  test('skips the backoff for one last attempt, which delivers everything', async () => {
    let up = false
    const { clock, account, delivery, enqueue } = setup(() => (up ? OK : DOWN), {
      retry: { minMs: 30_000, maxMs: 30_000 },
      random: () => 0.9,
    })
    enqueue(...many(20, 100))
    await clock.advance(100)
    up = true
    const drained = watch(delivery.drain(3000))
    await clock.advance(0)
    expect(drained.done).toBe(true)
    expect(account.snapshot()).toMatchObject({ accepted: 2000, balances: true })
  })

  test('repeats a failed last attempt after minMs, however long the pauses were', async () => {
    let isUp = false
    const { clock, account, delivery, enqueue } = setup(() => (isUp ? OK : DOWN), { random: () => 0.9 })
    enqueue(...many(3))
    await clock.advance(600_000)
    const drained = watch(delivery.drain(3000))
    await clock.advance(100)
    isUp = true
    await clock.advance(1000)
    expect(drained.done).toBe(true)
    expect(account.snapshot()).toMatchObject({ accepted: 3, balances: true })
  })

  test('waits for a Retry-After that ends before the deadline', async () => {
    const { clock, sender, account, delivery, enqueue } = setup((_, attempt) => (attempt === 1 ? busyFor(2) : OK), {
      maxConcurrency: 1,
    })
    enqueue(...many(3))
    await clock.advance(0)
    const drained = watch(delivery.drain(3000))
    await clock.advance(2500)
    expect(drained.done).toBe(true)
    expect(sender.attempts.slice(1).every(({ at }) => at >= 2000)).toBe(true)
    expect(account.snapshot()).toMatchObject({ accepted: 3, balances: true })
  })

  test('delivers batches added while it runs, and counts later ones as dropped', async () => {
    const { clock, account, delivery, enqueue, report } = setup(() => OK, { latencyMs: 100 })
    enqueue(batchOf('before'))
    const drained = delivery.drain(3000)
    await clock.advance(50)
    enqueue(batchOf('during'))
    await clock.advance(200)
    await drained
    expect(report.deliveredIds).toEqual(['before', 'during'])
    enqueue(batchOf('after', 4))
    expect(account.snapshot()).toMatchObject({ accepted: 2, dropped: { shutdown: 4 }, pending: 0, balances: true })
    expect(report.drops).toMatchObject([{ count: 4, reason: 'shutdown' }])
    await delivery.flush()
    expect(delivery.drain(1)).toBe(drained)
  })

  test('resolves pending flushes', async () => {
    const { clock, delivery, enqueue } = setup(() => undefined)
    enqueue(...many(20))
    const flushed = watch(delivery.flush())
    void delivery.drain(500)
    await clock.advance(600)
    expect(flushed.done).toBe(true)
  })
})

describe('abandon', () => {
  test('counts and reports in the same tick, and accepts nothing more', async () => {
    const { clock, sender, account, delivery, enqueue, report } = setup(() => undefined, { maxConcurrency: 2 })
    enqueue(...many(5, 10))
    const flushed = watch(delivery.flush())
    delivery.abandon()
    expect(account.snapshot()).toMatchObject({ dropped: { shutdown: 50 }, pending: 0, balances: true })
    expect(report.drops).toMatchObject([{ count: 50, reason: 'shutdown' }])
    expect(sender.attempts.map(({ signal }) => signal.aborted)).toEqual([true, true])
    enqueue(batchOf('after'))
    delivery.abandon()
    sender.attempts[0]?.end(OK)
    await clock.advance(0)
    expect(flushed.done).toBe(true)
    await delivery.drain(1000)
    expect(account.snapshot()).toMatchObject({ accepted: 0, dropped: { shutdown: 51 }, balances: true })
  })

  test('reports the losses once during a drain', async () => {
    const { clock, account, delivery, enqueue, report } = setup(() => undefined)
    enqueue(...many(5))
    const drained = delivery.drain(1000)
    await clock.advance(500)
    delivery.abandon()
    await clock.advance(500)
    await drained
    expect(report.drops).toMatchObject([{ count: 5, reason: 'shutdown' }])
    expect(account.snapshot()).toMatchObject({ dropped: { shutdown: 5 }, balances: true })
  })
})

test('requests that have hung since before a failure delay no others', async () => {
  const clock = new FakeClock()
  const breaker = new CircuitBreaker({
    clock,
    maxConcurrency: 32,
    retry: { minMs: 250, maxMs: 30_000 },
    random: () => 0,
  })
  const fail: ((outcome: Outcome) => void)[] = []
  let doesHang = false
  const sender = {
    send: () => (doesHang ? new Promise<Outcome>((resolve) => fail.push(resolve)) : Promise.resolve(OK)),
  }
  const account = new Account()
  const delivery = new Delivery({
    sender: createRetrySender(sender, breaker),
    breaker,
    clock,
    maxBufferBytes: 64 * 2 ** 20,
    requestTimeoutMs: 10_000,
    account,
    report: new RecordingReport(),
  })
  for (let n = 0; n < 200; n += 1) delivery.enqueue(batchOf(`before${n}`))
  await clock.advance(100)
  doesHang = true
  for (let n = 0; n < 20; n += 1) delivery.enqueue(batchOf(`hangs${n}`))
  await clock.advance(100)
  expect(fail.length).toBeGreaterThan(10)
  doesHang = false
  fail[0]?.(DOWN)
  await clock.advance(6_000)
  const { accepted } = account
  for (let n = 0; n < 500; n += 1) {
    delivery.enqueue(batchOf(`after${n}`))
    await clock.advance(10)
  }
  expect(account.accepted - accepted).toBeGreaterThan(400)
  for (const one of fail) one(OK)
  await clock.advance(10_000)
  expect(delivery.pendingEntries).toBe(0)
})
