/** Scales and lines of plots. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createDurationScale,
  createNumberScale,
  createLine,
  createTimeTicks,
} from '../../../src/service/viewer/plot-scale.js'

describe('durations', () => {
  test('are always within the plot', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1 }), (values) => {
        const { ticks, place } = createDurationScale(values, 176, 10)
        expect(ticks.length).toBeGreaterThan(1)
        expect(ticks.length).toBeLessThan(9)
        expect([...values, ...ticks].map(place).filter((y) => !(y > 9.99 && y < 176.01))).toEqual([])
      }),
    )
  })
})

describe('times', () => {
  const start = Date.UTC(2026, 0, 1, 7, 58)

  test('are round', () => {
    const ticks = createTimeTicks(start, start + 3_600_000, 6, 0)
    expect(ticks.map((ms) => new Date(ms).toISOString().slice(11, 16))).toEqual([
      '08:00',
      '08:10',
      '08:20',
      '08:30',
      '08:40',
      '08:50',
    ])
  })

  test('are round in the local zone', () => {
    const zoneMs = 5.5 * 3_600_000
    const ticks = createTimeTicks(start, start + 86_400_000, 4, zoneMs)
    expect(ticks.map((ms) => new Date(ms + zoneMs).toISOString().slice(11, 16))).toEqual([
      '18:00',
      '00:00',
      '06:00',
      '12:00',
    ])
  })
})

test('a line stops at a gap, and a single point is a dot', () => {
  const at = (x: number) => ({ x, y: 1.234 })
  expect(createLine([at(0), at(1), null, at(3), null, at(5), at(6)])).toEqual({
    path: 'M0 1.2L1 1.2M5 1.2L6 1.2',
    dots: [at(3)],
  })
  expect(createLine([])).toEqual({ path: '', dots: [] })
})

describe('a scale for numbers', () => {
  const scaleOf = (values: readonly number[], minStep?: number) => createNumberScale(values, 100, 0, minStep)

  test('has 0 and all values between its ends, and whole numbers for counts', () => {
    const numbers = fc.array(fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.double({ min: -9, max: 9, noNaN: true })))
    fc.assert(
      fc.property(numbers, (values) => {
        const { place, ticks } = scaleOf(values)
        expect(ticks).toContain(0)
        expect(ticks.length).toBeLessThanOrEqual(8)
        for (const value of values) {
          expect(place(value)).toBeGreaterThanOrEqual(-0.001)
          expect(place(value)).toBeLessThanOrEqual(100.001)
        }
      }),
    )
    expect(scaleOf([0, 2], 1).ticks).toEqual([0, 1, 2])
    expect(scaleOf([0.004]).ticks).toEqual([0, 0.001, 0.002, 0.003, 0.004])
    expect(scaleOf([-3, 5]).ticks).toEqual([-4, -2, 0, 2, 4, 6])
    expect(scaleOf([0]).place(0)).toBe(100)
  })
})
