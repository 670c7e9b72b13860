/** Ratios to the best peer are computed per round. */
import { expect, it } from 'vitest'
import { BENCHMARKS } from './tools.js'

const { ratioCells, ratioOf } = await import(new URL('peers/ratios.mjs', BENCHMARKS).href)

const row = (name: string, isPeer: boolean, values: (number | null)[]) => ({
  name,
  isPeer,
  runs: values.map((value) => (value === null ? null : { entriesPerSecond: value, workerUs: value })),
})
const ours = row('ours', false, [100, 200, 300, null])
const rows = [
  ours,
  row('a', true, [50, 400, null, 1]),
  row('b', true, [100, 100, null, 1]),
  row('c', false, [1, 1, 1, 1]),
]

it('compares with the best peer of the same round, and leaves out rounds without a pair', () => {
  expect(ratioOf(rows, ours, 'entriesPerSecond', 'most')).toEqual({ median: 0.75, min: 0.5, max: 1 })
  expect(ratioOf(rows, ours, 'workerUs', 'least')).toEqual({ median: 2, min: 2, max: 2 })
  expect(ratioOf([ours], ours, 'workerUs', 'least')).toBeUndefined()
})

it('judges by the median', () => {
  const claim = { key: 'entriesPerSecond', better: 'most', what: 'entries/s', goal: 0.7, aim: 0.8 }
  expect(ratioCells(rows, ours, claim)).toEqual([
    'ours: entries/s',
    '0.75 (0.50 to 1.00)',
    'goal at least 0.7: holds; aim at least 0.8: does not hold',
  ])
})
