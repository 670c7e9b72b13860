/** Politeness and throughput: a service that fails at random, that is overloaded, or that returns after an outage. */
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/batch/outcome.js'
import { FakeClock, settled } from '../fake-clock.js'
import { batchOf, busyFor, DOWN, many, OK, seeded, setup } from './setup.js'
import type { Request, Service, Setup, SetupOptions } from './setup.js'

const REFUSED_CONNECTION: Outcome = { kind: 'retryable', reason: 'connect ECONNREFUSED' }

function client(service: Service, options: SetupOptions = {}): Setup {
  return setup(service, { maxConcurrency: 128, maxBufferBytes: 2 ** 30, random: seeded(9), ...options })
}

/** @returns milliseconds until all batches are accepted */
async function sendAll(one: Setup, batches: number): Promise<number> {
  one.enqueue(...many(batches))
  while (one.account.accepted < batches && one.clock.now() < 3_600_000) await one.clock.advance(10)
  return one.clock.now()
}

describe('failures at random', () => {
  test.each([
    [0.01, 25, 1.2],
    [0.3, 25, 8],
    [0.1, 100, 2],
  ])(
    'of %f of all requests at %i ms cost at most %f times the time, and are not reported',
    async (share, latencyMs, most) => {
      const random = seeded(1)
      const failing = client(() => (random() < share ? DOWN : OK), { latencyMs })
      const sound = client(() => OK, { latencyMs })
      const [failingMs, soundMs] = [await sendAll(failing, 3_000), await sendAll(sound, 3_000)]
      expect(failingMs / soundMs).toBeLessThan(most)
      expect(failing.requests.length).toBeLessThan((1.1 * 3_000) / (1 - share))
    },
  )

  test('of half of all requests are an outage, with few extra requests', async () => {
    const random = seeded(3)
    const one = client(() => (random() < 0.5 ? DOWN : OK))
    expect(await sendAll(one, 200)).toBeLessThan(180_000)
    expect(one.requests.length).toBeLessThan(480)
    expect(one.failed().length).toBeGreaterThan(0)
  })
})

describe('an outage', () => {
  test.each([2, 32])(
    'with %i requests in flight is noticed soon; then one request at a time is sent',
    async (maxConcurrency) => {
      const one = client(({ at }) => (at >= 1_000 && at < 6_000 ? DOWN : OK), { maxConcurrency })
      for (let at = 0; at < 8_000; at += 10) {
        one.enqueue(batchOf(`a${at}`), batchOf(`b${at}`), batchOf(`c${at}`))
        await one.clock.advance(10)
      }
      const during = one.requests.filter(({ at }) => at >= 1_000 && at < 6_000)
      expect(during.length).toBeLessThan(maxConcurrency * 2 + 30)
      await one.clock.advance(60_000)
      expect(one.account.snapshot()).toMatchObject({ pending: 0, balances: true })
    },
  )

  test('one bad batch beside others is none: it is tried at growing intervals, then once a minute', async () => {
    const one = client(({ batchId }) => (batchId === 'bad' ? DOWN : OK))
    one.enqueue(batchOf('good'))
    await one.clock.advance(100)
    one.enqueue(batchOf('bad'))
    for (let n = 0; n < 6_000; n += 1) {
      one.enqueue(batchOf(`good${n}`))
      await one.clock.advance(100)
    }
    expect(one.account.snapshot()).toMatchObject({ accepted: 6_001, pending: 1 })
    const times = one.requests.filter(({ batchId }) => batchId === 'bad').map(({ at }) => at)
    const waits = times.slice(1).map((at, n) => at - (times[n] as number))
    expect(waits.length).toBeLessThan(30)
    expect(Math.min(...waits.slice(-5))).toBeGreaterThanOrEqual(60_000)
  })
})

describe('an overloaded service', () => {
  test.each<[string, (request: Request) => Outcome, (request: Request) => number, number, number]>([
    ['refuses more than 12 at 25 ms', ({ inFlight }) => (inFlight > 12 ? DOWN : OK), () => 25, 480, 0.03],
    ['sends Retry-After for more than 12', ({ inFlight }) => (inFlight > 12 ? busyFor(1) : OK), () => 25, 480, 0.03],
    ['slows down above 8', () => OK, ({ inFlight }) => 10 * Math.max(1, inFlight / 8), 800, 0.03],
  ])(
    'that %s: few requests are refused, and most of its capacity is used',
    async (_, service, latencyMs, perSecond, most) => {
      const one = client(service, { latencyMs })
      for (let n = 0; n < 300; n += 1) {
        if (one.scheduler.pendingEntries < 1_000) one.enqueue(...many(200))
        await one.clock.advance(100)
      }
      const share = (one.requests.length - one.account.accepted) / one.requests.length
      expect(share).toBeLessThan(most)
      expect(one.account.accepted / 30).toBeGreaterThan(0.6 * perSecond)
    },
  )

  test('a long tail of response times, as in a network, does not lower the concurrency', async () => {
    const random = seeded(5)
    const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const one = client(() => OK, { maxConcurrency: 32, latencyMs: () => 40 * Math.exp(0.5 * gauss()) })
    for (let n = 0; n < 200; n += 1) {
      if (one.scheduler.pendingEntries < 1_000) one.enqueue(...many(200))
      await one.clock.advance(100)
    }
    expect(one.account.accepted / 20).toBeGreaterThan(0.8 * (32 / 0.0453))
  })
})

describe('50 clients with one batch per second each, in an outage of 60 s', () => {
  test('afterwards no second has more than twice the usual requests, and the backlog is sent in time', async () => {
    const clock = new FakeClock()
    const random = seeded(50)
    const times: number[] = []
    const service: Service = ({ at }) => {
      times.push(at)
      return at >= 60_000 && at < 120_000 ? REFUSED_CONNECTION : OK
    }
    const clients = Array.from({ length: 50 }, () => client(service, { clock, random }))
    for (const one of clients) {
      let produced = 0
      const produce = (): void => {
        one.enqueue(batchOf(`b${produced}`))
        produced += 1
        clock.timer(1_000, produce)
      }
      clock.timer(random() * 1_000, produce)
    }
    const pending = (): number => clients.reduce((sum, { scheduler }) => sum + scheduler.pendingEntries, 0)
    await clock.advance(120_000)
    const backlog = pending()
    let drainedMs = 0
    for (; pending() > 50 && drainedMs < 300_000; drainedMs += 1_000) await clock.advance(1_000)
    await clock.advance(60_000)
    let [start, peak] = [0, 0]
    const after = times.filter((at) => at >= 120_000)
    for (const [index, at] of after.entries()) {
      while ((after[start] as number) <= at - 1_000) start += 1
      peak = Math.max(peak, index - start + 1)
    }
    expect(backlog).toBeGreaterThan(2_900)
    expect(peak).toBeLessThanOrEqual(100)
    expect(drainedMs).toBeLessThan(180_000)
    expect(pending()).toBeLessThanOrEqual(50)
  })
})

describe('a lone client after an outage', () => {
  const perSecond = async (one: Setup, rate: number, forMs: number): Promise<void> => {
    for (let ms = 0; ms < forMs; ms += 1_000 / rate) {
      one.enqueue(batchOf(`b${one.clock.now()}`))
      await one.clock.advance(1_000 / rate)
    }
  }

  test('with a known rate sends 1,000 batches quickly', async () => {
    const one = client(({ at }) => (at >= 30_000 && at < 50_000 ? DOWN : OK))
    await perSecond(one, 50, 50_000)
    expect(one.scheduler.pendingEntries).toBeGreaterThanOrEqual(1_000)
    await one.clock.advance(60_000)
    expect(one.scheduler.pendingEntries).toBe(0)
  })

  test('that logged much more in the outage than before is limited at first, then speeds up', async () => {
    const one = client(({ at }) => (at >= 30_000 && at < 50_000 ? DOWN : OK))
    await perSecond(one, 1, 30_000)
    one.enqueue(...many(1_000))
    await one.clock.advance(20_000)
    await one.clock.advance(20_000)
    expect(one.scheduler.pendingEntries).toBeGreaterThan(800)
    await one.clock.advance(100_000)
    expect(one.scheduler.pendingEntries).toBe(0)
  })

  test.each(['it ends', 'its rate is not known'])('is not limited if %s', async (what) => {
    const isKnown = what === 'it ends'
    const one = client(({ at }) => (at >= (isKnown ? 30_000 : 1_000) && at < 60_000 ? DOWN : OK))
    await perSecond(one, 5, 59_000)
    while (one.scheduler.health.kind === 'down') await one.clock.advance(100)
    expect(one.scheduler.health.kind).toBe(isKnown ? 'recovering' : 'working')
    if (isKnown) void one.scheduler.sendRemaining(3_000)
    await one.clock.advance(2_000)
    await settled()
    expect(one.scheduler.pendingEntries).toBeLessThan(5)
  })
})
