/** Time ranges and buckets. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findBucketIndex,
  createTimeBuckets,
  clampRange,
  formatBucketStart,
  countTrend,
  findTimeRange,
} from '../../../src/service/analytics/time-buckets.js'

const MINUTE = 60_000
const DAY = 86_400_000
const HOUR = 60 * MINUTE
const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
const OLD_MS = Date.parse('2001-01-01T00:00:00.000Z')
const LATE_MS = Date.parse('2126-01-01T00:00:00.000Z')

const every = (count: number, stepMs: number): number[] =>
  Array.from({ length: count }, (_, n) => START_MS + n * stepMs)
const rangeOf = (times: readonly number[]) => {
  const range = findTimeRange(times.toSorted((a, b) => a - b).map((timeMs) => ({ timeMs })))
  return range && [range.firstMs, range.lastMs]
}

const at = (time: string): number => Date.parse(time)

describe('a frame', () => {
  const moment = fc.oneof(
    fc.integer({ min: at('0000-01-01T00:00:00Z'), max: at('9999-12-31T23:59:59.999Z') }),
    fc.integer({ min: -5000, max: 5000 }),
    fc.integer({ min: 0, max: 5000 }).map((ms) => at('2026-01-31T08:00:00Z') + ms),
  )

  it('covers any range with a bounded number of buckets, without empty buckets at the ends', () => {
    fc.assert(
      fc.property(moment, moment, fc.integer({ min: 1, max: 500 }), (a, b, maxBuckets) => {
        const range = { firstMs: Math.min(a, b), lastMs: Math.max(a, b) }
        const frame = createTimeBuckets(range, maxBuckets)
        expect(frame.count).toBeGreaterThanOrEqual(1)
        expect(frame.count).toBeLessThanOrEqual(maxBuckets)
        expect(Number.isSafeInteger(frame.stepMs) && frame.stepMs >= 1).toBe(true)
        expect(findBucketIndex(frame, range.firstMs)).toBe(0)
        expect(findBucketIndex(frame, range.lastMs)).toBe(frame.count - 1)
        expect(formatBucketStart(frame, frame.count)).toMatch(/Z$/)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['one moment', '2026-01-31T08:00:00.123Z', '2026-01-31T08:00:00.123Z', 60, 1, 1, '2026-01-31T08:00:00.123Z'],
    [
      'an hour that does not begin at a minute',
      '2026-01-31T08:00:30.000Z',
      '2026-01-31T09:00:29.999Z',
      60,
      2 * MINUTE,
      31,
      '2026-01-31T08:00:00.000Z',
    ],
    [
      '1970 and 2200',
      '1970-01-01T00:00:00.000Z',
      '2200-12-31T23:59:59.999Z',
      60,
      2000 * DAY,
      43,
      '1970-01-01T00:00:00.000Z',
    ],
  ])('of %s has round buckets', (_, first, last, maxBuckets, stepMs, count, since) => {
    const frame = createTimeBuckets({ firstMs: at(first), lastMs: at(last) }, maxBuckets)
    expect([frame.stepMs, frame.count, formatBucketStart(frame, 0)]).toEqual([stepMs, count, since])
  })
})

it('the range is the requested one, else that of the records', () => {
  const found = { firstMs: 100, lastMs: 200 }
  const within = (sinceMs?: number, untilMs?: number) => clampRange({ sinceMs, untilMs }, found)
  expect(within()).toEqual(found)
  expect(within(50, 300)).toEqual({ firstMs: 50, lastMs: 299 })
  expect(within(150)).toEqual({ firstMs: 150, lastMs: 200 })
  expect(within(300, 300)).toBeUndefined()
  expect(clampRange({ sinceMs: 1, untilMs: 2 }, undefined)).toBeUndefined()
  // The limits of JavaScript dates.
  for (const maxBuckets of [1, 60, 500]) {
    const range = within(-8.64e15, 8.64e15)
    const frame = createTimeBuckets(range ?? found, maxBuckets)
    expect(findBucketIndex(frame, at('2026-01-31T08:00:00Z'))).toBeLessThan(maxBuckets)
    expect(formatBucketStart(frame, frame.count)).toMatch(/Z$/)
  }
})

it('a trend counts moments in equal parts of the range', () => {
  expect(countTrend({ firstMs: 0, lastMs: 3 }, 2, [-1, 0, 1, 2, 3, 4])).toEqual([2, 2])
  const moment = fc.integer({ min: at('0000-01-01T00:00:00Z'), max: at('9999-12-31T23:59:59.999Z') })
  fc.assert(
    fc.property(moment, moment, moment, (a, b, c) => {
      const [firstMs = 0, timeMs = 0, lastMs = 0] = [a, b, c].toSorted((x, y) => x - y)
      const part = Number((BigInt(timeMs - firstMs) * 24n) / BigInt(lastMs - firstMs + 1))
      expect(countTrend({ firstMs, lastMs }, 24, [timeMs]).indexOf(1)).toBe(part)
    }),
    { numRuns: 2000 },
  )
})

describe('the range', () => {
  const ten = every(10, MINUTE)
  const [first, last] = [START_MS, START_MS + 9 * MINUTE]
  it.each<[string, readonly number[], readonly number[] | undefined]>([
    ['of nothing', [], undefined],
    ['of one', [START_MS], [START_MS, START_MS]],
    ['of two entries at any distance', [OLD_MS, START_MS], [OLD_MS, START_MS]],
    ['without one of 2001', [OLD_MS, ...ten], [first, last]],
    ['without one of 2126', [...ten, LATE_MS], [first, last]],
    ['with two of 2001 among ten, which exceed the share of outliers', [OLD_MS, OLD_MS, ...ten], [OLD_MS, last]],
    [
      'without 20 of 2001 among a thousand',
      [...Array<number>(20).fill(OLD_MS), ...every(980, 1000)],
      [first, START_MS + 979_000],
    ],
    [
      'with 21 of 2001 among a thousand',
      [...Array<number>(21).fill(OLD_MS), ...every(979, 1000)],
      [OLD_MS, START_MS + 978_000],
    ],
    ['without one that is two hours late', [...every(10, 1), START_MS + 2 * HOUR], [first, START_MS + 9]],
    ['with one at ten times the span of the rest', [...ten, last + 80 * MINUTE], [first, last + 80 * MINUTE]],
  ])('%s', (_, times, expected) => {
    expect(rangeOf(times)).toEqual(expected)
  })
})
