/** A Retry-After received by another part of the transport: it counts as an outage until it has passed. */
import { expect, test, vi } from 'vitest'
import { Delivery } from '../../../src/delivery/delivery.js'
import type { SegmentPosition } from '../../../src/batch/batch.js'
import { OK, DOWN, RecordingReport, batchOf, busyFor, many, setup, watch } from '../scripted-sender.js'
import { Account } from '../../../src/diagnostics/account.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'

test('counts as a failure until it has passed', async () => {
  const { clock, breaker } = setup(() => OK, { random: () => 0 })
  await clock.advance(1_000)
  breaker.applyRetryAfter(20_000)
  expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs, breaker.failures.retryAfterLeftMs]).toEqual([
    'the service sent a Retry-After',
    0,
    20_000,
  ])
  await clock.advance(5_000)
  breaker.applyRetryAfter(1_000) // does not shorten it
  expect([breaker.failures.outageAgeMs, breaker.failures.retryAfterLeftMs]).toEqual([5_000, 15_000])
  await clock.advance(15_000)
  expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs, breaker.failures.retryAfterLeftMs]).toEqual([
    undefined,
    0,
    0,
  ])
})

test('a flush of batches on disk does not wait for a Retry-After that ends too late', async () => {
  const { clock, breaker, sender } = setup(() => OK, { random: () => 0 })
  const delivery = new Delivery({
    sender: createRetrySender(sender, breaker),
    breaker,
    clock,
    maxBufferBytes: 1_000_000,
    requestTimeoutMs: 10_000,
    account: new Account(),
    report: new RecordingReport(),
    disk: {
      spilled: {
        batches: 0,
        hasMore: false,
        push: () => {},
        pass: () => {},
        unshift: () => {},
        next: () => Promise.resolve(false),
      },
      recovery: { hasMore: false, next: () => Promise.resolve(false) },
      retainedEntries: 0,
    },
  })
  breaker.applyRetryAfter(3_600_000)
  delivery.enqueue({ ...batchOf('a'), place: {} as SegmentPosition })
  const flushed = delivery.flush()
  await clock.advance(0)
  expect(await flushed).toBe('spooled')
  expect(sender.attempts).toEqual([])
})

test('the reply to an earlier request does not end it', async () => {
  const onRecovery = vi.fn()
  const { clock, breaker, sender, enqueue } = setup((_, attempt) => (attempt === 1 ? undefined : OK), {
    random: () => 0,
    onRecovery,
  })
  enqueue(batchOf('a'))
  await clock.advance(0)
  breaker.applyRetryAfter(5_000)
  sender.attempts[0]?.end(OK)
  await clock.advance(1_000)
  expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs]).toEqual([
    'the service sent a Retry-After',
    1_000,
  ])
  expect(onRecovery).not.toHaveBeenCalled()
  enqueue(batchOf('b'))
  await clock.advance(3_999)
  expect(sender.attempts).toHaveLength(1)
  await clock.advance(1)
  expect(sender.attempts.map(({ at }) => at)).toEqual([0, 5_000])
  expect(onRecovery).toHaveBeenCalledExactlyOnceWith(0, false)
})

test('the first success afterwards ends it once, without the ramp-up of an outage', async () => {
  const onRecovery = vi.fn()
  const { clock, breaker, sender, enqueue } = setup(() => OK, { random: () => 0, onRecovery })
  enqueue(...many(3))
  await clock.advance(30_000)
  breaker.applyRetryAfter(60_000)
  await clock.advance(1_000)
  enqueue(...many(50))
  await clock.advance(59_000)
  // All in one tick: at 1.7 times the earlier rate they would take minutes.
  expect(sender.attempts.slice(3).map(({ at }) => at)).toEqual(Array.from({ length: 50 }, () => 90_000))
  expect(onRecovery).toHaveBeenCalledExactlyOnceWith(0, false)
})

test('does not add to the age of a later outage', async () => {
  const ages: number[] = []
  const { clock, breaker, enqueue } = setup(() => DOWN, {
    random: () => 0.5,
    onFailure: (_, ageMs) => ages.push(ageMs),
  })
  breaker.applyRetryAfter(1_000)
  await clock.advance(3_600_000)
  enqueue(batchOf('a'))
  await clock.advance(0)
  expect(ages).toEqual([0])
})

test('a failure during it has its age, and makes it an outage', async () => {
  const ages: number[] = []
  const onRecovery = vi.fn()
  let up = false
  const { clock, breaker, sender, enqueue } = setup((_, attempt) => (attempt === 1 ? undefined : up ? OK : DOWN), {
    random: () => 0,
    onRecovery,
    onFailure: (_, ageMs) => ages.push(ageMs),
  })
  enqueue(batchOf('a'))
  await clock.advance(0)
  breaker.applyRetryAfter(5_000)
  await clock.advance(2_000)
  sender.attempts[0]?.end(DOWN)
  await clock.advance(0)
  expect([ages, breaker.failures.lastFailure]).toEqual([[2_000], '503 down'])
  up = true
  await clock.advance(4_000)
  expect(onRecovery).toHaveBeenCalledExactlyOnceWith(5_000, true)
  expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs]).toEqual([undefined, 0])
})

test('a Retry-After of 0 ms has no effect', () => {
  const { breaker } = setup(() => OK)
  breaker.applyRetryAfter(0)
  expect([breaker.failures.lastFailure, breaker.failures.retryAfterLeftMs]).toEqual([undefined, 0])
})

test('applies after a successful probe has ended the outage', async () => {
  const { clock, breaker, sender, enqueue } = setup((_, attempt) => (attempt <= 3 ? undefined : OK), {
    random: () => 0,
  })
  enqueue(...many(2))
  await clock.advance(0)
  sender.attempts[0]?.end(DOWN)
  await clock.advance(1_000)
  expect(sender.attempts).toHaveLength(3)
  sender.attempts[1]?.end(busyFor(5))
  await clock.advance(100)
  sender.attempts[2]?.end(OK)
  await clock.advance(400)
  expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs]).toEqual(['the service sent a Retry-After', 500])
})

test('a drain does not wait for a longer Retry-After received meanwhile', async () => {
  const { clock, breaker, delivery, enqueue, report, account, sender } = setup(() => undefined, {
    random: () => 0,
    maxConcurrency: 1,
  })
  enqueue(...many(3))
  await clock.advance(0)
  const drained = watch(delivery.drain(3_000))
  await clock.advance(10)
  sender.attempts[0]?.end(OK)
  breaker.applyRetryAfter(60_000)
  await clock.advance(0)
  expect([drained.done, sender.attempts.length]).toEqual([true, 1])
  expect(report.drops).toEqual([
    { count: 2, reason: 'shutdown', detail: expect.stringContaining('the service sent a Retry-After') },
  ])
  expect(account.snapshot()).toMatchObject({ accepted: 1, dropped: { shutdown: 2 }, balances: true })
})
