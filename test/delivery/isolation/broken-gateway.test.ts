/** A gateway that starts to reject everything must not turn good entries into dead letters. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchFrom, isBadEntry, judging, nameless, setUpIsolation } from './bad-entries.js'
import { modelRuns } from '../../model-runs.js'

const BATCHES = 30
const ENTRIES = 100

interface Break {
  readonly startsAtMs: number
  readonly lastsMs: number
  readonly status: number
}

/**
 * Sends many batches with bad entries; the gateway breaks during the search for them. @returns the isolation at the
 * end
 */
async function breakDuringSearches(breaks: readonly Break[], maxConcurrency: number, badPerBatch: number) {
  const setup = setUpIsolation(
    (entries) => {
      const now = setup.clock.now()
      const current = breaks.find(({ startsAtMs, lastsMs }) => now >= startsAtMs && now < startsAtMs + lastsMs)
      return current === undefined ? judging(entries) : nameless(current.status)
    },
    { maxConcurrency },
  )
  const { clock, send } = setup
  for (let n = 0; n < BATCHES; n += 1) {
    const bad = Array.from({ length: badPerBatch }, (_, at) => (n * 7 + at * 41) % ENTRIES)
    send(batchFrom(`b${n}`, ENTRIES, bad))
  }
  await clock.advance(900_000)
  // The app keeps logging until everything is settled.
  for (let n = 0; n < 400 && setup.outcomes.size < BATCHES + n; n += 1) {
    send(batchFrom(`later${n}`, 1))
    await clock.advance(60_000)
  }
  return setup
}

test.each([400, 413, 422])('a gateway answers %i to everything during 30 searches', async (status) => {
  let [good, dead] = [0, 0]
  for (const maxConcurrency of [1, 32]) {
    for (const startsAtMs of [500, 1_500]) {
      for (const lastsMs of [1_000, 600_000]) {
        const { letters } = await breakDuringSearches([{ startsAtMs, lastsMs, status }], maxConcurrency, 2)
        good += BATCHES * (ENTRIES - 2)
        dead += letters.filter(({ entry }) => !isBadEntry(entry)).length
      }
    }
  }
  process.stdout.write(`${status}: ${dead} of ${good} good entries are dead letters\n`)
  expect(dead).toBe(0)
})

const breaks = fc.array(
  fc.record({
    startsAtMs: fc.integer({ min: 0, max: 300_000 }),
    // At least two requests: a gateway that rejects one request cannot be distinguished from a bad entry.
    lastsMs: fc.integer({ min: 100, max: 300_000 }),
    status: fc.constantFrom(400, 413, 422),
  }),
  { minLength: 1, maxLength: 4 },
)

test('only bad entries become dead letters, and all others are accepted once, for any time and number of failures', async () => {
  await fc.assert(
    fc.asyncProperty(
      breaks,
      fc.integer({ min: 1, max: 32 }),
      fc.integer({ min: 1, max: 4 }),
      async (given, maxConcurrency, badPerBatch) => {
        const { letters, accepted, outcomes, ledger } = await breakDuringSearches(given, maxConcurrency, badPerBatch)
        expect(letters.filter(({ entry }) => !isBadEntry(entry))).toEqual([])
        expect(letters).toHaveLength(BATCHES * badPerBatch)
        expect([accepted.length, new Set(accepted).size]).toEqual([
          ledger.settled.length - letters.length,
          accepted.length,
        ])
        expect(accepted.filter((entry) => /"b\d/.test(entry))).toHaveLength(BATCHES * (ENTRIES - badPerBatch))
        expect([...outcomes.values()].every(({ kind }) => kind === 'delivered')).toBe(true)
      },
    ),
    { numRuns: 12 },
  )
})

test('an app logs an entry now and then while the gateway is broken for minutes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 20, maxLength: 40 }),
      fc.integer({ min: 0, max: 1_200 }),
      fc.integer({ min: 1, max: 600 }),
      async (counts, startsAtSeconds, lastsSeconds) => {
        const setup = setUpIsolation((entries) => {
          const seconds = setup.clock.now() / 1_000
          return seconds >= startsAtSeconds && seconds < startsAtSeconds + lastsSeconds ? nameless() : judging(entries)
        })
        const { clock, send, letters, accepted } = setup
        for (const [n, count] of [...counts, 1, 1, 1].entries()) {
          send(batchFrom(`b${n}`, count))
          await clock.advance(60_000)
        }
        await clock.advance(900_000)
        expect(letters).toEqual([])
        expect(accepted).toHaveLength(counts.reduce((sum, count) => sum + count, 3))
      },
    ),
    { numRuns: modelRuns(40, 400) },
  )
})
