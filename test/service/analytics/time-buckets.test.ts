/** The pure functions behind the answers, where the tests of queries do not reach: order, frames, percentiles, places. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bucketIndex,
  createTimeBuckets,
  partIndex,
  clampRange,
  formatBucketStart,
  countTrend,
} from '../../../src/service/analytics/time-buckets.js'
import { compareCodePoints } from '../../../src/service/analytics/code-point-order.js'
import { findPercentile } from '../../../src/service/analytics/percentile.js'
import { truncate } from '../../../src/service/query/entry-summary.js'
import * as expected from '../query/queries-reference.js'

const MINUTE = 60_000
const DAY = 86_400_000
const at = (time: string): number => Date.parse(time)

describe('a frame', () => {
  const moment = fc.oneof(
    fc.integer({ min: at('0000-01-01T00:00:00Z'), max: at('9999-12-31T23:59:59.999Z') }),
    fc.integer({ min: -5000, max: 5000 }),
    fc.integer({ min: 0, max: 5000 }).map((ms) => at('2026-01-31T08:00:00Z') + ms),
  )

  it('covers any range with a bounded number of buckets, and no more than it takes', () => {
    fc.assert(
      fc.property(moment, moment, fc.integer({ min: 1, max: 500 }), (a, b, maxBuckets) => {
        const range = { firstMs: Math.min(a, b), lastMs: Math.max(a, b) }
        const frame = createTimeBuckets(range, maxBuckets)
        expect(frame.count).toBeGreaterThanOrEqual(1)
        expect(frame.count).toBeLessThanOrEqual(maxBuckets)
        expect(Number.isSafeInteger(frame.stepMs) && frame.stepMs >= 1).toBe(true)
        expect(bucketIndex(frame, range.firstMs)).toBe(0)
        expect(bucketIndex(frame, range.lastMs)).toBe(frame.count - 1)
        expect(formatBucketStart(frame, frame.count)).toMatch(/Z$/)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['one moment', '2026-01-31T08:00:00.123Z', '2026-01-31T08:00:00.123Z', 60, 1, 1, '2026-01-31T08:00:00.123Z'],
    [
      'an hour in 60',
      '2026-01-31T08:00:00.000Z',
      '2026-01-31T08:59:59.999Z',
      60,
      MINUTE,
      60,
      '2026-01-31T08:00:00.000Z',
    ],
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
      'a day in 24',
      '2026-01-31T00:00:00.000Z',
      '2026-01-31T23:59:59.999Z',
      24,
      60 * MINUTE,
      24,
      '2026-01-31T00:00:00.000Z',
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
    [
      'the millisecond before 1970 and the one after',
      '1969-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
      1,
      2,
      1,
      '1969-12-31T23:59:59.999Z',
    ],
  ])('of %s has round buckets', (_, first, last, maxBuckets, stepMs, count, since) => {
    const frame = createTimeBuckets({ firstMs: at(first), lastMs: at(last) }, maxBuckets)
    expect([frame.stepMs, frame.count, formatBucketStart(frame, 0)]).toEqual([stepMs, count, since])
  })

  it('stays where it is while the range moves within it', () => {
    const frames = [10, 20, 30].map((ms) =>
      createTimeBuckets({ firstMs: at('2026-01-31T08:00:00Z') + ms, lastMs: at('2026-01-31T08:59:00Z') + ms }, 60),
    )
    expect(new Set(frames.map(({ sinceMs }) => sinceMs)).size).toBe(1)
  })
})

it('a range is what was asked for, else what was found', () => {
  const found = { firstMs: 100, lastMs: 200 }
  const within = (sinceMs?: number, untilMs?: number) => clampRange({ sinceMs, untilMs }, found)
  expect(within()).toEqual(found)
  expect(within(50, 300)).toEqual({ firstMs: 50, lastMs: 299 })
  expect(within(150)).toEqual({ firstMs: 150, lastMs: 200 })
  expect(within(300, 300)).toBeUndefined()
  expect(clampRange({ sinceMs: 1, untilMs: 2 }, undefined)).toBeUndefined()
  // The ends of time itself, beyond which no bucket could begin or end.
  for (const maxBuckets of [1, 60, 500]) {
    const range = within(-8.64e15, 8.64e15)
    const frame = createTimeBuckets(range ?? found, maxBuckets)
    expect(bucketIndex(frame, at('2026-01-31T08:00:00Z'))).toBeLessThan(maxBuckets)
    expect(formatBucketStart(frame, frame.count)).toMatch(/Z$/)
  }
})

it('parts of a range are equal, and every moment of it is in one', () => {
  const moment = fc.integer({ min: at('0000-01-01T00:00:00Z'), max: at('9999-12-31T23:59:59.999Z') })
  fc.assert(
    fc.property(moment, moment, moment, (a, b, c) => {
      const [firstMs = 0, timeMs = 0, lastMs = 0] = [a, b, c].toSorted((x, y) => x - y)
      const part = partIndex({ firstMs, lastMs }, 24, timeMs)
      const exact = (BigInt(timeMs - firstMs) * 24n) / BigInt(lastMs - firstMs + 1)
      expect(BigInt(part)).toBe(exact)
      expect(part).toBeLessThan(24)
    }),
    { numRuns: 2000 },
  )
  expect(countTrend({ firstMs: 0, lastMs: 3 }, 2, [-1, 0, 1, 2, 3, 4])).toEqual([2, 2])
})

it('percentiles are by nearest rank', () => {
  // The example of NIST and of most textbooks.
  const sorted = [15, 20, 35, 40, 50]
  expect([5, 30, 40, 50, 95, 100].map((percent) => findPercentile(sorted, percent))).toEqual([15, 20, 20, 35, 50, 50])
  expect([50, 95, 99].map((percent) => findPercentile([7], percent))).toEqual([7, 7, 7])
  const hundred = Array.from({ length: 100 }, (_, n) => n + 1)
  expect([50, 95, 99].map((percent) => findPercentile(hundred, percent))).toEqual([50, 95, 99])
  const durations = fc.array(
    fc.double({ noNaN: true }).map((ms) => ms || 0),
    { minLength: 1 },
  )
  fc.assert(
    fc.property(durations, fc.constantFrom(50, 95, 99, 100), (values, percent) => {
      expect(
        findPercentile(
          values.toSorted((a, b) => a - b),
          percent,
        ),
      ).toBe(expected.percentile(values, percent))
    }),
  )
})

it('texts are ordered by code point', () => {
  expect(['\u{1f4a5}', '\uff5e', 'b', 'a', '', '\u{1f4a5}a', 'ab'].toSorted(compareCodePoints)).toEqual([
    '',
    'a',
    'ab',
    'b',
    '\uff5e',
    '\u{1f4a5}',
    '\u{1f4a5}a',
  ])
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  })
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
})

it('a text is cut between characters, and says so', () => {
  expect(truncate('12345', 5)).toBe('12345')
  expect(truncate('123456', 5)).toBe('1234…')
  expect(truncate('123\u{1f4a5}6', 5)).toBe('123…')
})
