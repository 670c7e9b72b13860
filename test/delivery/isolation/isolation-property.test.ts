/** For any bad entries and any form of rejection, bad entries become dead letters and all others are accepted once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '../../../src/batch/outcome.js'
import { batchFrom, busy, isBadEntry, judging, nameless, setUpIsolation } from './bad-entries.js'
import { modelRuns } from '../../model-runs.js'

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

const poison = fc.array(
  fc.integer({ min: 1, max: 40 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      bad: fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: Math.ceil(count / 3) }),
    }),
  ),
  { minLength: 1, maxLength: 12 },
)

test('bad entries become dead letters, all others are accepted once, the number of requests is bounded', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(
      poison,
      fc.constantFrom(...Object.keys(FORMS)),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 99 }),
      async (batches, form, maxConcurrency, spreadMs, downEvery) => {
        const refusing = FORMS[form] as (entries: readonly string[]) => Outcome
        let seen = 0
        const setup = setUpIsolation(
          (entries) => {
            seen += 1
            if (downEvery > 20 && seen % downEvery === 0) return busy()
            return entries.some(isBadEntry) ? refusing(entries) : judging(entries)
          },
          { maxConcurrency },
        )
        const { clock, send, letters, accepted, outcomes, ledger, requests } = setup
        for (const [n, { count, bad }] of batches.entries()) {
          send(batchFrom(`b${n}`, count, bad))
          await clock.advance(spreadMs)
        }
        // The app continues: a good batch from time to time.
        for (let n = 0; n < 80; n += 1) {
          send(batchFrom(`later${n}`, 1))
          await clock.advance(30_000)
        }
        const bad = batches.flatMap((batch, n) => batch.bad.map((index) => `b${n} ${index}`)).toSorted()
        expect(letters.map(({ batchId, index }) => `${batchId} ${index}`).toSorted()).toEqual(bad)
        const total = batches.reduce((sum, { count }) => sum + count, 80)
        expect([accepted.length, new Set(accepted).size]).toEqual([total - bad.length, total - bad.length])
        expect(accepted.some(isBadEntry)).toBe(false)
        expect(ledger.settled.toSorted()).toEqual([...accepted, ...letters.map(({ entry }) => entry)].toSorted())
        for (const [n, batch] of batches.entries()) {
          const outcome = outcomes.get(`b${n}`)
          expect(outcome).toMatchObject({ kind: 'delivered', accepted: batch.count - batch.bad.length })
          expect(outcome?.kind === 'delivered' && outcome.rejected.map(({ index }) => index).toSorted()).toEqual(
            batch.bad.toSorted(),
          )
        }
        // Each bad entry costs a path through its batch; each batch costs a search and some probes.
        const bound = 80 + batches.length * 30 + bad.length * 16 + 40
        most = Math.max(most, requests.length / bound)
        expect(requests.length).toBeLessThan(bound)
      },
    ),
    { numRuns: modelRuns(20, 200) },
  )
  process.stdout.write(`requests: at most ${(100 * most).toFixed(0)} % of the bound\n`)
})

test('ended at any time, accepted, rejected and abandoned entries add up to the total', async () => {
  await fc.assert(
    fc.asyncProperty(
      poison,
      fc.constantFrom(...Object.keys(FORMS)),
      fc.integer({ min: 0, max: 1_500 }),
      fc.boolean(),
      async (batches, form, endMs, isShutdown) => {
        const refusing = FORMS[form] as (entries: readonly string[]) => Outcome
        const setup = setUpIsolation((entries) => (entries.some(isBadEntry) ? refusing(entries) : judging(entries)))
        const { clock, send, accepted, letters, outcomes, ledger, abort, breaker } = setup
        send(...batches.map(({ count, bad }, n) => batchFrom(`b${n}`, count, bad)))
        await clock.advance(endMs)
        if (isShutdown) breaker.startShutdown(clock.now() + 500)
        await clock.advance(500)
        // Requests in flight end.
        abort.abort()
        await clock.advance(200)
        expect(outcomes.size).toBe(batches.length)
        let [taken, refused] = [0, 0]
        for (const [n, { count }] of batches.entries()) {
          const outcome = outcomes.get(`b${n}`) as Outcome
          if (outcome.kind !== 'abandoned' && outcome.kind !== 'delivered')
            throw new Error(`not final: ${outcome.kind}`)
          taken += outcome.accepted ?? 0
          refused += outcome.rejected?.length ?? 0
          expect((outcome.accepted ?? 0) + (outcome.rejected?.length ?? 0)).toBeLessThanOrEqual(count)
          if (outcome.kind === 'delivered') expect(outcome.accepted + outcome.rejected.length).toBe(count)
        }
        expect([taken, refused]).toEqual([accepted.length, letters.length])
        expect(ledger.settled.length).toBe(taken + refused)
        expect(clock.timers).toBe(0)
      },
    ),
    { numRuns: modelRuns(20, 200) },
  )
})
