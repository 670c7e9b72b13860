/** The bars of the histogram. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistogramBucket } from '../../../../src/service/query/api-types.js'
import { createBars, describeCounts } from '../../../../src/service/viewer/entries/histogram-model.js'

const none = { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0, at: '' }
const HEIGHT = 60

test('errors are at the axis and always seen, and bars are within the plot', () => {
  const count = fc.nat(5000)
  const counts = fc.record({ debug: count, info: count, warn: count, error: count, fatal: count })
  fc.assert(
    fc.property(counts, fc.nat(100_000), (levels, more) => {
      const total = Object.values(levels).reduce((sum, value) => sum + value, 0)
      const bars = createBars({ ...none, ...levels, total }, Math.max(1, total + more), HEIGHT)
      expect(bars.map((bar) => bar.class)).toEqual(
        (['fatal', 'error', 'warn', 'info', 'debug'] as const)
          .filter((level) => levels[level] > 0)
          .map((level) => `area-${level}`),
      )
      const least = { 'area-fatal': 3, 'area-error': 3 } as Readonly<Record<string, number>>
      for (const bar of bars) expect(bar.height).toBeGreaterThanOrEqual(least[bar.class] ?? 1)
      expect(bars.reduce((sum, { height }) => sum + height, 0)).toBeLessThanOrEqual(HEIGHT + 1e-9)
    }),
  )
})

test('buckets are described in words', () => {
  const bucket = (levels: Partial<HistogramBucket>) => ({ ...none, ...levels })
  expect(describeCounts([bucket({ info: 10, total: 10 }), bucket({ info: 999, error: 1, total: 1000 })])).toBe(
    '1,010 entries, 1 error, 1009 info',
  )
  expect(describeCounts([])).toBe('0 entries')
})
