/** A service with random failures, in simulated time: random failures are not an outage, and an outage is detected soon. */
import { describe, expect, test } from 'vitest'
import { createFailureReporter } from '../../../src/delivery/retry/failure-reporter.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { seeded } from '../concurrency/load-simulation.js'
import { DOWN, OK, RecordingReport, batchOf, busyFor, many, setup } from '../scripted-sender.js'

const BATCHES = 200
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const TOO_MANY: Outcome = { kind: 'retryable', status: 429, reason: '429' }

/** A client with batches to send. @param isFailed whether a request that starts now fails */
function client(isFailed: (now: number) => boolean, { seed = 1, maxConcurrency = 32, latencyMs = 10 } = {}) {
  const report = new RecordingReport()
  /** The times at which an outage was detected. */
  const outages: number[] = []
  let isDown = false
  const acceptedIds: string[] = []
  const teller = createFailureReporter(
    report,
    { now: () => one.clock.now() },
    { url: 'https://logs.example.com/api/v1' },
  )
  const one = setup(
    ({ batchId }) => {
      if (isFailed(one.clock.now())) return DOWN
      acceptedIds.push(batchId)
      return OK
    },
    {
      latencyMs,
      maxConcurrency,
      initialConcurrency: 1,
      random: seeded(seed + 100),
      idleMs: () => 0,
      maxBufferBytes: 2 ** 30,
      onFailure: (failure, ageMs, waitMs, isEnding) => {
        if (!isDown) outages.push(one.clock.now())
        isDown = true
        teller.onFailure(failure, ageMs, waitMs, isEnding)
      },
      onRecovery: () => {
        isDown = false
        teller.onRecovery()
      },
    },
  )
  return { ...one, report, outages, acceptedIds }
}

/** Sends until all batches are accepted. */
async function sendAll(
  isFailed: (now: number, random: () => number) => boolean,
  seed: number,
  { batches = BATCHES, ...options }: { batches?: number; maxConcurrency?: number; latencyMs?: number } = {},
) {
  const random = seeded(seed)
  const one = client((now) => isFailed(now, random), { seed, ...options })
  one.enqueue(...many(batches))
  while (one.account.accepted < batches && one.clock.now() < 3_600_000) await one.clock.advance(10)
  return {
    ...one,
    ms: one.clock.now(),
    requests: one.sender.attempts.length,
    lines: [...one.report.problems, ...one.report.notes],
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

describe('random failures', () => {
  test.each([
    [0.1, 1_200],
    [0.2, 2_200],
    [0.3, 3_500],
  ])('of %f of all requests are not an outage: 200 batches within %i ms, without a report', async (share, mostMs) => {
    const runs = await Promise.all(SEEDS.map((seed) => sendAll((_, random) => random() < share, seed)))
    const [ms, outages] = [medianOf(runs.map((run) => run.ms)), medianOf(runs.map((run) => run.outages.length))]
    const requests = runs.reduce((sum, run) => sum + run.requests, 0)
    process.stdout.write(
      `${share * 100} % at random: ${ms} ms, ${outages} outages, ${requests / SEEDS.length} requests\n`,
    )
    expect(ms).toBeLessThan(mostMs)
    expect(outages).toBeLessThanOrEqual(1)
    expect(requests).toBeLessThan((1.1 * SEEDS.length * BATCHES) / (1 - share))
    expect(runs.flatMap(({ lines }) => lines)).toEqual([])
  })

  test.each([
    [0.5, 30_000],
    [0.7, 180_000],
  ])('of %f of all requests are outages, with few extra requests, within %i ms', async (share, mostMs) => {
    const runs = await Promise.all(SEEDS.map((seed) => sendAll((_, random) => random() < share, seed)))
    const requests = runs.reduce((sum, run) => sum + run.requests, 0)
    const ms = medianOf(runs.map((run) => run.ms))
    process.stdout.write(`${share * 100} % at random: ${ms} ms, ${requests / SEEDS.length} requests\n`)
    expect(ms).toBeLessThan(mostMs)
    expect(requests).toBeLessThan((1.1 * SEEDS.length * BATCHES) / (1 - share))
    expect(medianOf(runs.map(({ outages }) => outages.length))).toBeGreaterThan(0)
  })

  test.each([
    [0, 4_000],
    [0.1, 8_000],
    [0.3, 14_000],
  ])(
    'of %f of all requests do not lower the concurrency, since fewer requests fail as well: 1,000 batches at 100 ms each within %i ms',
    async (share, mostMs) => {
      const runs = await Promise.all(
        SEEDS.map((seed) => sendAll((_, random) => random() < share, seed, { batches: 1_000, latencyMs: 100 })),
      )
      const ms = medianOf(runs.map((run) => run.ms))
      process.stdout.write(`${share * 100} % at random, 100 ms: ${ms} ms\n`)
      expect(ms).toBeLessThan(mostMs)
    },
  )

  test.each([
    [0.001, 1, 1],
    [0.01, 1, 1],
    [0.001, 32, 25],
    [0.01, 32, 25],
    [0.01, 32, 100],
  ])(
    'of %f of all requests, with %i in flight at %i ms each, cost at most a tenth of the throughput',
    async (share, maxConcurrency, latencyMs) => {
      const options = { batches: 10_000, maxConcurrency, latencyMs }
      const [failing, sound] = await Promise.all([
        sendAll((_, random) => random() < share, 1, options),
        sendAll(() => false, 1, options),
      ])
      process.stdout.write(
        `${share * 100} % at random, ${maxConcurrency} in flight, ${latencyMs} ms: ${failing.ms} ms, without ${sound.ms} ms\n`,
      )
      expect(failing.sender.attempts.length).toBeGreaterThan(10_000)
      expect(sound.ms / failing.ms).toBeGreaterThan(0.9)
      expect(failing.lines).toEqual([])
    },
  )

  test('keep the order with maxConcurrency 1', async () => {
    const { acceptedIds } = await sendAll((_, random) => random() < 0.3, 1, { maxConcurrency: 1 })
    expect(acceptedIds).toEqual(Array.from({ length: BATCHES }, (_, n) => `b${n}`))
  })

  test('in bursts of 500 ms delay sending by little more than the bursts', async () => {
    const runs = await Promise.all(SEEDS.map((seed) => sendAll((now) => now % 1_000 < 500, seed)))
    expect(medianOf(runs.map(({ ms }) => ms))).toBeLessThan(4_000)
    expect(Math.max(...runs.map(({ requests }) => requests))).toBeLessThan(1.6 * BATCHES)
  })
})

describe('an outage', () => {
  test.each([2, 8, 32])(
    'with %i requests in flight is detected at the first retry, then one request at a time is sent',
    async (maxConcurrency) => {
      const one = client((now) => now >= 1_000 && now < 6_000, { maxConcurrency })
      for (let at = 0; at < 8_000; at += 10) {
        one.enqueue(batchOf(`a${at}`), batchOf(`b${at}`), batchOf(`c${at}`))
        await one.clock.advance(10)
      }
      const during = one.sender.attempts.filter(({ at }) => at >= 1_000 && at < 6_000).map(({ at }) => at)
      expect(one.outages[0]).toBeLessThan(1_300)
      // Requests in flight at the end of a delay, then probes.
      expect(during.length).toBeLessThan(maxConcurrency + 24)
      const probes = during.filter((at) => at > 1_300)
      expect(probes.every((at, n) => n === 0 || at - (probes[n - 1] as number) >= 10)).toBe(true)
      await one.clock.advance(30_000)
      expect(one.account.snapshot()).toMatchObject({ pending: 0, balances: true })
    },
  )

  test('is detected at the first retry of a single batch, and starts at its first failure', async () => {
    const ages: number[] = []
    const { clock, breaker, enqueue } = setup(() => (clock.now() < 2_500 ? OK : DOWN), {
      latencyMs: 10,
      initialConcurrency: 1,
      random: () => 0.5,
      onFailure: (_, ageMs) => ages.push(ageMs),
    })
    for (let n = 0; n < 4; n += 1) {
      enqueue(batchOf(`b${n}`))
      await clock.advance(1_000)
    }
    // Failed at 3,010 ms, waited for half of four response times, and failed again.
    expect(ages[0]).toBe(30)
    expect([breaker.failures.lastFailure, breaker.failures.outageAgeMs]).toEqual(['503 down', 1_000])
  })

  test.each([
    ['a 503 with Retry-After', busyFor(2), 2_000],
    ['a 429', TOO_MANY, 1],
  ])('starts with %s, even if all other requests are accepted', async (_, failure, leastMs) => {
    const { clock, sender, enqueue } = setup((__, attempt) => (attempt === 50 ? undefined : OK), {
      latencyMs: 10,
      maxConcurrency: 8,
      random: () => 0.1,
    })
    enqueue(...many(100))
    while (sender.attempts.length < 50) await clock.advance(1)
    const before = sender.attempts.length
    sender.attempts[49]?.end(failure)
    const failedAt = clock.now()
    await settled()
    await clock.advance(10_000)
    expect((sender.attempts[before]?.at ?? 0) - failedAt).toBeGreaterThanOrEqual(leastMs)
    const probedAt = sender.attempts[before]?.at
    expect(sender.attempts.filter(({ at }) => at === probedAt)).toHaveLength(1)
  })
})

describe('one request at a time', () => {
  /** `b2` fails `failures` times. */
  async function sendWith(failures: number) {
    let left = failures
    const one = setup(({ batchId }) => (batchId === 'b2' && left-- > 0 ? DOWN : OK), {
      latencyMs: 10,
      maxConcurrency: 1,
      random: () => 0.99,
    })
    one.enqueue(...many(5))
    await one.clock.advance(1_000)
    return { ...one, sent: one.sender.attempts.map(({ batchId, at }) => `${batchId} at ${Math.round(at)}`) }
  }

  test('a single failure delays the batches by a few response times, in order', async () => {
    const { sent, breaker } = await sendWith(1)
    expect(sent).toEqual(['b0 at 0', 'b1 at 10', 'b2 at 20', 'b2 at 70', 'b3 at 80', 'b4 at 90'])
    expect(breaker.failures.lastFailure).toBeUndefined()
  })

  test('a second failure is an outage', async () => {
    const { sent } = await sendWith(2)
    // After the first backoff.
    expect(sent.slice(2)).toEqual(['b2 at 20', 'b2 at 70', 'b2 at 327', 'b3 at 337', 'b4 at 347'])
  })
})

describe('a batch that always fails', () => {
  /** `bad` is not accepted before `until`; another batch is accepted every 20 ms. */
  function beside(until = Infinity) {
    const clocks: { clock?: FakeClock } = {}
    const one = setup(({ batchId }) => (batchId === 'bad' && (clocks.clock?.now() ?? 0) < until ? DOWN : OK), {
      latencyMs: 10,
      random: () => 0.99,
    })
    clocks.clock = one.clock
    const attempts = (): number[] => one.sender.attempts.filter(({ batchId }) => batchId === 'bad').map(({ at }) => at)
    const run = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 20) {
        one.enqueue(batchOf(`good ${one.clock.now()}`))
        await one.clock.advance(20)
      }
    }
    return { ...one, attempts, run }
  }

  test('does not hold up others, and is retried at growing intervals of at most 5 s', async () => {
    const { clock, breaker, account, enqueue, attempts, run } = beside()
    await run(1_000)
    enqueue(batchOf('bad'))
    await run(120_000)
    expect(account.snapshot()).toMatchObject({ pending: 1 })
    expect(breaker.failures.lastFailure).toBeUndefined()
    const waits = attempts()
      .slice(1)
      .map((at, n) => at - (attempts()[n] as number))
    expect(waits.slice(0, 3).map((ms) => Math.round(ms / 10) * 10)).toEqual([50, 130, 200])
    expect(waits.at(-1)).toBeLessThan(5_100)
    expect(waits.length).toBeLessThan(90)
    expect(clock.timers).toBeLessThan(3)
  })

  test.each(['a flush', 'retryNow', 'the end of the app'])('is retried earlier after %s', async (what) => {
    const { clock, breaker, delivery, enqueue, attempts, run } = beside(41_000)
    await run(1_000)
    enqueue(batchOf('bad'))
    await run(40_000)
    const before = attempts().length
    if (what === 'a flush') void delivery.flush()
    if (what === 'retryNow') breaker.retryNow()
    if (what === 'the end of the app') void delivery.drain(3_000)
    await clock.advance(what === 'a flush' ? 250 : 0)
    expect(attempts().length).toBe(before + 1)
  })
})
