/** Payloads that something on the way refuses: what they cost other entries. */
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/batch/outcome.js'
import {
  batchFrom,
  batchWith,
  isBadEntry,
  LATE_REPLY,
  OK,
  refused,
  refusingBad,
  RESET,
  seeded,
  setup,
} from './setup.js'
import type { Service, Setup, SetupOptions } from './setup.js'

const STATUSES = [200, 403, 422]

/** Logs one good entry every `everyMs`, `count` times. @returns how many of them arrived */
async function logGood({ clock, enqueue, stored }: Setup, count: number, everyMs = 1_000): Promise<number> {
  const name = `good${clock.now()}`
  for (let n = 0; n < count; n += 1) {
    enqueue(batchFrom(`${name} ${n}`, 1))
    await clock.advance(everyMs)
  }
  return stored.filter((entry) => entry.includes(`"${name} `)).length
}

function start(outcome: Outcome, options: SetupOptions = {}): Setup {
  return setup(refusingBad(outcome), options)
}

test.each(STATUSES)('a payload refused with %i: all other entries are delivered within seconds', async (status) => {
  const one = start(refused(status))
  one.enqueue(batchFrom('before', 5))
  await one.clock.advance(1_000)
  one.enqueue(batchFrom('bad', 1, [0]))
  await one.clock.advance(1_000)
  const before = one.requests.length
  for (let n = 0; n < 60; n += 1) expect(await logGood(one, 1)).toBe(1)
  expect(one.requests.length - before).toBeLessThan(70)
  expect(one.letters).toEqual([])
  // It was refused five times, once a minute, while others were accepted.
  await logGood(one, 220)
  expect(one.letters.map(({ entry }) => isBadEntry(entry))).toEqual([true])
  expect(one.requests.filter(({ entries }) => entries.some(isBadEntry))).toHaveLength(5)
})

for (const status of [403, 400]) {
  test.each([1, 4])(
    `%i payloads in a row refused with ${status}: the next entries are delivered within 10 s`,
    async (inARow) => {
      for (const maxConcurrency of [1, 8]) {
        const one = start(refused(status), { maxConcurrency })
        await logGood(one, 1)
        for (let n = 0; n < inARow; n += 1) {
          one.enqueue(batchFrom(`bad${n}`, 1, [0]))
          await one.clock.advance(1_000)
        }
        expect(await logGood(one, 10)).toBeGreaterThan(0)
        await logGood(one, 50)
        expect(one.stored).toHaveLength(61)
        expect(one.goodLetters()).toEqual([])
      }
    },
  )
}

test.each([0.2])('a share of %f of 10 batches per second is refused: all other entries arrive', async (share) => {
  const one = start(refused(403))
  const random = seeded(11)
  let expected = 0
  for (let n = 0; n < 600; n += 1) {
    const isBad = random() < share
    if (!isBad) expected += 1
    one.enqueue(batchFrom(`b${n}`, 1, isBad ? [0] : []))
    await one.clock.advance(100)
  }
  await logGood(one, 400)
  expect(one.stored).toHaveLength(expected + 400)
  expect(one.goodLetters()).toEqual([])
  expect(one.letters).toHaveLength(600 - expected)
})

test.each([
  ['first', 0],
  ['last', 99],
])('the bad entry of a batch that is sent first is %s: the others are delivered within 10 s', async (_, at) => {
  const one = start(refused(400))
  one.enqueue(batchFrom('a', 100, [at]))
  await one.clock.advance(10_000)
  expect(one.stored).toHaveLength(99)
  await logGood(one, 3)
  expect(one.letters).toHaveLength(1)
})

test.each([undefined, 500, 429])(
  'a payload that fails with status %s, as if for a moment: the other entries are delivered, the first within 10 s',
  async (status) => {
    const failure: Outcome = { ...RESET, ...(status !== undefined && { status }) } as Outcome
    for (const hasAccepted of [false, true]) {
      const one = start(failure)
      if (hasAccepted) await logGood(one, 1)
      one.enqueue(batchFrom('bad', 1, [0]))
      expect(await logGood(one, 10)).toBeGreaterThan(0)
      await logGood(one, 190)
      await one.clock.advance(10_000)
      expect(one.stored).toHaveLength(200 + Number(hasAccepted))
      expect(one.letters).toEqual([])
      expect(one.requests.length).toBeLessThan(280)
    }
  },
)

test('one entry of a batch resets the connection: the others of its batch are delivered', async () => {
  const one = start(RESET)
  one.enqueue(batchFrom('bad', 100, [61]))
  await logGood(one, 300)
  expect(one.stored).toHaveLength(300 + 99)
  expect(one.letters).toEqual([])
})

test.each([
  ['reset', RESET],
  ['504', LATE_REPLY],
])('a batch a minute fails forever (%s): later entries arrive', async (_, outcome) => {
  const one = start(outcome, { random: seeded(3) })
  for (let minute = 0; minute < 40; minute += 1) {
    one.enqueue(batchFrom(`m${minute}`, 3, [1]))
    expect(await logGood(one, 20, 3_000)).toBeGreaterThanOrEqual(20 - 1)
  }
})

test.each([RESET, { ...RESET, status: 429 } as Outcome])(
  'one entry of the only batch makes every request fail: the first good entries are delivered within 10 s, then all',
  async (outcome) => {
    const one = start(outcome, { random: seeded(1) })
    one.enqueue(batchFrom('only', 11, [5]))
    await one.clock.advance(10_000)
    expect(one.stored.length).toBeGreaterThan(0)
    await one.clock.advance(60_000)
    expect(one.stored).toHaveLength(10)
  },
)

test('a batch that may be stored is not divided because it fails', async () => {
  const one = start(LATE_REPLY)
  await logGood(one, 1)
  one.enqueue(batchFrom('bad', 20, [3]))
  await logGood(one, 600)
  expect(one.requests.filter(({ batch }) => batch.origin !== undefined)).toEqual([])
})

test('a service that is not reached gets the batch as a whole after the outage', async () => {
  const clockService: Service = ({ at }) => (at < 600_000 ? { kind: 'retryable', reason: 'ECONNREFUSED' } : OK)
  const one = setup(clockService)
  one.enqueue(batchFrom('only', 100))
  await one.clock.advance(660_000)
  expect(new Set(one.requests.map(({ batchId }) => batchId))).toEqual(new Set(['only']))
  expect(one.stored).toHaveLength(100)
})

test.each([1, 2])(
  'a batch with a refused entry and one that resets the connection does not delay later entries (%i)',
  async (seed) => {
    const service: Service = ({ entries }) =>
      entries.some((entry) => entry.includes('resets')) ? RESET : entries.some(isBadEntry) ? refused(400) : OK
    const one = setup(service, { random: seeded(seed), latencyMs: 50 })
    await logGood(one, 20)
    one.enqueue(
      batchWith(
        'both',
        Array.from({ length: 20 }, (_, at) => (at === 3 ? 'poison' : at === 15 ? 'resets' : `fine ${at}`)),
      ),
    )
    expect(await logGood(one, 1_200)).toBeGreaterThan(1_200 - 10)
    expect(one.stored.filter((entry) => entry.includes('fine'))).toHaveLength(18)
    expect(one.letters).toHaveLength(1)
  },
)

test('a single entry without other traffic waits, and the failure is reported', async () => {
  const one = start(refused(406))
  one.enqueue(batchFrom('bad', 1, [0]))
  await one.clock.advance(600_000)
  expect(one.requests.length).toBeLessThanOrEqual(11)
  expect(one.letters).toEqual([])
  expect(one.failed()[0]?.failure).toMatchObject({ status: 406 })
  expect(await logGood(one, 1)).toBe(1)
})

test.each([403, 400, 413])(
  'a service that answers %i to everything: one request a minute, after a few at first, and no dead letter',
  async (status) => {
    for (const [hasAccepted, count] of [
      [false, 1],
      [false, 100],
      [true, 1],
      [true, 100],
    ] as const) {
      let isBroken = !hasAccepted
      const one = setup(() => (isBroken ? refused(status) : OK))
      one.enqueue(batchFrom('first', 1))
      await one.clock.advance(1_000)
      isBroken = true
      for (let minute = 0; minute < 20; minute += 1) {
        const before = one.requests.length
        for (let n = 0; n < 6; n += 1) {
          one.enqueue(batchFrom(`m${minute} ${n}`, count))
          await one.clock.advance(10_000)
        }
        // Several payloads in a row may be bad, so a few more are tried at first. After a 413, a batch is halved to single entries.
        expect(one.requests.length - before).toBeLessThanOrEqual(minute > 0 ? 1 : status === 413 ? 30 : 5)
      }
      expect(one.letters).toEqual([])
    }
  },
)

test.each([403, 400, 413])(
  'a process that ends while %i is the answer to everything makes few requests',
  async (status) => {
    for (const count of [1, 3]) {
      const one = setup(() => refused(status))
      one.enqueue(batchFrom('only', count))
      const drained = one.scheduler.drain(3_000, () => 'late')
      await one.clock.advance(5_000)
      await drained
      expect(one.requests.length).toBeLessThanOrEqual(status === 413 ? 6 : 4)
    }
  },
)

test('the process ends: a batch is tried although earlier ones fail', async () => {
  const one = start(RESET)
  await logGood(one, 1)
  one.enqueue(batchFrom('a', 5, [2]), batchFrom('b', 1, [0]))
  await one.clock.advance(3_600)
  one.enqueue(batchFrom('last', 1))
  const drained = one.scheduler.drain(3_000, () => 'late')
  await one.clock.advance(5_000)
  await drained
  expect(one.stored.some((entry) => entry.includes('last'))).toBe(true)
})

test('half of the requests are refused at random: hardly any entry becomes a dead letter', async () => {
  const random = seeded(5)
  const one = setup(() => (random() < 0.5 ? refused(403) : OK), { random: seeded(6) })
  await logGood(one, 2_000)
  expect(one.letters.length).toBeLessThanOrEqual(150)
})

test('an acceptance after the refusals of later batches ends their pause', async () => {
  const one = start(refused(403), {
    maxConcurrency: 32,
    latencyMs: ({ entries }) => (entries.some((entry) => entry.includes('slow')) ? 200 : 25),
  })
  for (let n = 0; n < 60; n += 1) {
    one.enqueue(...Array.from({ length: 20 }, (_, at) => batchFrom(`w${n} ${at}`, 1)))
    await one.clock.advance(25)
  }
  await one.clock.advance(1_000)
  one.enqueue(batchFrom('slow', 1), ...Array.from({ length: 8 }, (_, n) => batchFrom(`bad${n}`, 1, [0])))
  await one.clock.advance(300)
  expect(await logGood(one, 10)).toBe(10)
})

test('a batch that fails four times, then is accepted, is not divided', async () => {
  const one = setup(({ number }) => (number < 5 ? RESET : OK))
  one.enqueue(batchFrom('only', 100))
  await one.clock.advance(60_000)
  expect(one.requests.map(({ batchId }) => batchId)).toEqual(Array(5).fill('only'))
})

test.each([1, 2])(
  'each of 20 batches has a refused entry, and nothing else is logged: the others are delivered within 30 s (%i)',
  async (seed) => {
    const one = start(refused(400), { random: seeded(seed), latencyMs: 5 })
    one.enqueue(...Array.from({ length: 20 }, (_, n) => batchFrom(`b${n}`, 100, [37])))
    await one.clock.advance(30_000)
    expect(one.stored).toHaveLength(1_980)
    expect(one.goodLetters()).toEqual([])
  },
)
