/** A flush of entries that are on disk: it asks the service at least once before it says `spooled`. */
import { expect, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Delivery } from '../../../src/delivery/delivery.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { Outcome, SegmentPosition } from '../../../src/batch/sender.js'
import { DOWN, OK, RecordingReport, UNAUTHORIZED, batchOf, busyFor, setup, watch } from '../scripted-sender.js'

const REQUEST_TIMEOUT_MS = 10_000
const RETRY_MIN_MS = 250
/** Pauses of the backoff are as long as they can be. */
const LONGEST = (): number => 0.999

/** As `setup`, with every batch on disk. */
function onDisk(script: (attempt: number) => Outcome | undefined) {
  const { clock, breaker, sender } = setup((_, attempt) => script(attempt), {
    random: LONGEST,
    maxConcurrency: 1,
    retry: { minMs: RETRY_MIN_MS, maxMs: 30_000 },
  })
  const delivery = new Delivery({
    sender: createRetrySender(sender, breaker),
    breaker,
    clock,
    maxBufferBytes: 1_000_000,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    account: new Account(),
    report: new RecordingReport(),
    disk: {
      evicted: {
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
  const enqueue = (id: string): void => delivery.enqueue({ ...batchOf(id), place: {} as SegmentPosition })
  /** Until the outage is long, and a pause of the backoff has just begun. */
  const untilPaused = async (): Promise<void> => {
    await clock.advance(2 * REQUEST_TIMEOUT_MS)
    const before = sender.attempts.length
    while (sender.attempts.length === before) await clock.advance(10)
    await clock.advance(RETRY_MIN_MS)
  }
  return { clock, breaker, sender, delivery, enqueue, untilPaused }
}

test.each([
  ['an outage', DOWN],
  ['a wrong key', UNAUTHORIZED],
])('in a pause after %s it asks, and is acknowledged when the service is back', async (_, failure) => {
  let isBack = false
  const { clock, sender, delivery, enqueue, untilPaused } = onDisk(() => (isBack ? OK : failure))
  enqueue('a')
  await untilPaused()
  isBack = true
  const { length } = sender.attempts
  const flushed = delivery.flush(5_000)
  await clock.advance(RETRY_MIN_MS)
  expect(await flushed).toBe('acknowledged')
  expect(sender.attempts).toHaveLength(length + 1)
})

test('while the service is still down it is spooled after one attempt, which began after the call', async () => {
  const { clock, sender, delivery, enqueue, untilPaused } = onDisk(() => DOWN)
  enqueue('a')
  await untilPaused()
  const calledAt = clock.now()
  const { length } = sender.attempts
  const flushed = delivery.flush(5_000)
  await clock.advance(RETRY_MIN_MS)
  expect(await flushed).toBe('spooled')
  expect(sender.attempts.slice(length).map(({ at }) => at >= calledAt)).toEqual([true])
})

test('an attempt that began before the call does not count: the service is asked again', async () => {
  let isBack = false
  const { clock, sender, delivery, enqueue } = onDisk((attempt) => (isBack ? OK : attempt === 1 ? DOWN : undefined))
  enqueue('a')
  await clock.advance(30_000) // the second attempt began, and the process was suspended with it
  expect(sender.attempts).toHaveLength(2)
  const flushed = delivery.flush(5_000)
  const state = watch(flushed)
  sender.attempts[1]?.end({ kind: 'retryable', reason: 'the connection was closed' })
  isBack = true
  await clock.advance(60)
  expect(state.done).toBe(false)
  await clock.advance(RETRY_MIN_MS)
  expect(await flushed).toBe('acknowledged')
  expect(sender.attempts).toHaveLength(3)
})

test('many flushes in an outage make attempts no faster than one per retry.minMs', async () => {
  const { clock, sender, delivery, enqueue, untilPaused } = onDisk(() => DOWN)
  enqueue('a')
  await untilPaused()
  const { length } = sender.attempts
  for (let n = 0; n < 1_000; n += 1) {
    void delivery.flush(5_000)
    await clock.advance(10)
  }
  const gaps = sender.attempts.slice(length).map(({ at }, index, all) => at - (all[index - 1]?.at ?? -Infinity))
  expect(gaps.length).toBeGreaterThan(10)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(RETRY_MIN_MS)
})

test('in a short outage it goes on, until the outage is as old as a request may take', async () => {
  const { clock, delivery, enqueue } = onDisk(() => DOWN)
  enqueue('a')
  await clock.advance(1_000)
  const flushed = delivery.flush(60_000)
  const state = watch(flushed)
  await clock.advance(REQUEST_TIMEOUT_MS - 1_100)
  expect(state.done).toBe(false)
  await clock.advance(200)
  expect(await flushed).toBe('spooled')
})

test('an attempt that does not end is not waited for beyond the time given', async () => {
  const { clock, delivery, enqueue } = onDisk((attempt) => (attempt === 1 ? DOWN : undefined))
  enqueue('a')
  await clock.advance(30_000)
  const flushed = delivery.flush(5_000)
  const state = watch(flushed)
  await clock.advance(4_900)
  expect(state.done).toBe(false)
  await clock.advance(200)
  expect(await flushed).toBe('spooled')
})

test('a Retry-After that ends in time is waited for, and then the service is asked', async () => {
  const { clock, breaker, sender, delivery, enqueue } = onDisk((attempt) => (attempt === 1 ? busyFor(60) : OK))
  enqueue('a')
  await clock.advance(58_000)
  expect(breaker.failures.retryAfterLeftMs).toBeGreaterThan(2_000)
  const flushed = delivery.flush(5_000)
  await clock.advance(4_000)
  expect(await flushed).toBe('acknowledged')
  expect(sender.attempts.map(({ at }) => at > 60_000)).toEqual([false, true])
})

test('a Retry-After that outlasts the time given ends it at once, without a request', async () => {
  const { clock, sender, delivery, enqueue } = onDisk((attempt) => (attempt === 1 ? busyFor(60) : OK))
  enqueue('a')
  await clock.advance(1_000)
  const flushed = delivery.flush(5_000)
  const state = watch(flushed)
  await clock.advance(0)
  expect(state.done).toBe(true)
  expect(await flushed).toBe('spooled')
  expect(sender.attempts).toHaveLength(1)
})

test('a slow service is waited for beyond the time given: only an outage makes it spooled', async () => {
  const { clock, sender, delivery, enqueue } = onDisk(() => undefined)
  enqueue('a')
  const flushed = delivery.flush()
  const state = watch(flushed)
  await clock.advance(2 * REQUEST_TIMEOUT_MS)
  expect(state.done).toBe(false)
  sender.attempts[0]?.end(OK)
  await clock.advance(100)
  expect(await flushed).toBe('acknowledged')
})
