/** Many clients of one service after an outage: together they must not overload it again. */
import { describe, expect, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Delivery } from '../../../src/delivery/delivery.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { FakeClock } from '../../fake-clock.js'
import { DOWN, RecordingReport, batchOf } from '../scripted-sender.js'

const LATENCY_MS = 25
const REFUSED_CONNECTION: Outcome = { kind: 'retryable', reason: 'connect ECONNREFUSED' }

/** The same sequence in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface HerdOptions {
  readonly clients: number
  readonly perSecond: number
  /** The time of the outage. */
  readonly fromMs: number
  readonly untilMs: number
  readonly failure: Outcome
}

function herd({ clients, perSecond, fromMs, untilMs, failure }: HerdOptions) {
  const clock = new FakeClock()
  const random = seeded(clients)
  const requests: number[] = []
  const sender = {
    send: ({ count }: { count: number }): Promise<Outcome> => {
      requests.push(clock.now())
      const isDown = clock.now() >= fromMs && clock.now() < untilMs
      return new Promise(
        (resolve) =>
          void clock.timer(LATENCY_MS, () =>
            resolve(isDown ? failure : { kind: 'delivered', accepted: count, rejected: [] }),
          ),
      )
    },
  }
  const members = Array.from({ length: clients }, () => {
    const breaker = new CircuitBreaker({ clock, maxConcurrency: 32, retry: { minMs: 250, maxMs: 30_000 }, random })
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
    let produced = 0
    const produce = (): void => {
      delivery.enqueue(batchOf(`b${produced}`))
      produced += 1
      clock.timer(1000 / perSecond, produce)
    }
    clock.timer((random() * 1000) / perSecond, produce)
    return { breaker, account, pending: () => delivery.pendingEntries, produced: () => produced }
  })
  const pending = (): number => members.reduce((sum, member) => sum + member.pending(), 0)
  /** The maximum number of requests started within 1 s, in windows that start at or after `from`. */
  const peak = (from: number, to = Infinity): number => {
    const times = requests.filter((at) => at >= from && at < to)
    let start = 0
    return times.reduce((most, at, index) => {
      while ((times[start] as number) <= at - 1000) start += 1
      return Math.max(most, index - start + 1)
    }, 0)
  }
  return { clock, requests, members, pending, peak }
}

describe.each([
  ['503', DOWN],
  ['no connection', REFUSED_CONNECTION],
])('50 clients with one batch per second each, 60 s outage with %s', (name, failure) => {
  test('afterwards no second has more than twice the usual requests, and the backlog is sent in time', async () => {
    const fromMs = 60_000
    const untilMs = 120_000
    const { clock, members, pending, peak } = herd({ clients: 50, perSecond: 1, fromMs, untilMs, failure })
    await clock.advance(untilMs)
    const backlog = pending()
    let drainedMs = 0
    while (pending() > 50 && drainedMs < 300_000) {
      await clock.advance(1000)
      drainedMs += 1000
    }
    await clock.advance(60_000)
    const [after, during, steady] = [peak(untilMs), peak(fromMs, untilMs), peak(10_000, fromMs)]
    process.stdout.write(
      `herd, ${name}: steady ${steady}/s, at most ${during}/s in the outage, ${after}/s after it; ` +
        `${backlog} batches sent in ${drainedMs / 1000} s\n`,
    )
    expect(backlog).toBeGreaterThan(2_900)
    expect(after).toBeLessThanOrEqual(100)
    expect(drainedMs).toBeLessThan(180_000)
    // Back to normal: nothing is limited.
    expect(pending()).toBeLessThanOrEqual(50)
    expect(members.every(({ account, produced }) => account.accepted >= produced() - 2)).toBe(true)
  })
})

describe('a lone client', () => {
  test('with a known rate sends 1,000 batches quickly', async () => {
    const { clock, pending, peak, requests } = herd({
      clients: 1,
      perSecond: 50,
      fromMs: 30_000,
      untilMs: 50_000,
      failure: DOWN,
    })
    await clock.advance(50_000)
    expect(pending()).toBeGreaterThanOrEqual(1000)
    let drainedMs = 0
    while (pending() > 5 && drainedMs < 300_000) {
      await clock.advance(1000)
      drainedMs += 1000
    }
    const within20s = peak(50_000, 70_000)
    process.stdout.write(
      `lone, 50/s: ${within20s}/s within 20 s, ${requests.length} requests, sent in ${drainedMs / 1000} s\n`,
    )
    expect(within20s).toBeGreaterThanOrEqual(50)
    expect(drainedMs).toBeLessThan(60_000)
  })

  test('that logged much more in the outage than before is limited at first, then speeds up', async () => {
    const clock = new FakeClock()
    let isDown = false
    const breaker = new CircuitBreaker({
      clock,
      maxConcurrency: 32,
      retry: { minMs: 250, maxMs: 30_000 },
      random: () => 0.5,
    })
    const sender = {
      send: ({ count }: { count: number }): Promise<Outcome> =>
        new Promise(
          (resolve) =>
            void clock.timer(LATENCY_MS, () =>
              resolve(isDown ? DOWN : { kind: 'delivered', accepted: count, rejected: [] }),
            ),
        ),
    }
    const delivery = new Delivery({
      sender: createRetrySender(sender, breaker),
      breaker,
      clock,
      maxBufferBytes: 64 * 2 ** 20,
      requestTimeoutMs: 10_000,
      account: new Account(),
      report: new RecordingReport(),
    })
    for (let second = 0; second < 30; second += 1) {
      delivery.enqueue(batchOf(`s${second}`))
      await clock.advance(1000)
    }
    isDown = true
    for (let n = 0; n < 1000; n += 1) delivery.enqueue(batchOf(`n${n}`))
    await clock.advance(20_000)
    isDown = false
    let drainedMs = 0
    while (delivery.pendingEntries > 0 && drainedMs < 600_000) {
      await clock.advance(1000)
      drainedMs += 1000
    }
    process.stdout.write(`lone, 1/s before and 1,000 in an outage of 20 s: sent in ${drainedMs / 1000} s\n`)
    expect(drainedMs).toBeLessThan(120_000)
  })

  test('is not limited while it shuts down or if its event loop is empty', async () => {
    for (const how of ['shutdown', 'retryNow'] as const) {
      const { clock, pending, members } = herd({
        clients: 1,
        perSecond: 5,
        fromMs: 30_000,
        untilMs: 60_000,
        failure: DOWN,
      })
      await clock.advance(75_000)
      expect(pending()).toBeGreaterThan(50)
      if (how === 'shutdown') members[0]?.breaker.startShutdown(clock.now() + 3_000)
      else members[0]?.breaker.retryNow()
      await clock.advance(1_000)
      expect(pending()).toBeLessThan(5)
    }
  })

  test('that started just before the outage is not limited to its rate until then', async () => {
    const { clock, pending } = herd({ clients: 1, perSecond: 5, fromMs: 1_500, untilMs: 31_500, failure: DOWN })
    await clock.advance(50_000)
    expect(pending()).toBeLessThan(5)
  })

  test('without a known rate is not limited', async () => {
    const { clock, pending } = herd({ clients: 1, perSecond: 5, fromMs: 0, untilMs: 30_000, failure: DOWN })
    await clock.advance(40_000)
    expect(pending()).toBeLessThan(5)
  })
})
