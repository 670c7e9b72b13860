import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/shared/clock.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { Retryable, Outcome } from '../../../src/batch/outcome.js'
import type { Sender } from '../../../src/batch/sender.js'
import { settled } from '../../fake-clock.js'
import { DOWN, OK, UNAUTHORIZED, batchOf, busyFor, many, setup, watch } from '../scripted-sender.js'

describe('Retry-After', () => {
  test('applies to every batch, not only to the one that received it', async () => {
    const { clock, sender, account, enqueue } = setup((_, attempt) => (attempt <= 1 ? busyFor(2) : OK))
    enqueue(...many(20))
    await clock.advance(1999)
    expect(sender.attempts).toHaveLength(8) // already in flight at the first reply
    await clock.advance(10_000)
    const later = sender.attempts.slice(8)
    expect(later.every(({ at }) => at >= 2000)).toBe(true)
    expect(account.snapshot()).toMatchObject({ accepted: 20, pending: 0, balances: true })
  })

  test('applies again after each reply that has one', async () => {
    const { clock, sender, account, enqueue } = setup(() => (clock.now() < 6000 ? busyFor(2) : OK), { latencyMs: 20 })
    const replies: number[] = []
    enqueue(...many(20, 100))
    for (let at = 0; at < 12_000; at += 10) {
      const inFlight = sender.inFlight
      await clock.advance(10)
      if (sender.inFlight < inFlight && clock.now() < 6000) replies.push(clock.now())
    }
    for (const repliedAt of replies) {
      const early = sender.attempts.filter(({ at }) => at > repliedAt && at < repliedAt + 1990)
      expect(early).toEqual([])
    }
    expect(replies.length).toBeGreaterThanOrEqual(3)
    expect(account.snapshot()).toMatchObject({ accepted: 2000, pending: 0, balances: true })
  })

  test('of a batch in flight applies even after a successful probe', async () => {
    const { clock, sender, enqueue } = setup((_, attempt) => (attempt <= 2 ? undefined : OK), { random: () => 0.5 })
    enqueue(...many(2))
    await clock.advance(0)
    sender.attempts[0]?.end(DOWN)
    await clock.advance(1000)
    expect(sender.attempts).toHaveLength(3)
    sender.attempts[1]?.end(busyFor(5))
    await settled()
    enqueue(...many(5))
    await clock.advance(4999)
    expect(sender.attempts).toHaveLength(3)
    await clock.advance(1000)
    expect(sender.attempts).toHaveLength(9)
  })

  test('is not shortened by another reply', async () => {
    const { clock, sender, enqueue } = setup((_, attempt) => (attempt <= 2 ? undefined : OK))
    enqueue(...many(2))
    sender.attempts[0]?.end(busyFor(5))
    await settled()
    sender.attempts[1]?.end(busyFor(1))
    await clock.advance(4999)
    expect(sender.attempts).toHaveLength(2)
    await clock.advance(1000)
    expect(sender.attempts).toHaveLength(4)
  })

  test('is not shortened by the shutdown; a backoff is', async () => {
    const busy = setup((_, attempt) => (attempt === 1 ? busyFor(2) : OK))
    busy.enqueue(batchOf('a'))
    await busy.clock.advance(1)
    busy.breaker.startShutdown(10_000)
    await busy.clock.advance(1998)
    expect(busy.sender.attempts).toHaveLength(1)
    await busy.clock.advance(500)
    expect(busy.sender.attempts).toHaveLength(2)

    const down = setup((_, attempt) => (attempt === 1 ? DOWN : OK), {
      random: () => 0.99,
      retry: { minMs: 5000, maxMs: 30_000 },
    })
    down.enqueue(batchOf('a'))
    await down.clock.advance(1)
    expect(down.sender.attempts).toHaveLength(1)
    down.breaker.startShutdown(10_000)
    await settled()
    expect(down.sender.attempts.map(({ at }) => at)).toEqual([0, 1])
  })

  test('has a jitter of at most a tenth, and at most 1 s', async () => {
    for (const [seconds, jitterMs] of [
      [2, 200],
      [100, 1000],
    ] as const) {
      const { clock, sender, enqueue } = setup((_, attempt) => (attempt === 1 ? busyFor(seconds) : OK), {
        random: () => 0.999,
      })
      enqueue(batchOf('a'))
      await clock.advance(2 * 1000 * seconds)
      const waitedMs = sender.attempts[1]?.at ?? 0
      expect(waitedMs).toBeGreaterThan(seconds * 1000 + 0.9 * jitterMs)
      expect(waitedMs).toBeLessThanOrEqual(seconds * 1000 + jitterMs)
    }
  })

  describe('longer than the maximum timer delay', () => {
    afterEach(() => void vi.useRealTimers())

    test('is kept, although a plain timer would fire early or at once', async () => {
      vi.useFakeTimers()
      const waitMs = 2 ** 32
      const outcomes: Outcome[] = [{ ...(DOWN as Retryable), retryAfterMs: waitMs }, OK]
      let sent = 0
      const inner: Sender = { send: () => Promise.resolve(outcomes[sent++] ?? OK) }
      const breaker = new CircuitBreaker({ clock: systemClock, maxConcurrency: 1, retry: { minMs: 1, maxMs: 1 } })
      const outcome = createRetrySender(inner, breaker).send(batchOf('a'), new AbortController().signal)
      await vi.advanceTimersByTimeAsync(waitMs - 1)
      expect(sent).toBe(1)
      await vi.advanceTimersByTimeAsync(2000)
      expect(sent).toBe(2)
      expect((await outcome).kind).toBe('delivered')
    })
  })
})

describe('while the service fails', () => {
  test('sends one probe at a time, for any number of waiting batches', async () => {
    const { clock, sender, account, enqueue } = setup(() => DOWN, { latencyMs: 50, maxConcurrency: 32 })
    enqueue(...many(20))
    await clock.advance(50)
    expect(sender.maxInFlight).toBe(20)
    sender.maxInFlight = 0
    await clock.advance(60_000)
    expect(sender.maxInFlight).toBe(1)
    expect(sender.attempts.length).toBeGreaterThan(25)
    expect(account.snapshot()).toMatchObject({ pending: 20, balances: true })
  })

  test('probes once per minute after a wrong key', async () => {
    const { clock, sender, enqueue } = setup(() => UNAUTHORIZED, { isIsolating: true })
    enqueue(batchOf('a'), batchOf('b'))
    await clock.advance(0)
    const before = sender.attempts.length
    await clock.advance(59_999)
    expect(sender.attempts).toHaveLength(before)
    await clock.advance(1)
    expect(sender.attempts).toHaveLength(before + 1)
    await clock.advance(180_000)
    expect(sender.attempts).toHaveLength(before + 4)
  })

  test('failures of concurrent requests count once for the backoff', async () => {
    const waits: number[] = []
    const { clock, enqueue } = setup((_, attempt) => (attempt <= 8 ? DOWN : undefined), {
      latencyMs: 10,
      random: () => 0.999,
      onFailure: (_, __, waitMs) => waits.push(waitMs),
    })
    enqueue(...many(8))
    await clock.advance(2000)
    expect(waits).toHaveLength(1)
    expect(waits[0]).toBeLessThanOrEqual(250)
  })

  test('sends the oldest batch as the next probe', async () => {
    const { clock, sender, enqueue } = setup((_, attempt) => (attempt <= 4 ? undefined : OK), { maxConcurrency: 4 })
    enqueue(...many(6))
    await clock.advance(0)
    for (const index of [2, 0, 3, 1]) {
      sender.attempts[index]?.end(DOWN)
      await settled()
    }
    await clock.advance(10_000)
    expect(sender.attempts.slice(4).map(({ batchId }) => batchId)).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'b5'])
  })
})

test('after an outage the limit doubles each round trip, up to the maximum', async () => {
  let up = false
  const { clock, sender, enqueue } = setup(() => (up ? undefined : DOWN), { maxConcurrency: 6 })
  enqueue(...many(40))
  await clock.advance(5000)
  up = true
  while (sender.inFlight === 0) await clock.advance(100)
  const rounds: number[] = []
  for (let round = 0; round < 5; round++) {
    rounds.push(sender.inFlight)
    for (const attempt of sender.attempts.slice(-sender.inFlight)) attempt.end(OK)
    await clock.advance(0)
  }
  expect(rounds).toEqual([1, 2, 4, 6, 6])
})

test('an attempt aborted by the shutdown does not count as a failure', async () => {
  const onFailure = vi.fn()
  const { clock, sender, breaker, enqueue, delivery } = setup(() => undefined, { onFailure })
  enqueue(batchOf('a'))
  await clock.advance(0)
  const drained = delivery.drain(100)
  await clock.advance(1_000)
  await drained
  sender.attempts[0]?.end({ kind: 'retryable', reason: 'aborted' })
  await settled()
  expect(onFailure).not.toHaveBeenCalled()
  expect(breaker.failures.lastFailure).toBeUndefined()
})

test('reports that the app is ending with a failure, since there may be no next attempt', async () => {
  const onFailure = vi.fn()
  const { clock, enqueue, delivery } = setup(() => DOWN, { onFailure, latencyMs: 10 })
  enqueue(batchOf('a'))
  await clock.advance(100)
  const before = onFailure.mock.calls.length
  const drained = delivery.drain(1_000)
  await clock.advance(2_000)
  await drained
  const isEnding = onFailure.mock.calls.map(([, , , last]: unknown[]) => last)
  expect([...new Set(isEnding.slice(0, before)), ...new Set(isEnding.slice(before))]).toEqual([false, true])
})

test('reports an outage with its age, and its end', async () => {
  const onRecovery = vi.fn()
  const ages: number[] = []
  const { clock, enqueue } = setup(() => (clock.now() < 10_000 ? DOWN : OK), {
    onRecovery,
    onFailure: (_, outageAgeMs) => ages.push(outageAgeMs),
  })
  enqueue(batchOf('a'))
  await clock.advance(60_000)
  expect(ages[0]).toBe(0)
  expect(ages).toEqual(ages.toSorted((a, b) => a - b))
  expect(onRecovery).toHaveBeenCalledOnce()
  expect(onRecovery.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(10_000)
})

describe('a batch that could only be sent after the deadline', () => {
  test('is abandoned at once with the last reason', async () => {
    const { clock, breaker, enqueue, delivery, report, account } = setup(() => busyFor(60), { maxConcurrency: 2 })
    enqueue(...many(5, 3))
    await clock.advance(0)
    const drained = watch(delivery.drain(3000))
    await clock.advance(0)
    expect(drained.done).toBe(true)
    expect(report.drops).toEqual([{ count: 15, reason: 'shutdown', detail: expect.stringContaining('503 busy') }])
    expect(account.snapshot()).toMatchObject({ dropped: { shutdown: 15 }, balances: true })
    expect(breaker.failures.lastFailure).toBe('503 busy')
    expect(clock.timers).toBe(0)
  })
})

test('a signal aborted before or during the wait abandons the batch without an attempt', async () => {
  const { breaker, sender } = setup(() => DOWN, { retry: { minMs: 10_000, maxMs: 30_000 }, random: () => 0.9 })
  const retry = createRetrySender(sender, breaker)
  const abort = new AbortController()
  const waiting = retry.send(batchOf('a'), abort.signal)
  await settled()
  abort.abort()
  expect(await waiting).toEqual({ kind: 'abandoned', reason: '503 down' })
  expect(await retry.send(batchOf('b'), abort.signal)).toMatchObject({ kind: 'abandoned' })
  expect(sender.attempts).toHaveLength(1)
})

test('a sender that rejects frees its slot', async () => {
  const { breaker } = setup(() => OK, { maxConcurrency: 1 })
  const broken: Sender = { send: () => Promise.reject(new Error('bug')) }
  await expect(createRetrySender(broken, breaker).send(batchOf('a'), new AbortController().signal)).rejects.toThrow(
    'bug',
  )
  const outcome = await breaker.run(
    breaker.createRetryState({ batchId: 'b', count: 1 }),
    new AbortController().signal,
    () => Promise.resolve(OK),
  )
  expect(outcome).toBe(OK)
})

test('starts with one request in flight, and each success allows one more', async () => {
  const { clock, sender, enqueue } = setup(() => OK, { latencyMs: 10, maxConcurrency: 4, initialConcurrency: 1 })
  enqueue(...many(30))
  const inFlight = [sender.attempts.length]
  for (let round = 0; round < 3; round += 1) {
    const before = sender.attempts.length
    await clock.advance(10)
    inFlight.push(sender.attempts.length - before)
  }
  expect(inFlight).toEqual([1, 2, 4, 4])
})

test('retries a local service of another user with the backoff, not once per minute', async () => {
  const { clock, sender, account, enqueue } = setup((_, attempt) =>
    attempt <= 3 ? { kind: 'endpoint-rejected', reason: 'not yours' } : OK,
  )
  enqueue(...many(1))
  await clock.advance(10_000)
  expect(sender.attempts).toHaveLength(4)
  expect(account.snapshot()).toMatchObject({ accepted: 1, pending: 0 })
})

test('retryNow ends a backoff for one attempt, but never a Retry-After', async () => {
  const wrongKey = setup(
    (_, attempt) => (attempt === 1 ? { kind: 'endpoint-rejected', status: 403, reason: 'no' } : OK),
    { isIsolating: true },
  )
  wrongKey.enqueue(...many(1))
  await wrongKey.clock.advance(1_000)
  wrongKey.breaker.retryNow()
  await wrongKey.clock.advance(0)
  expect(wrongKey.sender.attempts).toHaveLength(2)

  const busy = setup((_, attempt) => (attempt === 1 ? busyFor(5) : OK))
  busy.enqueue(...many(1))
  await busy.clock.advance(1_000)
  busy.breaker.retryNow()
  await busy.clock.advance(0)
  expect(busy.sender.attempts).toHaveLength(1)
})

test('at shutdown a pending request does not delay the other batches', async () => {
  const { clock, sender, account, delivery, enqueue } = setup((_, attempt) => (attempt === 1 ? undefined : OK), {
    initialConcurrency: 1,
  })
  enqueue(...many(10))
  await clock.advance(2_000)
  expect(sender.attempts).toHaveLength(1) // which is pending
  void delivery.drain(3_000)
  await clock.advance(10)
  expect(account.snapshot()).toMatchObject({ accepted: 9, pending: 1 })
})
