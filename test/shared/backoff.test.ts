import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeDelayMs } from '../../src/shared/backoff.js'

const usual = { retry: { maxMs: 30_000 }, outageAgeMs: 0 }
/** The maximum delay with jitter. */
const most = (given: Partial<Parameters<typeof computeDelayMs>[0]>): number =>
  computeDelayMs({ ...usual, attempt: 1, random: () => 1, ...given })

test('doubles from 250 ms', () => {
  expect([1, 2, 3, 4, 5].map((attempt) => most({ attempt }))).toEqual([250, 500, 1_000, 2_000, 4_000])
})

test('has full jitter: any delay from 0 to the step', () => {
  expect([0, 0.5, 0.9].map((value) => most({ attempt: 3, random: () => value }))).toEqual([0, 500, 900])
})

test.each([
  [0, 5_000],
  [20_000, 5_000],
  [40_000, 10_000],
  [100_000, 25_000],
  [1_000_000, 30_000],
])('after %i ms of outage the cap is %i ms', (outageAgeMs, capMs) => {
  expect(most({ attempt: 60, outageAgeMs })).toBe(capMs)
})

test('retry.maxMs is an upper limit of every cap', () => {
  expect(most({ attempt: 60, outageAgeMs: 1e9, retry: { maxMs: 1_000 } })).toBe(1_000)
  expect(most({ retry: { maxMs: 10 } })).toBe(10)
})

test('the delay is finite and within its limits for any input', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 1_000_000 }),
      fc.double({ min: 0, max: 1e15, noNaN: true }),
      fc.integer({ min: 1, max: 86_400_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, outageAgeMs, maxMs, value) => {
        const delay = computeDelayMs({ attempt, outageAgeMs, retry: { maxMs }, random: () => value })
        return delay >= 0 && delay <= maxMs
      },
    ),
  )
})
