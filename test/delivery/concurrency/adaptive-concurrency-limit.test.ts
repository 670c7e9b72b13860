/** The limit of requests in flight, step by step. `simulated-load.test.ts` tests it with simulated services. */
import { describe, expect, test } from 'vitest'
import { isOverload } from '../../../src/delivery/concurrency/overload-ceiling.js'
import { AdaptiveConcurrencyLimit } from '../../../src/delivery/concurrency/adaptive-concurrency-limit.js'
import type { InFlightRequest } from '../../../src/delivery/concurrency/adaptive-concurrency-limit.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { ResponseTimeSampler, readEventLoopIdleMs } from '../../../src/delivery/concurrency/response-time-sampler.js'
import { FakeClock } from '../../fake-clock.js'
import { OK, batchOf, busyFor, many, setup } from '../scripted-sender.js'

/** A client that fills its limit, or up to a given number of requests; the test answers them. */
function client(max = 32, initial?: number, idleAt = (now: number): number => now) {
  const concurrency = new AdaptiveConcurrencyLimit(max, initial)
  const flights: InFlightRequest[] = []
  let now = 1_000
  const moment = () => ({ now, idleMs: idleAt(now) })
  const fill = (atMost = Infinity): void => {
    while (concurrency.hasCapacity && flights.length < atMost) flights.push(concurrency.begin(moment()))
  }
  /** The service answers the oldest request. */
  const answer = (): void => {
    const flight = flights.shift() as InFlightRequest
    if (concurrency.end(flight, moment())) concurrency.succeeded(flight)
  }
  return {
    concurrency,
    flights,
    fill,
    wait: (ms: number): void => void (now += ms),
    /** After `replyMs` every request in flight is answered. New requests fill the limit, or up to `atMost`. */
    round: (replyMs: number, atMost = Infinity): void => {
      now += replyMs
      for (let left = flights.length; left > 0; left -= 1) {
        answer()
        fill(atMost)
      }
    },
    refuse: (pauseMs: number, index = flights.length - 1): void => {
      const [flight] = flights.splice(index, 1) as [InFlightRequest]
      concurrency.end(flight, moment())
      concurrency.failed(pauseMs, flight)
    },
    /** The latest request fails while others are accepted. */
    failAlone: (): void => {
      const flight = flights.pop() as InFlightRequest
      concurrency.end(flight, moment())
      concurrency.singleFailure(flight)
    },
    fail: (pauseMs: number): void => {
      concurrency.end(flights.shift() as InFlightRequest, moment())
      concurrency.failed(pauseMs)
    },
  }
}

/** A client whose limit has grown to `limit` with a service that takes 20 ms. */
function grown(limit: number) {
  const one = client()
  one.fill()
  while (one.concurrency.limit < limit) one.round(20)
  return one
}

describe('up', () => {
  test('doubles to 8, then doubles after one round of measurement each', () => {
    const { concurrency, fill, round } = client()
    fill()
    const limits = [concurrency.limit]
    for (let n = 0; n < 8; n += 1) {
      round(20)
      limits.push(concurrency.limit)
    }
    expect(limits).toEqual([1, 2, 4, 8, 8, 16, 16, 32, 32])
  })

  test.each([
    [1, 3],
    [5, 9],
    [20, 32],
  ])('grows only while it is used: %i at once allow a limit of at most %i', (atOnce, most) => {
    const { concurrency, fill, round } = client()
    fill(atOnce)
    for (let n = 0; n < 200; n += 1) round(20, atOnce)
    expect(concurrency.limit).toBeLessThanOrEqual(most)
    expect(concurrency.limit).toBeGreaterThanOrEqual(atOnce)
  })

  test('grows by one per round after the first sign of delay', () => {
    const { concurrency, round } = grown(8)
    const limits: number[] = []
    for (const replyMs of [50, 50, 20, 20, 20, 20, 20]) {
      round(replyMs)
      limits.push(concurrency.limit)
    }
    expect(limits).toEqual([8, 8, 9, 10, 11, 12, 13])
  })

  test('grows by one if this thread is never idle, and no response time is known', () => {
    const { concurrency, fill, round } = client(32, 1, () => 1)
    fill()
    for (let n = 0; n < 4; n += 1) round(20)
    const { limit } = concurrency
    for (let n = 0; n < 8; n += 1) round(20)
    expect([limit, concurrency.limit]).toEqual([8, 12])
    for (let n = 0; n < 100; n += 1) round(500)
    expect(concurrency.limit).toBe(32)
  })

  test('starts at one again after 10 s without a request, not after 9 s', () => {
    const { concurrency, fill, flights, wait, round } = grown(32)
    round(20, 0)
    expect(flights).toEqual([])
    wait(9_000)
    fill()
    expect(flights).toHaveLength(32)
    round(20, 0)
    wait(10_001)
    fill()
    expect([flights.length, concurrency.limit]).toEqual([1, 1])
  })
})

describe('down on delay', () => {
  test('after two slow rounds, to a limit that leaves few requests queued, at most by half', () => {
    const mild = grown(32)
    const harsh = grown(32)
    for (const [one, replyMs] of [
      [mild, 40],
      [harsh, 200],
    ] as const) {
      for (let n = 0; n < 4; n += 1) one.round(20)
      one.round(replyMs)
      one.round(replyMs)
      expect(one.concurrency.limit).toBe(32)
      one.round(replyMs)
    }
    // A quarter of 32 requests is queued: a reply takes 40 ms, and 30 ms would count as no delay.
    expect([mild.concurrency.limit, harsh.concurrency.limit]).toEqual([27, 16])
  })

  test('not for a single slow round, or for some slow replies in each', () => {
    const { concurrency, flights, round } = grown(32)
    for (let n = 0; n < 20; n += 1) {
      round(100)
      for (let quick = 0; quick < 9; quick += 1) round(20)
    }
    expect(concurrency.limit).toBe(32)
    for (let n = 0; n < 20; n += 1) {
      const slow = flights.splice(0, 6)
      round(20)
      round(20)
      round(20)
      flights.push(...slow)
    }
    expect(concurrency.limit).toBe(32)
  })

  test('ignores a delay below 3 ms, even if it is a multiple of the response time', () => {
    const { concurrency, fill, round } = client()
    fill()
    for (let n = 0; n < 20; n += 1) round(0.3)
    for (let n = 0; n < 20; n += 1) round(3.2)
    expect(concurrency.limit).toBe(32)
    for (let n = 0; n < 20; n += 1) round(6)
    expect(concurrency.limit).toBeLessThan(32)
  })

  test('measures again with a quarter of the requests, and restores the limit of a service that is slow for other reasons', () => {
    const { concurrency, round } = grown(32)
    for (let n = 0; n < 4; n += 1) round(20)
    const limits = new Set<number>()
    for (let ms = 0; ms < 24_000; ms += 60) {
      round(60)
      limits.add(concurrency.limit)
    }
    expect(Math.min(...limits)).toBeLessThan(8)
    expect(concurrency.limit).toBe(32)
  })
})

describe('down on a refusal', () => {
  test('to one, then quickly up to half, then by one to less than the refused number', () => {
    const { concurrency, fill, round, wait, refuse } = grown(16)
    fill()
    refuse(100)
    expect([concurrency.limit, concurrency.running]).toEqual([1, 0])
    wait(100)
    const limits: number[] = []
    for (let n = 0; n < 20; n += 1) {
      fill()
      round(20)
      limits.push(concurrency.limit)
    }
    expect(limits.slice(0, 3)).toEqual([2, 4, 8])
    expect(limits.at(-1)).toBe(14)
  })

  test('up to half with rounds of measurement if half is more than 8', () => {
    const { concurrency, fill, round, refuse } = grown(32)
    refuse(0)
    const limits: number[] = []
    for (let n = 0; n < 8; n += 1) {
      fill()
      round(20)
      limits.push(concurrency.limit)
    }
    expect(limits).toEqual([2, 4, 8, 8, 16, 16, 17, 18])
  })

  test('keeps the ceiling for ten times the time that the refusal cost', () => {
    const { concurrency, fill, round, wait, refuse } = grown(16)
    refuse(1_000)
    wait(1_000)
    let ms = 1_000
    let backAt: number | undefined
    for (; concurrency.limit < 15; ms += 20) {
      fill()
      round(20)
      if (concurrency.limit === 14) backAt ??= ms
    }
    expect(ms).toBeGreaterThan(11 * (backAt as number))
    expect(ms).toBeLessThan(12 * (backAt as number) + 100)
  })

  test('a Retry-After does not count as idle time', () => {
    const { concurrency, fill, round, wait, refuse } = grown(16)
    refuse(20_000)
    round(20, 0)
    wait(20_000)
    for (let ms = 0; ms < 10_000; ms += 20) {
      fill()
      round(20)
    }
    expect(concurrency.limit).toBe(14)
  })

  test('keeps the ceiling for at most 60 s', () => {
    const { concurrency, fill, round, wait, refuse } = grown(16)
    refuse(600_000)
    wait(600_000)
    for (let ms = 0; ms < 63_000; ms += 20) {
      fill()
      round(20)
    }
    expect(concurrency.limit).toBe(32)
  })

  test.each(['a lone request is refused', 'it fails in another way'])('is forgotten when %s', (how) => {
    const { concurrency, fill, round, wait, refuse, fail, flights } = grown(16)
    refuse(100)
    round(20, 0)
    wait(100)
    fill()
    expect(flights).toHaveLength(1)
    if (how.startsWith('a lone')) refuse(100)
    else fail(100)
    wait(100)
    for (let n = 0; n < 8; n += 1) {
      fill()
      round(20)
    }
    expect(concurrency.limit).toBe(32)
  })

  test('requests from before the refusal have no effect when they end', () => {
    const { concurrency, round, refuse, flights } = grown(16)
    refuse(100)
    expect(flights).toHaveLength(15)
    round(20, 0)
    expect([concurrency.limit, concurrency.running]).toEqual([1, 0])
  })

  test('is a 429 or 503; other failures do not indicate overload', () => {
    expect(
      [429, 503, 500, 502, 504, 408, undefined].map((status) =>
        isOverload({ kind: 'retryable', reason: '', ...(status !== undefined && { status }) }),
      ),
    ).toEqual([true, true, false, false, false, false, false])
  })
})

describe('failures while other requests are accepted', () => {
  /** One request fails in every `everyRounds` round trips. */
  function failing(rounds: number, everyRounds: number) {
    const one = grown(32)
    const limits: number[] = []
    for (let n = 0; n < rounds; n += 1) {
      if (n % everyRounds === 0) {
        one.failAlone()
        one.fill()
      }
      one.round(20)
      limits.push(one.concurrency.limit)
    }
    return limits
  }

  test.each([2, 10, 30])('that are rare, one in %i round trips, do not lower the limit', (everyRounds) => {
    expect(Math.min(...failing(300, everyRounds))).toBe(32)
  })

  test('in each of three round trips lower the limit by a tenth per round trip; at half it is restored', () => {
    const limits = failing(100, 1)
    expect(limits.slice(0, 9)).toEqual([32, 32, 28, 25, 22, 19, 17, 15, 32])
    expect(Math.min(...limits.slice(8, 60))).toBe(32)
  })

  test('that stop at a lower limit let it grow again after 200 accepted requests per failure', () => {
    const { concurrency, fill, round, failAlone } = grown(32)
    for (let n = 0; n < 3; n += 1) {
      failAlone()
      fill()
      round(20)
    }
    let accepted = 0
    for (; concurrency.limit === 28; accepted += 28) round(20)
    expect(accepted).toBeGreaterThan(500)
    expect(accepted).toBeLessThan(1_000)
    for (let n = 0; n < 4; n += 1) round(20)
    expect(concurrency.limit).toBe(32)
  })

  test('never raise the limit from one', () => {
    const { concurrency, fill, round, failAlone } = client(1)
    for (let n = 0; n < 10; n += 1) {
      fill()
      failAlone()
      round(20)
    }
    expect(concurrency.limit).toBe(1)
  })
})

test('limitToOne() allows one request at a time', () => {
  const { concurrency, fill, round } = grown(16)
  concurrency.limitToOne()
  expect([concurrency.limit, concurrency.hasCapacity]).toEqual([1, false])
  round(20, 0)
  fill()
  round(20)
  expect(concurrency.limit).toBeGreaterThan(1)
})

test('a bypassed request frees its slot, and is still in flight', () => {
  const { concurrency, fill, flights } = client(4, 4)
  fill()
  concurrency.ignoreInFlight()
  fill()
  expect(flights.at(-1)?.concurrentRequests).toBe(8)
})

describe('the response time', () => {
  test('is known if the event loop was idle for it', () => {
    const time = new ResponseTimeSampler()
    time.observe({ now: 100, idleMs: 40 })
    time.observe({ now: 130, idleMs: 69 })
    expect(time.responseTimeMs(100)).toBe(30)
  })

  test('is unknown if the thread was busy when the reply may have arrived', () => {
    const time = new ResponseTimeSampler()
    time.observe({ now: 100, idleMs: 40 })
    time.observe({ now: 105, idleMs: 44 })
    time.observe({ now: 200, idleMs: 45 })
    time.observe({ now: 201, idleMs: 45 })
    expect(time.responseTimeMs(100)).toBeUndefined()
    // The same delay is small relative to a long request.
    expect(time.responseTimeMs(-300)).toBe(501)
  })

  test('is the elapsed time if idle time is not available', () => {
    const time = new ResponseTimeSampler()
    time.observe({ now: 100, idleMs: 0 })
    time.observe({ now: 200, idleMs: 0 })
    expect(time.responseTimeMs(100)).toBe(100)
  })

  test('idle time grows while this thread waits, not while it is busy', async () => {
    const before = readEventLoopIdleMs()
    while (readEventLoopIdleMs() === before) await new Promise((resolve) => setTimeout(resolve, 5))
    const waited = readEventLoopIdleMs()
    expect(waited).toBeGreaterThan(before)
    for (const until = performance.now() + 20; performance.now() < until;);
    expect(readEventLoopIdleMs()).toBe(waited)
  })
})

describe('the breaker', () => {
  test('grows only as far as it is used, and starts at one after a refusal', async () => {
    let isFull = false
    const { clock, breaker, enqueue } = setup(() => (isFull ? busyFor(1) : OK), {
      latencyMs: 20,
      maxConcurrency: 32,
      initialConcurrency: 1,
      idleMs: () => 0,
    })
    const idle = breaker.limit
    for (let n = 0; n < 10; n += 1) {
      enqueue(batchOf(`lone ${n}`))
      await clock.advance(100)
    }
    const alone = breaker.limit
    enqueue(...many(200))
    await clock.advance(300)
    expect([idle, alone, breaker.limit]).toEqual([1, 3, 32])
    isFull = true
    enqueue(...many(100))
    await clock.advance(20)
    expect(breaker.limit).toBe(1)
  })

  test("uses the event loop's idle time as reported by Node", async () => {
    const clock = new FakeClock()
    let idleMs = 1
    const breaker = new CircuitBreaker({
      clock,
      maxConcurrency: 32,
      retry: { minMs: 250, maxMs: 30_000 },
      idleMs: () => idleMs,
    })
    const never = new AbortController().signal
    /** A reply arrives after `waitMs`, and is read `busyMs` later. */
    const roundTrip = async (waitMs: number, busyMs: number): Promise<void> => {
      const runs = Array.from({ length: breaker.limit }, () =>
        breaker.run(
          breaker.createRetryState({ batchId: 'b', count: 1 }),
          never,
          () => new Promise((resolve) => void clock.timer(waitMs + busyMs, () => resolve(OK))),
        ),
      )
      idleMs += waitMs
      await clock.advance(waitMs + busyMs)
      await Promise.all(runs)
    }
    for (let n = 0; n < 10; n += 1) await roundTrip(5, 0)
    expect(breaker.limit).toBe(32)
    for (let n = 0; n < 10; n += 1) await roundTrip(5, 100)
    expect(breaker.limit).toBe(32)
    for (let n = 0; n < 10; n += 1) await roundTrip(105, 0)
    expect(breaker.limit).toBeLessThan(32)
  })
})
