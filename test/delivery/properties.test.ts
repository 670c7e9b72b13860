/**
 * For any entries that are refused, with any reply, and a service that breaks at any time: good entries are accepted, bad
 * ones become dead letters, and nothing else does.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/batch/outcome.js'
import { modelRuns } from '../model-runs.js'
import { batchFrom, busyFor, DOWN, isBadEntry, nameless, OK, refused, seeded, setup } from './setup.js'
import type { Request, Service } from './setup.js'

const GATEWAY = [200, 302, 401, 403, 404, 405, 406, 409, 410, 411, 415, 422, 451]
const error = (index: number) => ({ index, code: 'VALIDATION_ERROR', field: 'level', message: 'bad' })

/** The forms in which a service reports bad entries. */
const FORMS: Record<string, (entries: readonly string[]) => Outcome> = {
  nameless: () => nameless(),
  'nameless 422': () => nameless(422),
  all: (entries) => ({
    ...nameless(422),
    rejected: entries.flatMap((entry, at) => (isBadEntry(entry) ? [error(at)] : [])),
  }),
  first: (entries) => ({ ...nameless(422), rejected: [error(entries.findIndex(isBadEntry))] }),
  partial: (entries) => {
    const rejected = entries.flatMap((entry, at) => (isBadEntry(entry) ? [error(at)] : []))
    return rejected.length === entries.length
      ? { ...nameless(422), rejected }
      : { kind: 'delivered', accepted: entries.length - rejected.length, rejected, status: 422 }
  },
  'named or not': (entries) =>
    entries.length % 2 === 0 ? nameless() : { ...nameless(422), rejected: [error(entries.findIndex(isBadEntry))] },
}

const batches = fc.array(
  fc.integer({ min: 1, max: 40 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      bad: fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: Math.ceil(count / 3) }),
      waitMs: fc.integer({ min: 0, max: 20_000 }),
    }),
  ),
  { minLength: 1, maxLength: 8 },
)

interface Generated {
  readonly count: number
  readonly bad: readonly number[]
  readonly waitMs: number
}

/** Logs the batches, then single entries every 20 s until nothing is pending. */
async function logAll(service: Service, given: readonly Generated[], maxConcurrency: number, seed: number) {
  const one = setup(service, { maxConcurrency, random: seeded(seed), isTracked: true })
  for (const [n, { count, bad, waitMs }] of given.entries()) {
    one.enqueue(batchFrom(`b${n}`, count, bad))
    await one.clock.advance(waitMs)
  }
  let later = 0
  do {
    one.enqueue(batchFrom(`later${later}`, 1))
    later += 1
    await one.clock.advance(20_000)
  } while (one.scheduler.pendingEntries > 0 && later < 400)
  const total = given.reduce((sum, { count }) => sum + count, later)
  const badEntries = given.reduce((sum, { bad }) => sum + bad.length, 0)
  return { ...one, later, good: total - badEntries, badEntries }
}

function expectSettled({
  stored,
  letters,
  goodLetters,
  settled,
  account,
  good,
  badEntries,
}: Awaited<ReturnType<typeof logAll>>): void {
  expect(goodLetters()).toEqual([])
  expect([stored.length, new Set(stored).size]).toEqual([good, good])
  expect(letters).toHaveLength(badEntries)
  expect(settled.toSorted()).toEqual([...stored, ...letters.map(({ entry }) => entry)].toSorted())
  expect(account.snapshot()).toMatchObject({ accepted: good, rejected: badEntries, pending: 0, balances: true })
}

test('any form of rejection, while the service is sometimes busy', async () => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.constantFrom(...Object.keys(FORMS)),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 99 }),
      fc.integer(),
      async (given, form, maxConcurrency, downEvery, seed) => {
        const refuse = FORMS[form] as (entries: readonly string[]) => Outcome
        const service: Service = ({ number, entries }) => {
          if (downEvery > 20 && number % downEvery === 0) return DOWN
          return entries.some(isBadEntry) ? refuse(entries) : OK
        }
        const one = await logAll(service, given, maxConcurrency, seed)
        expectSettled(one)
        // Each bad entry costs a path through its batch.
        expect(one.requests.length).toBeLessThan(one.later + given.length * 30 + one.badEntries * 16 + 40)
      },
    ),
    { numRuns: modelRuns(30, 5_000) },
  )
})

interface Break {
  readonly startsAtMs: number
  readonly lastsMs: number
  readonly status: number
}

const brokenBy = ({ at }: Request, breaks: readonly Break[]): Outcome | undefined => {
  const current = breaks.find(({ startsAtMs, lastsMs }) => at >= startsAtMs && at < startsAtMs + lastsMs)
  return current === undefined ? undefined : current.status === 503 ? DOWN : refused(current.status)
}

test('any subset of entries is refused with any reply, and the service breaks at any time', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.constantFrom(...GATEWAY, 400),
      fc.constantFrom(...GATEWAY, 400, 503),
      fc.integer({ min: 0, max: 60_000 }),
      fc.integer({ min: 0, max: 200_000 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer(),
      async (given, status, brokenStatus, startsAtMs, lastsMs, maxConcurrency, seed) => {
        runs += 1
        const breaks = [{ startsAtMs, lastsMs, status: brokenStatus }]
        const service: Service = (request) =>
          brokenBy(request, breaks) ?? (request.entries.some(isBadEntry) ? refused(status) : OK)
        expectSettled(await logAll(service, given, maxConcurrency, seed))
      },
    ),
    { numRuns: modelRuns(50, 20_000) },
  )
  process.stdout.write(`${runs} services that refuse some payloads\n`)
})

test('a gateway that breaks several times during the isolation of entries of 30 batches: only bad entries become dead letters', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          startsAtMs: fc.integer({ min: 0, max: 300_000 }),
          lastsMs: fc.integer({ min: 100, max: 300_000 }),
          status: fc.constantFrom(400, 413, 422, 403),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      fc.integer({ min: 1, max: 32 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer(),
      async (breaks, maxConcurrency, badPerBatch, seed) => {
        const service: Service = (request) =>
          brokenBy(request, breaks) ?? (request.entries.some(isBadEntry) ? nameless() : OK)
        const given = Array.from({ length: 30 }, (_, n) => ({
          count: 100,
          bad: Array.from({ length: badPerBatch }, (__, at) => (n * 7 + at * 41) % 100),
          waitMs: 0,
        }))
        const one = await logAll(service, given, maxConcurrency, seed)
        expectSettled(one)
      },
    ),
    { numRuns: modelRuns(12, 20_000) },
  )
})

test('ended at any time: accepted, rejected and dropped entries add up to the total', async () => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.constantFrom(...Object.keys(FORMS)),
      fc.integer({ min: 0, max: 1_500 }),
      fc.boolean(),
      async (given, form, endMs, isDrained) => {
        const refuse = FORMS[form] as (entries: readonly string[]) => Outcome
        const one = setup(({ entries }) => (entries.some(isBadEntry) ? refuse(entries) : OK))
        one.enqueue(...given.map(({ count, bad }, n) => batchFrom(`b${n}`, count, bad)))
        await one.clock.advance(endMs)
        if (isDrained) {
          const drained = one.scheduler.drain(500, () => 'late')
          await one.clock.advance(1_000)
          await drained
        } else one.scheduler.close('exit')
        const { accepted, rejected, dropped, pending, balances } = one.account.snapshot()
        expect({ pending, balances }).toEqual({ pending: 0, balances: true })
        expect(rejected).toBe(one.letters.length)
        expect(accepted + rejected + dropped.shutdown).toBe(given.reduce((sum, { count }) => sum + count, 0))
        await one.clock.advance(60_000)
        expect(one.clock.timers).toBe(0)
        expect(one.account.accepted).toBe(accepted)
      },
    ),
    { numRuns: modelRuns(30, 5_000) },
  )
})

test('with Retry-After now and then, no request is sent too early', async () => {
  let allowedAt = 0
  const one = setup(
    ({ at, number }) => {
      expect(at).toBeGreaterThanOrEqual(allowedAt)
      if (number % 7 !== 0) return OK
      allowedAt = at + 25 + 3_000
      return busyFor(3)
    },
    { maxConcurrency: 1, random: seeded(2) },
  )
  one.enqueue(...Array.from({ length: 50 }, (_, n) => batchFrom(`b${n}`, 1)))
  await one.clock.advance(120_000)
  expect(one.stored).toHaveLength(50)
})
