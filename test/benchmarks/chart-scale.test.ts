/** An axis contains all its values, ends on ticks, and has few of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tool } from './tools.js'

const { axisOf, scaleOf, written } = await tool('chart-scale')

const sane = fc.double({ min: -1e12, max: 1e12, noNaN: true })

describe('axisOf', () => {
  it('contains all values, from zero if requested', () => {
    fc.assert(
      fc.property(fc.array(sane, { minLength: 1 }), fc.boolean(), (values, fromZero) => {
        const { from, to } = axisOf(values, { fromZero })
        const slack = 1e-9 * (to - from)
        expect(from).toBeLessThanOrEqual(Math.min(...values, ...(fromZero ? [0] : [])) + slack)
        expect(to).toBeGreaterThanOrEqual(Math.max(...values, ...(fromZero ? [0] : [])) - slack)
      }),
    )
  })

  it('has 2 to 12 increasing ticks, including both ends', () => {
    const positive = fc.double({ min: 1e-12, max: 1e15, noNaN: true })
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1 }), fc.boolean(), (values, isLog) => {
        const { from, to, ticks } = axisOf(values, { isLog })
        expect(ticks.length).toBeGreaterThanOrEqual(2)
        expect(ticks.length).toBeLessThanOrEqual(12)
        expect([ticks[0], ticks.at(-1)]).toEqual([from, to])
        expect(ticks).toEqual([...new Set(ticks)].toSorted((a, b) => a - b))
      }),
    )
  })

  it.each([
    [[0, 97], {}, [0, 20, 40, 60, 80, 100]],
    [[3, 230_000], { fromZero: true }, [0, 50_000, 100_000, 150_000, 200_000, 250_000]],
    [[100, 100_000], { isLog: true }, [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]],
    [[3, 70], { isLog: true }, [2, 5, 10, 20, 50, 100]],
    [[0, 500], { max: 100, fromZero: true }, [0, 20, 40, 60, 80, 100]],
    [[], {}, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [[NaN, -1, 0], { isLog: true }, [1, 2, 5, 10]],
  ])('%j %j: %j', (values, how, ticks) => {
    expect(axisOf(values, how).ticks).toEqual(ticks)
  })
})

describe('scaleOf', () => {
  it('maps the ends to the ends, and the middle to the middle', () => {
    const linear = scaleOf({ from: 0, to: 10, ticks: [], isLog: false }, 100, 200)
    expect([0, 5, 10].map(linear)).toEqual([100, 150, 200])
    const log = scaleOf({ from: 1, to: 100, ticks: [], isLog: true }, 300, 100)
    expect([1, 10, 100].map(log)).toEqual([300, 200, 100])
  })
})

it.each([
  [0, '0'],
  [0.0424, '0.0424'],
  [1.2549, '1.25'],
  [9994, '9,990'],
  [9996, '10k'],
  [138_499, '138k'],
  [999_600, '1M'],
  [2.4e6, '2.4M'],
  [-1500, '-1,500'],
  [3e9, '3.0e+9'],
  [1e-7, '1.0e-7'],
])('%d is written as %s', (value, text) => {
  expect(written(value)).toBe(text)
})
