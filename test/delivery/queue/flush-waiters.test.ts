/** A flush of entries on disk makes at least one attempt before it resolves as `spooled`. */
import { expect, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Delivery } from '../../../src/delivery/delivery.js'
import { createIsolationSender } from '../../../src/delivery/isolation/isolation-sender.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { SegmentPosition } from '../../../src/batch/batch.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { DOWN, OK, RecordingReport, UNAUTHORIZED, batchOf, busyFor, setup, watch } from '../scripted-sender.js'

const REQUEST_TIMEOUT_MS = 10_000
const RETRY_MIN_MS = 250
/** Makes each backoff as long as possible. */
const LONGEST = (): number => 0.999

/** Like `setup`, with every batch on disk. */
function onDisk(script: (attempt: number) => Outcome | undefined) {
  const { clock, breaker, sender } = setup((_, attempt) => script(attempt), {
    random: LONGEST,
    maxConcurrency: 1,
    retry: { minMs: RETRY_MIN_MS, maxMs: 30_000 },
  })
  const delivery = new Delivery({
    sender: createIsolationSender({ inner: createRetrySender(sender, breaker), breaker }),
    breaker,
    clock,
    maxBufferBytes: 1_000_000,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
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
  const enqueue = (id: string): void => delivery.enqueue({ ...batchOf(id), place: {} as SegmentPosition })
  /** Advances until the outage is long and a backoff has just started. */
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
])('during the backoff after %s makes an attempt, and is acknowledged if the service is back', async (_, failure) => {
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

test('resolves as spooled after one attempt that started after the call, if the service is still down', async () => {
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

test('makes another attempt if one was in flight before the call', async () => {
  let isBack = false
  const { clock, sender, delivery, enqueue } = onDisk((attempt) => (isBack ? OK : attempt === 1 ? DOWN : undefined))
  enqueue('a')
  await clock.advance(30_000) // the process was suspended during the second attempt
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

test('many flushes in an outage make at most one attempt per retry.minMs', async () => {
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

test('retries in a short outage until the outage is as old as requestTimeoutMs', async () => {
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

test('does not wait for a pending attempt beyond the given time', async () => {
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

test('waits for a Retry-After that ends in time, then makes an attempt', async () => {
  const { clock, breaker, sender, delivery, enqueue } = onDisk((attempt) => (attempt === 1 ? busyFor(60) : OK))
  enqueue('a')
  await clock.advance(58_000)
  expect(breaker.failures.retryAfterLeftMs).toBeGreaterThan(2_000)
  const flushed = delivery.flush(5_000)
  await clock.advance(4_000)
  expect(await flushed).toBe('acknowledged')
  expect(sender.attempts.map(({ at }) => at > 60_000)).toEqual([false, true])
})

test('resolves at once without a request if a Retry-After ends after the given time', async () => {
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

test('waits for a slow service beyond the given time: only an outage makes it spooled', async () => {
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
