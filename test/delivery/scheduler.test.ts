/** Batches are sent, kept and counted: order, memory, disk, flush and exit. */
import { describe, expect, test } from 'vitest'
import type { Batch, SegmentPosition } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import type { DeliveryDisk } from '../../src/delivery/lanes.js'
import { FakeClock, settled } from '../fake-clock.js'
import {
  batchFrom,
  batchOf,
  busyFor,
  DOWN,
  many,
  nameless,
  OK,
  refused,
  refusingBad,
  RESET,
  seeded,
  setup,
  UNAUTHORIZED,
  watch,
  NO_DESCRIPTOR,
} from './setup.js'
import type { Request, Service, Setup } from './setup.js'

type Placed = Batch & { readonly place: SegmentPosition }

/** A disk in memory that reads in a later turn. */
function fakeDisk() {
  const waiting: { batch: Batch; sequence: number }[] = []
  const left: Batch[] = []
  const whole = (batch: Batch): Batch =>
    batch.body.length === 0 ? { ...batch, body: batchFrom(batch.batchId, 1).body } : batch
  const disk: DeliveryDisk & { readonly retainedEntries: number } = {
    retainedEntries: 0,
    spilled: {
      get batches() {
        return waiting.length
      },
      get hasMore() {
        return waiting.length > 0
      },
      get oldest() {
        return waiting[0]?.sequence ?? Infinity
      },
      push: (batch, sequence) => void waiting.push({ batch, sequence }),
      pass: () => {},
      next: async (take) => {
        await settled()
        const next = waiting.shift()
        if (next !== undefined) take(whole(next.batch), next.sequence)
        return next !== undefined
      },
    },
    recovery: {
      get hasMore() {
        return left.length > 0
      },
      next: async (take) => {
        await settled()
        const next = left.shift()
        if (next !== undefined) take(next)
        return next !== undefined
      },
    },
  }
  return { disk, waiting, left }
}

function durable(batch: Batch): Placed {
  const acknowledgement = { isDurable: true, createPart: () => acknowledgement, acknowledge: () => {} }
  return { ...batch, place: { segment: 1, offset: 0 }, acknowledgement }
}

const ids = ({ report }: Setup): string[] => report.deliveredIds
const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`)
const downUntil =
  (ms: number, failure: Outcome = DOWN): Service =>
  ({ at }) =>
    at < ms ? failure : OK

describe('concurrency', () => {
  test('is one for a single batch, and rises to the maximum while batches wait', async () => {
    const one = setup(() => OK, { maxConcurrency: 4 })
    for (const batch of many(3)) {
      one.enqueue(batch)
      await one.clock.advance(30)
    }
    expect(one.counts.maxInFlight).toBe(1)
    one.enqueue(...many(20))
    await one.clock.advance(200)
    expect(one.counts.maxInFlight).toBe(4)
  })

  test('falls when replies become slower', async () => {
    let latencyMs = 25
    const one = setup(() => OK, { maxConcurrency: 32, latencyMs: () => latencyMs })
    one.enqueue(...many(4_000))
    await one.clock.advance(1_000)
    expect(one.scheduler.limit).toBe(32)
    latencyMs = 250
    await one.clock.advance(300)
    expect(one.scheduler.limit).toBeLessThan(32)
  })

  test('requests that have hung since before a failure delay no others', async () => {
    let doesHang = false
    const one = setup(() => (doesHang ? undefined : OK), { maxConcurrency: 32, random: seeded(1) })
    one.enqueue(...many(200))
    await one.clock.advance(1_000)
    doesHang = true
    one.enqueue(...many(20))
    await one.clock.advance(100)
    doesHang = false
    const hanging = one.requests.slice(200)
    expect(hanging.length).toBeGreaterThan(1)
    hanging[0]?.end(DOWN)
    await one.clock.advance(6_000)
    const { accepted } = one.account
    for (let n = 0; n < 500; n += 1) {
      one.enqueue(batchOf(`after${n}`))
      await one.clock.advance(10)
    }
    expect(one.account.accepted - accepted).toBeGreaterThan(400)
    for (const { end } of hanging) end(OK)
    await one.clock.advance(70_000)
    expect(one.scheduler.pendingEntries).toBe(0)
  })
})

describe('too many open files', () => {
  test('the limit is halved, does not grow for a minute, and no outage is reported', async () => {
    const isRefused = ({ inFlight }: Request): boolean => inFlight > 20
    const one = setup((request) => (isRefused(request) ? NO_DESCRIPTOR : OK), {
      latencyMs: (request) => (isRefused(request) ? 0 : 25),
      maxBufferBytes: 1 << 30,
      maxConcurrency: 64,
      random: seeded(1),
    })
    const failed = (): Request[] => one.requests.filter(isRefused)
    const run = async (seconds: number): Promise<void> => {
      for (let n = 0; n < seconds; n += 1) {
        one.enqueue(...many(600))
        await one.clock.advance(1_000)
      }
    }
    await run(50)
    const [{ at }] = failed() as [Request]
    expect(failed()).toHaveLength(1)
    const later = one.requests.filter((request) => request.at > at + 25)
    expect(Math.max(...later.map(({ inFlight }) => inFlight))).toBe(10)
    await run(30)
    expect(failed().length).toBeGreaterThan(1)
    await one.clock.advance(60_000)
    expect(one.failed()).toEqual([])
    expect(one.account.accepted).toBe(one.account.received)
  })

  test('with no request in flight, the next attempt is delayed and no entry is lost', async () => {
    const one = setup(downUntil(20_000, NO_DESCRIPTOR), { maxConcurrency: 64, random: seeded(1) })
    one.enqueue(...many(100))
    await one.clock.advance(20_000)
    expect(one.requests.length).toBeLessThan(30)
    await one.clock.advance(60_000)
    expect(one.account.accepted).toBe(100)
  })
})

describe('with maxConcurrency 1, the order is kept', () => {
  test.each<[string, Service]>([
    ['while every third request fails', ({ number }) => (number % 3 === 0 ? DOWN : OK)],
    ['in outages', ({ at }) => (at % 20_000 > 10_000 ? DOWN : OK)],
    ['while the connection is reset for minutes', ({ at }) => (at > 1_000 && at < 200_000 ? RESET : OK)],
    ['if the key is wrong at first', downUntil(3_000, UNAUTHORIZED)],
    ['while the service sends Retry-After', ({ number }) => (number % 4 === 0 ? busyFor(2) : OK)],
  ])('%s', async (_, service) => {
    const one = setup(service, { maxConcurrency: 1, random: seeded(7) })
    for (const batch of many(60)) {
      one.enqueue(batch)
      await one.clock.advance(1_000)
    }
    await one.clock.advance(300_000)
    expect(one.counts.maxInFlight).toBe(1)
    const order = ids(one).map((id) => Number(id.slice(1)))
    // What was refused steps out of the order.
    const refusedIds = new Set(
      one.events.flatMap((event) =>
        event.kind === 'replied' && event.outcome.kind === 'endpoint-rejected' ? [event.job.batch.batchId] : [],
      ),
    )
    const kept = order.filter((n) => !refusedIds.has(`b${n}`))
    expect(kept).toEqual(kept.toSorted((a, b) => a - b))
    expect(order).toHaveLength(60)
  })

  test('parts of a batch that is too large go before what was logged after it', async () => {
    const one = setup(({ entries }) => (entries.length > 3 ? nameless(413) : OK), { maxConcurrency: 1 })
    one.enqueue(batchFrom('a', 10), batchFrom('b', 1), batchFrom('c', 7))
    await one.clock.advance(5_000)
    const expected = [...names('a ', 10), 'b 0', ...names('c ', 7)].map((message) => JSON.stringify({ message }))
    expect(one.stored).toEqual(expected)
  })

  test('what was on disk goes first, and new batches follow those of an outage', async () => {
    const { disk, left } = fakeDisk()
    left.push(...many(5).map((batch) => durable({ ...batch, batchId: `left ${batch.batchId}` })))
    const one = setup(downUntil(60_000), { maxConcurrency: 1, disk, random: seeded(1), maxBufferBytes: 40_000 })
    for (const batch of many(50)) {
      one.enqueue(durable(batch))
      await one.clock.advance(1_000)
    }
    await one.clock.advance(60_000)
    for (const batch of many(5)) one.enqueue(durable({ ...batch, batchId: `new ${batch.batchId}` }))
    await one.clock.advance(60_000)
    expect(ids(one)).toEqual([...names('left b', 5), ...names('b', 50), ...names('new b', 5)])
  })

  test('a batch that makes every request fail steps out of it, and holds nothing', async () => {
    let isKeyWrong = false
    const one = setup(({ batchId }) => (batchId === 'bad' ? DOWN : isKeyWrong ? UNAUTHORIZED : OK), {
      maxConcurrency: 1,
      random: seeded(3),
    })
    one.enqueue(batchOf('first'))
    await one.clock.advance(100)
    one.enqueue(batchOf('bad'))
    for (let n = 0; n < 1_500; n += 1) {
      one.enqueue(batchOf(`b${n}`))
      await one.clock.advance(1_000)
    }
    expect(one.account.accepted).toBeGreaterThan(1_490)
    isKeyWrong = true
    one.enqueue(batchOf('denied'))
    await one.clock.advance(5_000)
    isKeyWrong = false
    await one.clock.advance(120_000)
    expect(one.scheduler.pendingEntries).toBe(1)
  })

  test('a flush does not change it', async () => {
    const one = setup(({ number }) => (number === 2 ? DOWN : OK), {
      maxConcurrency: 1,
      latencyMs: 200,
      random: () => 0.9,
    })
    one.enqueue(...many(4))
    await one.clock.advance(450)
    void one.scheduler.flush(10_000)
    await one.clock.advance(5_000)
    expect(ids(one)).toEqual(names('b', 4))
  })
})

test('an outage loses no entry', async () => {
  const one = setup(({ at }) => (at >= 5_000 && at < 15_000 ? DOWN : OK))
  for (let second = 0; second < 20; second += 1) {
    one.enqueue(...many(10, 100))
    await one.clock.advance(1_000)
    expect(one.account.snapshot().balances).toBe(true)
  }
  await one.clock.advance(60_000)
  expect(one.account.snapshot()).toMatchObject({ received: 20_000, accepted: 20_000, pending: 0, balances: true })
  expect(one.report.drops).toEqual([])
})

test('entries that a reply names or counts as rejected are reported; only those that it names are stored', async () => {
  const error = { index: 1, code: 'VALIDATION_ERROR', field: 'level', message: 'invalid level' }
  const replies: Record<string, Outcome> = {
    partly: { kind: 'delivered', accepted: 9, rejected: [error, { ...error, field: 'message' }] },
    counted: { kind: 'delivered', accepted: 7, rejected: [error] },
    none: { kind: 'delivered', accepted: 0, rejected: [error] },
    unreadable: { kind: 'delivered', accepted: 10, rejected: [], unreadable: true },
    bug: { kind: 'abandoned', reason: 'a bug' },
  }
  const one = setup(({ batchId }) => replies[batchId] as Outcome)
  one.enqueue(...Object.keys(replies).map((batchId) => batchFrom(batchId, 10)))
  await one.clock.advance(1_000)
  expect(one.account.snapshot()).toMatchObject({
    accepted: 26,
    rejected: 14,
    dropped: { shutdown: 10 },
    pending: 0,
    balances: true,
  })
  expect(one.letters.map(({ batchId, index }) => `${batchId} ${index}`)).toEqual([
    'partly 1',
    'counted 1',
    'none 1',
    ...[0, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `none ${n}`),
  ])
  expect(one.report.rejections.map(({ count }) => count)).toEqual([1, 3, 10])
  expect(one.report.drops).toEqual([{ count: 10, reason: 'shutdown', detail: 'a bug' }])
  expect(one.report.problems).toMatchObject([{ code: 'MISDIRECTED' }])
})

test('an entry that is too large is shortened until it is accepted, each time under another id', async () => {
  const one = setup(({ entries }) => ((entries[0] ?? '').length > 1_500 ? nameless(413) : OK))
  const large = {
    ...batchFrom('large', 1),
    body: Buffer.from(`{"logs":[${JSON.stringify({ message: 'x'.repeat(20_000) })}]}`),
  }
  one.enqueue(large)
  await one.clock.advance(1_000)
  expect(one.stored).toHaveLength(1)
  expect(new Set(one.requests.map(({ batchId }) => batchId)).size).toBe(one.requests.length)
})

test('the dead letter of an entry that was shortened is the entry as it was logged', async () => {
  const one = setup(({ entries }) => {
    const [entry = ''] = entries
    return entry.length > 1_500 ? nameless(413) : entry.includes('xxx') ? nameless(400) : OK
  })
  const entry = JSON.stringify({ message: 'x'.repeat(20_000) })
  one.enqueue({ ...batchFrom('large', 1), body: Buffer.from(`{"logs":[${entry}]}`) })
  for (let n = 0; n < 10; n += 1) {
    one.enqueue(batchFrom(`good${n}`, 1))
    await one.clock.advance(1_000)
  }
  expect(one.letters).toMatchObject([{ batchId: 'large', index: 0, entry }])
})

test('a dead letter has the texts of the reply without secrets', async () => {
  const rejected = [{ index: 0, code: 'no k3y', field: 'k3y', message: 'bad k3y' }]
  const one = setup(() => ({ ...nameless(422), rejected }), { mask: (text) => text.replaceAll('k3y', '*') })
  one.enqueue(batchFrom('bad', 1))
  await one.clock.advance(100)
  expect(one.letters).toMatchObject([{ status: 422, code: 'no *', field: '*', reason: 'bad *' }])
})

const FIRST = { rejected: [{ index: 0, code: '', field: '', message: '' }] }

test.each<[string, Outcome, lost: number]>([
  ['named by a 422', { ...nameless(422), ...FIRST }, 2],
  ['named by a 2xx', { kind: 'delivered', accepted: 1, ...FIRST }, 2],
  ['found by division', nameless(400), 1],
])('%s, an entry whose dead letter cannot be stored is not counted as rejected', async (_, outcome, lost) => {
  const one = setup(refusingBad(outcome), {
    deadLetter: () => {
      throw new Error('disk full')
    },
  })
  one.enqueue(batchFrom('bad', 2, [0]))
  for (let n = 0; n < 10; n += 1) {
    one.enqueue(batchFrom(`good${n}`, 1))
    await one.clock.advance(20_000)
  }
  const accepted = 12 - lost
  expect(one.account.snapshot()).toMatchObject({ accepted, rejected: 0, dropped: { shutdown: lost }, balances: true })
})

describe('memory', () => {
  test('is limited: the oldest waiting batch is dropped as a whole, counted and reported', async () => {
    const one = setup(() => DOWN, { maxBufferBytes: 20_000, maxConcurrency: 1 })
    for (const batch of many(30, 7)) {
      one.enqueue(batch)
      await one.clock.advance(10)
      expect(one.scheduler.usedShare).toBeLessThanOrEqual(1)
      expect(one.account.snapshot().balances).toBe(true)
    }
    expect(one.account.snapshot()).toMatchObject({ dropped: { buffer: 140 }, pending: 70 })
    expect(one.report.drops).toHaveLength(20)
    expect(one.report.drops[0]).toMatchObject({ count: 7, reason: 'buffer' })
    expect(one.report.drops[0]?.detail).toMatch(/20000.*level info.*503 down/)
  })

  test('does not drop waiting batches for a batch that never fits', async () => {
    const one = setup(() => undefined, { maxBufferBytes: 20_000, maxConcurrency: 1 })
    one.enqueue(...many(4), batchOf('giant', 5, 18_000))
    await one.clock.advance(0)
    expect(one.scheduler.usedShare).toBe(0.4)
    expect(one.account.snapshot()).toMatchObject({ dropped: { buffer: 5 }, pending: 4, balances: true })
  })

  test('holds half of its size of batches that are on disk; the rest waits there and returns', async () => {
    const { disk, waiting } = fakeDisk()
    const one = setup(downUntil(30_000), { disk, maxBufferBytes: 40_000, random: seeded(1) })
    for (const batch of many(100)) {
      one.enqueue(durable(batch))
      expect(one.scheduler.usedShare).toBeLessThanOrEqual(0.5)
    }
    expect(waiting.length).toBeGreaterThan(80)
    await one.clock.advance(200_000)
    expect(new Set(ids(one)).size).toBe(100)
    expect(one.report.drops).toEqual([])
  })

  test('of a refused backlog is limited, too', async () => {
    const { disk } = fakeDisk()
    const one = setup(() => UNAUTHORIZED, { disk, maxBufferBytes: 40_000, random: seeded(1) })
    for (let n = 0; n < 2_000; n += 1) {
      one.enqueue(durable(batchOf(`b${n}`)))
      await one.clock.advance(10_000)
      expect(one.scheduler.usedShare).toBeLessThanOrEqual(0.7)
    }
  })
})

test('after an outage three new batches are sent for each one of the backlog', async () => {
  const { disk } = fakeDisk()
  const one = setup(downUntil(30_000), { disk, maxConcurrency: 8, random: seeded(1) })
  for (const batch of many(200)) one.enqueue(durable({ ...batch, batchId: `old${batch.batchId}` }))
  await one.clock.advance(29_000)
  while (one.scheduler.health.kind === 'down') await one.clock.advance(10)
  for (let n = 0; n < 30; n += 1) one.enqueue(durable(batchOf(`new${n}`)))
  await one.clock.advance(2_000)
  const first = ids(one).slice(0, 40)
  expect(first.filter((id) => id.startsWith('new')).length).toBeGreaterThan(20)
  expect(first.filter((id) => id.startsWith('old')).length).toBeGreaterThan(7)
})

describe('batches of earlier processes', () => {
  test('every fourth batch is one of them', async () => {
    const { disk, left } = fakeDisk()
    left.push(...many(40).map((batch) => durable({ ...batch, batchId: `left${batch.batchId}` })))
    const one = setup(() => OK, { disk, maxConcurrency: 2 })
    one.enqueue(...many(60))
    await one.clock.advance(5_000)
    const first = ids(one).slice(0, 40)
    expect(first.filter((id) => id.startsWith('left')).length).toBeGreaterThanOrEqual(8)
    expect(first.filter((id) => id.startsWith('left')).length).toBeLessThanOrEqual(12)
    expect(new Set(ids(one)).size).toBe(100)
  })

  test('in the application, an idle process sends them, but only from timers that do not keep it alive', async () => {
    const { disk, left } = fakeDisk()
    left.push(...many(40).map(durable))
    const one = setup(() => OK, { disk, isInProcess: true })
    await one.clock.advance(60_000)
    one.scheduler.wake()
    await settled()
    expect(one.requests).toHaveLength(0)
    await one.clock.advance(5_000)
    expect(ids(one)).toHaveLength(40)
  })

  test('if none are left after all, new batches are sent', async () => {
    const { disk, left } = fakeDisk()
    let reads = 0
    const recovery = {
      get hasMore() {
        return reads === 0
      },
      next: async () => {
        reads += 1
        await settled()
        return false
      },
    }
    const one = setup(() => OK, { disk: { ...disk, recovery }, maxConcurrency: 1 })
    one.scheduler.wake()
    one.enqueue(durable(batchOf('new')))
    await one.clock.advance(100)
    expect(left).toEqual([])
    expect(ids(one)).toEqual(['new'])
  })

  test.each<[string, Outcome]>([
    ['fails', DOWN],
    ['is refused', nameless()],
  ])('are read slowly while each of them %s', async (_name, outcome) => {
    const { disk, left } = fakeDisk()
    left.push(...Array.from({ length: 3_000 }, (_, n) => durable(batchFrom(`bad${n}`, 2, [0, 1]))))
    const one = setup(({ entries }) => (entries.some((entry) => entry.includes('poison')) ? outcome : OK), {
      disk,
      random: seeded(5),
    })
    for (let n = 0; n < 120; n += 1) {
      one.enqueue(batchOf(`b${n}`))
      await one.clock.advance(1_000)
    }
    expect(left.length).toBeGreaterThan(1_000)
    expect(one.scheduler.usedShare).toBeLessThan(0.5)
    expect(one.account.dropped.buffer).toBe(0)
  })

  test('are claimed only while they would be sent', async () => {
    let isUp = false
    const one = setup(() => (isUp ? OK : UNAUTHORIZED))
    expect(one.scheduler.mayAdopt).toBe(true)
    one.enqueue(batchOf('a'))
    await one.clock.advance(100)
    expect(one.scheduler.mayAdopt).toBe(false)
    isUp = true
    await one.clock.advance(120_000)
    expect(one.scheduler.mayAdopt).toBe(true)
  })
})

describe('flush', () => {
  test('resolves when all batches enqueued before it are settled', async () => {
    const one = setup(() => undefined)
    one.enqueue(batchOf('a'))
    await one.clock.advance(0)
    const flushed = watch(one.scheduler.flush())
    one.enqueue(batchOf('b'))
    expect(flushed.done).toBe(false)
    one.requests[0]?.end(OK)
    await settled()
    expect(flushed.done).toBe(true)
    expect(await setup(() => OK).scheduler.flush()).toBe('acknowledged')
  })

  test('waits through an outage if batches are only in memory', async () => {
    const one = setup(downUntil(8_000), { random: seeded(1) })
    one.enqueue(...many(5))
    const flushed = watch(one.scheduler.flush(1_000))
    await one.clock.advance(7_999)
    expect(flushed.done).toBe(false)
    await one.clock.advance(20_000)
    expect(flushed.done).toBe(true)
  })

  test('counts a dropped batch as settled', async () => {
    const one = setup(() => undefined, { maxBufferBytes: 4_000, maxConcurrency: 1 })
    one.enqueue(batchOf('in flight'), batchOf('oldest'))
    const flushed = watch(one.scheduler.flush())
    one.enqueue(batchOf('newest'))
    one.requests[0]?.end(OK)
    await settled()
    expect(flushed.done).toBe(true)
  })

  test.each<[string, Service, number, number]>([
    ['a service that hangs: at its timeout', () => undefined, 5_000, 5_000],
    ['an outage older than the request timeout: after the next attempt', () => DOWN, 5_000, 300],
    ['a Retry-After that ends too late: at once', () => busyFor(3_600), 5_000, 0],
  ])('of batches on disk, with %s', async (_, service, timeoutMs, mostMs) => {
    const { disk } = fakeDisk()
    const one = setup(service, { disk, random: seeded(1) })
    one.enqueue(durable(batchOf('a')))
    await one.clock.advance(15_000)
    const startedAt = one.clock.now()
    const flushed = one.scheduler.flush(timeoutMs).then((state) => ({ state, tookMs: one.clock.now() - startedAt }))
    await one.clock.advance(timeoutMs)
    expect(await flushed).toMatchObject({ state: 'spooled' })
    expect((await flushed).tookMs).toBeLessThanOrEqual(mostMs)
  })

  test('when the batches in memory are accepted, all others are on disk', async () => {
    const { disk } = fakeDisk()
    const one = setup(({ batchId }) => (batchId === 'disk' ? undefined : OK), { disk })
    one.enqueue(batchOf('first'))
    await one.clock.advance(1_000)
    one.enqueue(durable(batchOf('disk')), batchOf('memory'))
    expect(one.scheduler.memoryOnlyEntries).toBeGreaterThan(0)
    await one.clock.advance(60_000)
    expect(ids(one)).toEqual(['first', 'memory'])
    expect(one.scheduler.memoryOnlyEntries).toBe(0)
  })

  test.each(['a flush', 'the end of the process'])(
    'a batch that fails alone is tried earlier after %s',
    async (what) => {
      let isFixed = false
      const one = setup(({ batchId }) => (batchId === 'bad' && !isFixed ? RESET : OK), { random: () => 0.99 })
      const run = async (ms: number): Promise<void> => {
        for (let left = ms; left > 0; left -= 100) {
          one.enqueue(batchOf(`good${one.clock.now()}`))
          await one.clock.advance(100)
        }
      }
      await run(1_000)
      one.enqueue(batchOf('bad'))
      await run(60_000)
      isFixed = true
      const before = one.requests.filter(({ batchId }) => batchId === 'bad').length
      if (what === 'a flush') void one.scheduler.flush(5_000)
      else void one.scheduler.sendRemaining(3_000)
      await one.clock.advance(300)
      expect(one.requests.filter(({ batchId }) => batchId === 'bad')).toHaveLength(before + 1)
    },
  )
})

describe('the end of the process', () => {
  test('comes as soon as everything is delivered, and leaves no timer', async () => {
    const one = setup(() => OK, { latencyMs: 100 })
    one.enqueue(...many(3, 100))
    const drained = watch(one.scheduler.drain(3_000, () => 'late'))
    await one.clock.advance(299)
    expect(drained.done).toBe(true)
    expect(one.account.snapshot()).toMatchObject({ accepted: 300, pending: 0, balances: true })
    expect(one.clock.timers).toBe(0)
  })

  test('at its deadline, requests are aborted, and the rest is counted and reported once', async () => {
    const one = setup(({ number }) => (number <= 3 ? DOWN : undefined), { random: seeded(1) })
    one.enqueue(...many(20, 100))
    await one.clock.advance(5_000)
    const drained = watch(one.scheduler.drain(3_000, () => 'late'))
    await one.clock.advance(2_999)
    expect(drained.done).toBe(false)
    expect(one.requests.at(-1)?.signal.aborted).toBe(false)
    await one.clock.advance(101)
    expect(one.requests.at(-1)?.signal.aborted).toBe(true)
    expect(drained.done).toBe(true)
    expect(one.report.drops).toEqual([{ count: 2_000, reason: 'shutdown', detail: 'late' }])
    one.requests.at(-1)?.end(OK) // too late, and already counted
    await settled()
    expect(one.account.snapshot()).toMatchObject({
      accepted: 0,
      dropped: { shutdown: 2_000 },
      pending: 0,
      balances: true,
    })
    expect(one.clock.timers).toBe(0)
  })

  test('with everything on disk it comes after two failures, and what is left stays', async () => {
    const { disk } = fakeDisk()
    const one = setup(() => ({ kind: 'retryable', reason: 'ECONNREFUSED' }), { disk, random: () => 0.99, latencyMs: 5 })
    one.enqueue(...many(3).map(durable))
    const drained = watch(one.scheduler.sendRemaining(3_000))
    await one.clock.advance(400)
    expect(drained.done).toBe(true)
    expect(one.requests).toHaveLength(2)
    one.scheduler.close('exit')
    expect(one.account.snapshot()).toMatchObject({ dropped: { shutdown: 0 }, pending: 3, balances: true })
    expect(one.report.drops).toEqual([])
  })

  test('skips the backoff for a last attempt, which delivers everything', async () => {
    let isUp = false
    const one = setup(() => (isUp ? OK : DOWN), { random: () => 0.9 })
    one.enqueue(...many(20, 100))
    await one.clock.advance(100_000) // the next attempt is seconds away
    isUp = true
    const drained = watch(one.scheduler.drain(3_000, () => 'late'))
    await one.clock.advance(500)
    expect(drained.done).toBe(true)
    expect(one.account.snapshot()).toMatchObject({ accepted: 2_000, balances: true })
  })

  test('waits for a Retry-After that ends before the deadline, and not for a longer one', async () => {
    for (const [seconds, isDone] of [
      [2, true],
      [60, false],
    ] as const) {
      const one = setup(({ number }) => (number === 1 ? busyFor(seconds) : OK), { random: () => 0 })
      one.enqueue(...many(3))
      const drained = watch(one.scheduler.drain(3_000, () => 'late'))
      await one.clock.advance(isDone ? 2_500 : 200)
      expect(drained.done).toBe(true)
      expect(one.account.accepted).toBe(isDone ? 3 : 0)
    }
  })

  test('delivers batches added while it runs, and counts later ones as dropped', async () => {
    const one = setup(() => OK, { latencyMs: 100 })
    one.enqueue(batchOf('before'))
    const drained = one.scheduler.drain(3_000, () => 'late')
    await one.clock.advance(50)
    one.enqueue(batchOf('during'))
    await one.clock.advance(200)
    await drained
    expect(ids(one)).toEqual(['before', 'during'])
    one.enqueue(batchOf('after', 4))
    expect(one.account.snapshot()).toMatchObject({ accepted: 2, dropped: { shutdown: 4 }, pending: 0, balances: true })
  })

  test('in this turn of the event loop: everything is counted and reported once, and flushes resolve', async () => {
    const one = setup(() => undefined)
    one.enqueue(...many(5, 10))
    const flushed = watch(one.scheduler.flush())
    one.scheduler.close('exit')
    expect(one.account.snapshot()).toMatchObject({ dropped: { shutdown: 50 }, pending: 0, balances: true })
    one.enqueue(batchOf('after'))
    one.scheduler.close('exit')
    one.requests[0]?.end(OK)
    await one.clock.advance(0)
    expect(flushed.done).toBe(true)
    expect(await one.scheduler.flush()).toBe('acknowledged')
    expect(one.report.drops.map(({ count }) => count)).toEqual([50, 1])
    expect(one.account.snapshot()).toMatchObject({ accepted: 0, dropped: { shutdown: 51 }, balances: true })
  })

  test('a request without a reply does not hold the others', async () => {
    const one = setup(({ number }) => (number === 1 ? undefined : OK))
    one.enqueue(...many(5))
    const drained = watch(one.scheduler.drain(3_000, () => 'late'))
    await one.clock.advance(3_100)
    expect(drained.done).toBe(true)
    expect(one.account.snapshot()).toMatchObject({ accepted: 4, dropped: { shutdown: 1 }, balances: true })
  })

  test('batches of earlier processes are sent while a reply is expected in time', async () => {
    const { disk, left } = fakeDisk()
    left.push(...many(40).map(durable))
    const one = setup(() => OK, { disk, latencyMs: 500, clock: new FakeClock() })
    const drained = watch(one.scheduler.drain(1_300, () => 'late'))
    await one.clock.advance(1_400)
    expect(drained.done).toBe(true)
    expect(one.counts.inFlight).toBe(0)
    expect(ids(one).length).toBeGreaterThan(0)
  })
})

test.each([3, 8, 20])('%i batches in a row that make every request fail hold later ones for seconds', async (count) => {
  const one = setup(({ batchId }) => (batchId.startsWith('bad') ? RESET : OK), { random: seeded(4) })
  one.enqueue(...many(20))
  await one.clock.advance(20_000)
  one.enqueue(...Array.from({ length: count }, (_, n) => batchOf(`bad${n}`)))
  for (let n = 0; n < 60; n += 1) {
    one.enqueue(batchOf(`new${n}`))
    await one.clock.advance(1_000)
  }
  expect(ids(one).filter((id) => id.startsWith('new')).length).toBeGreaterThan(50)
})

test('a batch that always gets a Retry-After does not hold the others', async () => {
  const one = setup(({ batchId }) => (batchId === 'bad' ? busyFor(30) : OK), { random: seeded(2) })
  one.enqueue(batchOf('first'))
  await one.clock.advance(100)
  one.enqueue(batchOf('bad'))
  for (let n = 0; n < 600; n += 1) {
    one.enqueue(batchOf(`b${n}`))
    await one.clock.advance(1_000)
  }
  expect(one.account.accepted).toBeGreaterThan(500)
})

test('a timer that fires a little early, while time goes on, loses no attempt', async () => {
  class EarlyClock extends FakeClock {
    #passed = 0
    override now(): number {
      this.#passed += 0.01
      return super.now() + this.#passed
    }
    override timer(delayMs: number, fire: () => void): () => void {
      return super.timer(Math.max(delayMs - 0.05, 0), fire)
    }
  }
  const one = setup(() => DOWN, { clock: new EarlyClock(), random: seeded(1), retry: { maxMs: 50 } })
  one.enqueue(batchOf('a'))
  await one.clock.advance(30_000)
  expect(one.requests.length).toBeGreaterThan(500)
})

test('a job is withdrawn without being counted', async () => {
  const one = setup(({ batchId }) => (batchId === 'b1' ? refused(403) : OK))
  one.enqueue(...many(3))
  await one.clock.advance(1_000)
  expect(one.scheduler.pendingEntries).toBe(1)
  one.scheduler.withdraw(({ batchId }) => batchId === 'b1')
  expect(one.scheduler.pendingEntries).toBe(0)
  expect(one.account.snapshot()).toMatchObject({ accepted: 2, rejected: 0 })
})
