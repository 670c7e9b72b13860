/**
 * The limit of requests in flight with services of many kinds, in simulated time: it reacts to delay before the
 * service refuses requests.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Delivery } from '../../../src/delivery/delivery.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { Sender } from '../../../src/batch/sender.js'
import { FakeClock } from '../../fake-clock.js'
import type { Reply, SimulationResult, SimulatedService } from './load-simulation.js'
import {
  meanLimit,
  createDegradingService,
  createQueueingService,
  rangeOf,
  rateOf,
  reachedAt,
  seeded,
  send,
} from './load-simulation.js'
import { DOWN, OK, RecordingReport, busyFor, many, setup } from '../scripted-sender.js'
import { modelRuns } from '../../model-runs.js'

const MAX = 32

/** The refused share of the requests in a period. */
function refusedShare({ takenAt, refusedAt }: SimulationResult, from: number, to: number): number {
  const [taken, refused] = [rateOf(takenAt, from, to), rateOf(refusedAt, from, to)]
  return refused / (taken + refused)
}

describe('a service that slows down under load', () => {
  test.each([
    [10, 8, 40],
    [10, 8, 28],
    [5, 1, 11],
    [50, 4, 18],
    [200, 16, 48],
  ])(
    'base %i ms, %i at once, refusing above %i: no request is refused, and the service stays busy',
    (baseMs, capacity, most) => {
      for (const [name, service] of [
        ['pressed', createDegradingService],
        ['queueing', createQueueingService],
      ] as const) {
        const seen = send({ service: service(baseMs, capacity, most), forMs: 60_000 })
        const busy = rateOf(seen.takenAt, 10_000, 60_000) / (capacity / baseMs)
        process.stdout.write(
          `${name} ${baseMs} ms, ${capacity} at once: limit ${meanLimit(seen, 10_000, 60_000).toFixed(1)}, at most ${seen.peak} in flight, ${(100 * busy).toFixed(1)} % busy\n`,
        )
        expect(seen.refusedAt).toEqual([])
        expect(busy).toBeGreaterThan(0.9)
      }
    },
  )

  test('of any speed that refuses only above three times its capacity plus five', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 200 }),
        fc.integer({ min: 1, max: 32 }),
        fc.constantFrom(createDegradingService, createQueueingService),
        (baseMs, capacity, service) => {
          const forMs = 30_000 + 100 * baseMs
          const seen = send({ service: service(baseMs, capacity, 3 * capacity + 5), forMs })
          expect(seen.refusedAt).toEqual([])
          expect(rateOf(seen.takenAt, 100 * baseMs, forMs) / (capacity / baseMs)).toBeGreaterThan(0.9)
        },
      ),
      { numRuns: modelRuns(20, 200) },
    )
  })

  test('is not overloaded further the longer it takes: a new measurement excludes our own queue', () => {
    const seen = send({ service: createDegradingService(20, 4, 18), forMs: 300_000 })
    expect(seen.refusedAt).toEqual([])
    expect(rangeOf(seen, 30_000).most).toBeLessThanOrEqual(14)
  })

  test('and is slow after its start: the first measurements are forgotten soon', () => {
    const [cold, warm] = [createQueueingService(30, 32), createQueueingService(10, 8)]
    const seen = send({ service: (arrival) => (arrival.now < 300 ? cold : warm)(arrival), forMs: 20_000 })
    expect(rangeOf(seen, 0, 1_000).most).toBeGreaterThan(24)
    expect(rangeOf(seen, 3_000).most).toBeLessThanOrEqual(20)
  })

  test('and loses three quarters of its capacity: the limit follows within seconds', () => {
    const service: SimulatedService = (arrival) =>
      createDegradingService(10, arrival.now < 30_000 ? 16 : 4, 48)(arrival)
    const seen = send({ service, forMs: 60_000 })
    expect(meanLimit(seen, 20_000, 30_000)).toBeGreaterThan(16)
    expect(rangeOf(seen, 32_000).most).toBeLessThanOrEqual(14)
    expect(rateOf(seen.takenAt, 32_000, 60_000) / (4 / 10)).toBeGreaterThan(0.9)
    expect(seen.refusedAt).toEqual([])
  })
})

describe('a service with constant response time', () => {
  test.each([25, 100])('%i ms: reaches the maximum after 8 round trips, and stays there', (ms) => {
    const seen = send({ service: () => ({ ms }), forMs: 60_000 })
    expect(reachedAt(seen, MAX)).toBeLessThanOrEqual(8 * ms)
    expect(rangeOf(seen, 8 * ms).least).toBe(MAX)
  })

  test('exceeds 32 if the maximum is higher', () => {
    const seen = send({ service: () => ({ ms: 25 }), forMs: 10_000, maxConcurrency: 100 })
    expect(reachedAt(seen, 100)).toBeLessThanOrEqual(12 * 25)
  })

  test.each([1, 2, 3])('with a variation of half, and some replies five times as long (%i)', (seed) => {
    for (const ms of [25, 100]) {
      const service: SimulatedService = ({ random }) => ({ ms: ms * (0.5 + random()) * (random() < 0.03 ? 5 : 1) })
      const seen = send({ service, forMs: 60_000, seed })
      expect(reachedAt(seen, MAX)).toBeLessThanOrEqual(60 * ms)
      expect(meanLimit(seen, 60 * ms, 60_000)).toBeGreaterThan(31)
    }
  })

  test('with a long tail, as in a network: the limit is hardly ever lowered', () => {
    const gauss = (random: () => number): number =>
      Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    for (const seed of [1, 2, 3]) {
      const seen = send({ service: ({ random }) => ({ ms: 40 * Math.exp(0.5 * gauss(random)) }), forMs: 120_000, seed })
      expect(meanLimit(seen, 30_000, 120_000)).toBeGreaterThan(30)
    }
  })

  test('and becomes slower for other reasons: the limit is low for at most 30 s', () => {
    const seen = send({ service: ({ now }) => ({ ms: now < 30_000 ? 25 : 60 }), forMs: 90_000 })
    expect(rangeOf(seen, 30_000, 62_000).least).toBeLessThan(MAX)
    expect(rangeOf(seen, 62_000).least).toBe(MAX)
  })
})

describe('a service that refuses requests without a sign of delay', () => {
  test.each([
    [25, 12, 0],
    [25, 12, 1_000],
    [25, 12, 2_000],
    [100, 12, 0],
    [200, 12, 1_000],
    [25, 3, 0],
    [200, 3, 2_000],
  ])('%i ms, refusing above %i in flight, Retry-After %i ms', (ms, most, retryAfterMs) => {
    const service: SimulatedService = ({ inFlight }): Reply => ({ ms, refused: inFlight > most, retryAfterMs })
    const seen = send({ service, forMs: 180_000 })
    const share = refusedShare(seen, 60_000, 180_000)
    const busy = rateOf(seen.takenAt, 60_000, 180_000) / (most / ms)
    process.stdout.write(
      `refusing above ${most}, ${ms} ms, Retry-After ${retryAfterMs}: ${(100 * share).toFixed(2)} % refused, ${(100 * busy).toFixed(0)} % of its capacity\n`,
    )
    expect(refusedShare(seen, 0, 60_000)).toBeLessThan(0.02)
    expect(share).toBeLessThan(0.02)
    expect(busy).toBeGreaterThan(0.7)
  })
})

describe('with circuit breaker and delivery', () => {
  test.each([
    [() => DOWN, 0],
    [() => busyFor(1), 1_000],
  ] as const)('refusing beyond 12 in flight (%#)', async (refusal, retryAfterMs) => {
    let refused = 0
    const { clock, sender, account, enqueue } = setup(
      () => {
        if (sender.inFlight <= 12) return OK
        refused += 1
        return refusal()
      },
      {
        latencyMs: 25,
        maxConcurrency: 32,
        initialConcurrency: 1,
        random: seeded(3),
        idleMs: () => 0,
        maxBufferBytes: 2 ** 30,
      },
    )
    for (let second = 0; second < 60; second += 1) {
      enqueue(...many(480))
      await clock.advance(1_000)
    }
    const { accepted } = account.snapshot()
    process.stdout.write(
      `with the breaker, Retry-After ${retryAfterMs}: ${refused} refused, ${accepted} of ${60 * 480} accepted\n`,
    )
    expect(refused / accepted).toBeLessThan(0.01)
    expect(accepted / (60 * 480)).toBeGreaterThan(0.7)
  })

  test('slows down: no request is refused, and all entries are accepted', async () => {
    let [refused, most] = [0, 0]
    const clock = new FakeClock()
    let inFlight = 0
    const breaker = new CircuitBreaker({
      clock,
      maxConcurrency: 32,
      retry: { minMs: 250, maxMs: 30_000 },
      idleMs: () => 0,
    })
    const service = createDegradingService(10, 8, 28)
    const inner: Sender = {
      send: ({ count }) => {
        inFlight += 1
        most = Math.max(most, inFlight)
        const reply = service({ now: clock.now(), inFlight, random: () => 0 })
        if (reply.refused === true) refused += 1
        return new Promise(
          (resolve) =>
            void clock.timer(reply.ms, () => {
              inFlight -= 1
              resolve(reply.refused === true ? DOWN : { kind: 'delivered', accepted: count, rejected: [] })
            }),
        )
      },
    }
    const account = new Account()
    const delivery = new Delivery({
      sender: createRetrySender(inner, breaker),
      breaker,
      clock,
      maxBufferBytes: 2 ** 30,
      requestTimeoutMs: 10_000,
      account,
      report: new RecordingReport(),
    })
    for (let second = 0; second < 25; second += 1) {
      for (const batch of many(800)) delivery.enqueue(batch)
      await clock.advance(1_000)
    }
    process.stdout.write(
      `with the breaker: at most ${most} in flight for 8 at once, ${account.accepted} of ${25 * 800} accepted\n`,
    )
    expect(refused).toBe(0)
    expect(account.accepted).toBeGreaterThan(0.95 * 25 * 800)
  })
})

describe('this thread is busy', () => {
  const FROM_MS = 5_000

  /** This thread reads no replies while it is busy: `busyMs` of each `periodMs`. */
  function behind(
    service: SimulatedService,
    busyMs: number,
    periodMs: number,
  ): { service: SimulatedService; idleMs: (now: number) => number } {
    const readAt = (at: number): number =>
      at >= FROM_MS && at % periodMs < busyMs ? at - (at % periodMs) + busyMs : at
    const idleOf = (ms: number): number =>
      Math.floor(ms / periodMs) * (periodMs - busyMs) + Math.max((ms % periodMs) - busyMs, 0)
    return {
      service: (arrival) => {
        const reply = service(arrival)
        return { ...reply, ms: readAt(arrival.now + reply.ms) - arrival.now }
      },
      idleMs: (now) => Math.min(now, FROM_MS) + (now > FROM_MS ? idleOf(now) - idleOf(FROM_MS) : 0),
    }
  }

  test.each([
    [100, 100.5],
    [10, 10.5],
    [100, 110],
    [20, 30],
  ])('%s of %s ms: the limit of a fast service stays', (busyMs, periodMs) => {
    const random = seeded(7)
    const seen = send({ ...behind(() => ({ ms: 1 + random() }), busyMs, periodMs), forMs: 20_000 })
    expect(reachedAt(seen, MAX)).toBeLessThan(FROM_MS)
    expect(rangeOf(seen, FROM_MS).least).toBe(MAX)
  })

  test('half of the time: the limit still follows a service that slows down', () => {
    const random = seeded(7)
    const slow = createQueueingService(20, 8, 29)
    const service: SimulatedService = (arrival) => {
      const reply = slow(arrival)
      return { ...reply, ms: reply.ms + 4 * random() }
    }
    const seen = send({ ...behind(service, 5, 10), forMs: 60_000 })
    process.stdout.write(`busy half of the time: limit ${meanLimit(seen, 10_000, 60_000).toFixed(1)} for 8 at once\n`)
    expect(seen.refusedAt).toEqual([])
    expect(rangeOf(seen, 10_000).most).toBeLessThan(25)
    expect(rateOf(seen.takenAt, 10_000, 60_000) / (8 / 20)).toBeGreaterThan(0.9)
  })
})
