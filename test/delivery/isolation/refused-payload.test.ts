/** A gateway that refuses one payload with the reply of a wrong key or URL. Other entries show which it is. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '../../../src/batch/outcome.js'
import { batchFrom, isBadEntry, setUpIsolation } from './bad-entries.js'
import { modelRuns } from '../../model-runs.js'

const STATUSES = [200, 302, 401, 403, 404, 405, 406, 409, 410, 411, 415, 422, 451]
const refused = (status: number): Outcome => ({ kind: 'endpoint-rejected', status, reason: `status ${status}` })
const accepted = (entries: readonly string[]): Outcome => ({
  kind: 'delivered',
  accepted: entries.length,
  rejected: [],
})

/** @param status undefined for a connection that is reset */
const failed = (status: number | undefined): Outcome => ({
  kind: 'retryable',
  reason: 'failed',
  mayConcernContent: true,
  ...(status !== undefined && { status }),
})

function refusingBad(status: number) {
  return setUpIsolation((entries) => (entries.some(isBadEntry) ? refused(status) : accepted(entries)), {
    maxConcurrency: 1,
  })
}

test.each(STATUSES)('a payload refused with %i: all other entries are delivered within seconds', async (status) => {
  const { clock, send, accepted: delivered, letters, requests, failures } = refusingBad(status)
  send(batchFrom('before', 5))
  await clock.advance(1_000)
  send(batchFrom('bad', 1, [0]))
  await clock.advance(1_000)
  const before = requests.length
  for (let n = 0; n < 60; n += 1) {
    send(batchFrom(`good${n}`, 1))
    await clock.advance(1_000)
    expect(delivered).toHaveLength(5 + n + 1)
  }
  expect(letters).toHaveLength(1)
  expect(requests.length - before).toBeLessThan(70)
  expect(failures).toEqual([])
})

test.each([undefined, 500, 503, 429])(
  'a payload that fails with status %s, as if for a moment: the other entries are delivered, the first within 10 s',
  async (status) => {
    for (const hasAccepted of [false, true]) {
      const {
        clock,
        send,
        accepted: delivered,
        letters,
        requests,
      } = setUpIsolation((entries) => (entries.some(isBadEntry) ? failed(status) : accepted(entries)), {
        maxConcurrency: 1,
      })
      if (hasAccepted) send(batchFrom('before', 5))
      await clock.advance(1_000)
      send(batchFrom('bad', 1, [0]))
      for (let n = 0; n < 200; n += 1) {
        send(batchFrom(`good${n}`, 1))
        await clock.advance(1_000)
        if (n === 9) expect(delivered.length).toBeGreaterThan(hasAccepted ? 5 : 0)
      }
      await clock.advance(10_000)
      expect(delivered).toHaveLength(200 + (hasAccepted ? 5 : 0))
      expect(letters).toEqual([])
      expect(requests.length).toBeLessThan(280)
    }
  },
)

test('one entry of a batch resets the connection: the others of its batch are delivered', async () => {
  const {
    clock,
    send,
    accepted: delivered,
    letters,
  } = setUpIsolation((entries) => (entries.some(isBadEntry) ? failed(undefined) : accepted(entries)), {
    maxConcurrency: 1,
  })
  send(batchFrom('bad', 100, [61]))
  for (let n = 0; n < 300; n += 1) {
    send(batchFrom(`good${n}`, 1))
    await clock.advance(1_000)
  }
  await clock.advance(10_000)
  expect(delivered).toHaveLength(300 + 99)
  expect(letters).toEqual([])
})

test.each([
  ['first', 0],
  ['in the middle', 50],
  ['last', 99],
])(
  'the %s entry of the only batch resets the connection, or gets a 429 or 5xx: the others are delivered',
  async (_, at) => {
    for (const status of [undefined, 429, 500, 503]) {
      const {
        clock,
        send,
        accepted: delivered,
        letters,
        requests,
      } = setUpIsolation((entries) => (entries.some(isBadEntry) ? failed(status) : accepted(entries)), {
        maxConcurrency: 1,
      })
      send(batchFrom('only', 100, [at]))
      await clock.advance(20_000)
      expect(delivered.length).toBeGreaterThan(0)
      await clock.advance(40_000)
      expect([delivered.length, new Set(delivered).size, letters.length]).toEqual([99, 99, 0])
      expect(requests.length).toBeLessThan(60)
    }
  },
)

test('an outage of an hour, with one batch waiting, sends few of its entries under another id', async () => {
  for (const status of [429, 503]) {
    const setup = setUpIsolation((entries) => (setup.clock.now() < 3_600_000 ? failed(status) : accepted(entries)), {
      maxConcurrency: 1,
    })
    const { clock, send, accepted: delivered, requests } = setup
    send(batchFrom('only', 100))
    await clock.advance(3_600_000)
    process.stdout.write(
      `${status}: ${new Set(requests.map(({ batch }) => batch.batchId)).size} ids, ${requests.length} requests\n`,
    )
    expect(new Set(requests.map(({ batch }) => batch.batchId)).size).toBeLessThan(40)
    await clock.advance(60_000)
    expect([delivered.length, new Set(delivered).size]).toEqual([100, 100])
  }
})

test('a service that is not reached gets the batch as a whole after the outage', async () => {
  const setup = setUpIsolation(
    (entries) => (setup.clock.now() < 600_000 ? { kind: 'retryable', reason: 'ECONNREFUSED' } : accepted(entries)),
    { maxConcurrency: 1 },
  )
  setup.send(batchFrom('only', 100))
  await setup.clock.advance(660_000)
  expect(new Set(setup.requests.map(({ batch }) => batch.batchId))).toEqual(new Set(['only']))
  expect(setup.accepted).toHaveLength(100)
})

test.each([
  ['first', 0],
  ['in the middle', 50],
  ['last', 99],
])('the bad entry of a batch that is sent first is %s: the others are delivered within 10 s', async (_, at) => {
  const { clock, send, accepted: delivered, letters } = refusingBad(403)
  send(batchFrom('a', 100, [at]))
  await clock.advance(10_000)
  expect(delivered).toHaveLength(99)
  // A later acceptance proves that the entry is bad.
  send(batchFrom('b', 1))
  await clock.advance(10_000)
  send(batchFrom('c', 1))
  await clock.advance(10_000)
  expect(letters).toHaveLength(1)
})

test('a single entry without other traffic waits, and is reported', async () => {
  const { clock, send, requests, letters, failures, accepted: delivered } = refusingBad(406)
  send(batchFrom('bad', 1, [0]))
  await clock.advance(600_000)
  expect(requests.length).toBeLessThanOrEqual(11)
  expect(letters).toEqual([])
  expect(failures[0]?.[0]).toMatchObject({ status: 406 })
  send(batchFrom('good', 1))
  await clock.advance(1_000)
  expect(delivered).toHaveLength(1)
})

test.each(STATUSES)(
  'a service that answers %i to everything: one request a minute, after a few at first, and no dead letter',
  async (status) => {
    for (const [hasAccepted, count] of [
      [false, 1],
      [false, 100],
      [true, 1],
      [true, 100],
    ] as const) {
      let isBroken = !hasAccepted
      const { clock, send, requests, letters } = setUpIsolation(
        (entries) => (isBroken ? refused(status) : accepted(entries)),
        { maxConcurrency: 1 },
      )
      send(batchFrom('first', 1))
      await clock.advance(1_000)
      isBroken = true
      for (let minute = 0; minute < 20; minute += 1) {
        const before = requests.length
        for (let n = 0; n < 6; n += 1) {
          send(batchFrom(`m${minute} ${n}`, count))
          await clock.advance(10_000)
        }
        // Several payloads in a row may be bad, so a few more are tried at first.
        const atFirst = hasAccepted ? 5 : 3
        expect(requests.length - before).toBeLessThanOrEqual(minute === 0 ? atFirst : 1)
      }
      expect(letters).toEqual([])
    }
  },
)

test('any subset of entries is refused with any reply, and the service breaks at any time: good entries are all delivered', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          count: fc.integer({ min: 1, max: 12 }),
          bad: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 4 }),
          waitMs: fc.integer({ min: 0, max: 20_000 }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      fc.constantFrom(...STATUSES, 400),
      fc.constantFrom(...STATUSES, 400, 503),
      fc.integer({ min: 0, max: 60_000 }),
      fc.integer({ min: 0, max: 200_000 }),
      fc.integer({ min: 1, max: 8 }),
      async (batches, status, brokenStatus, breaksAtMs, lastsMs, maxConcurrency) => {
        runs += 1
        const toOutcome = (code: number): Outcome =>
          code === 503
            ? { kind: 'retryable', status: 503, reason: 'status 503' }
            : code === 400
              ? { kind: 'refused', status: 400, reason: 'status 400', rejected: [] }
              : refused(code)
        const {
          clock,
          send,
          letters,
          accepted: delivered,
          requests,
        } = setUpIsolation(
          (entries) => {
            const now = clock.now()
            if (now >= breaksAtMs && now < breaksAtMs + lastsMs) return toOutcome(brokenStatus)
            return entries.some(isBadEntry) ? toOutcome(status) : accepted(entries)
          },
          { maxConcurrency },
        )
        let good = 0
        for (const [at, { count, bad, waitMs }] of batches.entries()) {
          const inBatch = bad.filter((index) => index < count)
          good += count - inBatch.length
          send(batchFrom(`b${at}`, count, inBatch))
          await clock.advance(waitMs)
        }
        await clock.advance(300_000)
        // The application continues to log.
        for (let n = 0; n < 60; n += 1) {
          send(batchFrom(`later${n}`, 1))
          await clock.advance(20_000)
        }
        expect(letters.filter(({ entry }) => !isBadEntry(entry))).toEqual([])
        expect([delivered.length, new Set(delivered).size]).toEqual([good + 60, good + 60])
        expect(requests.length).toBeLessThan(60 + 60 * batches.length + 600)
      },
    ),
    { numRuns: modelRuns(50, 5_000) },
  )
  process.stdout.write(`${runs} services that refuse some payloads\n`)
})
