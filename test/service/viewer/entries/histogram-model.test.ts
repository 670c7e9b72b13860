/** The geometry of the histogram, and filters of selections. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Histogram, HistogramBucket } from '../../../../src/service/query/api-types.js'
import {
  describeRange,
  toIndex,
  findMaxTotal,
  selectRange,
  createSegments,
  createTicks,
} from '../../../../src/service/viewer/entries/histogram-model.js'

const none = { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
const START_MS = Date.parse('2026-03-01T10:00:00.000Z')

function bucket(index: number, counts: Partial<HistogramBucket>): HistogramBucket {
  return { ...none, ...counts, at: new Date(START_MS + index * 1000).toISOString() }
}

const three: Histogram = {
  before: 0,
  after: 0,
  since: new Date(START_MS).toISOString(),
  until: new Date(START_MS + 3000).toISOString(),
  step_ms: 1000,
  buckets: [bucket(0, { info: 10, total: 10 }), bucket(1, {}), bucket(2, { info: 999, error: 1, total: 1000 })],
}

test('segments are stacked within the chart, the most severe at the bottom, and every count above zero is visible', () => {
  const counts = fc.record({
    debug: fc.nat(5000),
    info: fc.nat(5000),
    warn: fc.nat(5000),
    error: fc.nat(5000),
    fatal: fc.nat(5000),
  })
  fc.assert(
    fc.property(counts, fc.nat(100_000), (levels, more) => {
      const total = Object.values(levels).reduce((sum, value) => sum + value, 0)
      const segments = createSegments(bucket(0, { ...levels, total }), Math.max(1, total + more))
      expect(segments.map(({ level }) => level)).toEqual(
        (['fatal', 'error', 'warn', 'info', 'debug'] as const).filter((level) => levels[level] > 0),
      )
      let ground = 1
      for (const { y, height } of segments) {
        expect(height).toBeGreaterThan(0.02)
        expect(y + height).toBeCloseTo(ground, 9)
        ground = y
      }
      expect(ground).toBeGreaterThan(-1e-9)
    }),
  )
})

test('a selection covers the buckets from its start to its end, in either direction', () => {
  const first = { since: '2026-03-01T10:00:00.000Z', until: '2026-03-01T10:00:02.000Z' }
  expect(selectRange(three, 0, 1)).toEqual(first)
  expect(selectRange(three, 1, 0)).toEqual(first)
  expect(selectRange(three, 2, 2)).toEqual({ since: '2026-03-01T10:00:02.000Z', until: '2026-03-01T10:00:03.000Z' })
  expect(selectRange({ ...three, buckets: [] }, 0, 0)).toBeUndefined()
})

test('finds the bucket under the pointer, also beyond the edges', () => {
  expect([
    toIndex(0, 3),
    toIndex(0.5, 3),
    toIndex(0.999, 3),
    toIndex(1, 3),
    toIndex(-0.2, 3),
    toIndex(7, 3),
    toIndex(0.5, 0),
  ]).toEqual([0, 1, 2, 2, 0, 2, -1])
})

test('is described in words', () => {
  expect(describeRange(three, 2, 0)).toMatch(/: 1,010 entries, 1 error, 1009 info$/)
  expect(describeRange({ ...three, buckets: [] }, 0, -1)).toBe('no entries')
  expect(findMaxTotal(three)).toBe(1000)
  expect(findMaxTotal({ ...three, buckets: [] })).toBe(1)
})

test('labels are at bucket limits, as many as fit', () => {
  expect(createTicks(60, 1256, 34)).toEqual([0, 8, 16, 24, 32, 40, 48, 56])
  expect(createTicks(60, 374, 34)).toEqual([0, 9, 18, 27, 36, 45, 54])
  expect(createTicks(3, 1256, 34)).toEqual([0, 1, 2])
  expect([createTicks(0, 1256, 34), createTicks(60, 0, 34), createTicks(60, 40, 34)]).toEqual([[], [], []])
})

test('labels neither touch each other nor reach beyond the end', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 300, max: 3000 }),
      fc.integer({ min: 30, max: 90 }),
      (buckets, widthPx, labelPx) => {
        const places = createTicks(buckets, widthPx, labelPx).map((index) => (index / buckets) * widthPx)
        expect(places[0]).toBe(0)
        expect((places.at(-1) ?? Infinity) + labelPx).toBeLessThanOrEqual(widthPx)
        for (const [at, place] of places.slice(1).entries())
          expect(place - (places[at] ?? place)).toBeGreaterThan(labelPx)
      },
    ),
  )
})
