/** Medians of rounds, and ratios to the best peer of the same round. */
import { expect, it } from 'vitest'
import { load } from './tools.js'

const { Samples, spread } = await load('tools/statistics')
const { table } = await load('tools/table')
const { claimLines, ratioOf } = await load('peers/ratios')
const { agreementOf } = await load('tools/agreement')

it.each([
  [[5], { median: 5, min: 5, max: 5 }],
  [[3, 1, 2], { median: 2, min: 1, max: 3 }],
  [[4, 1, 3, 2], { median: 2.5, min: 1, max: 4 }],
  [[10, 9, 100], { median: 10, min: 9, max: 100 }],
  [[1.23456789], { median: 1.235, min: 1.235, max: 1.235 }],
])('%j: %j', (values, expected) => {
  const before = [...values]
  expect(spread(values)).toEqual(expected)
  expect(values).toEqual(before)
})

it('Samples keeps the rounds of each name separate', () => {
  const samples = new Samples()
  for (const [name, value] of Object.entries({ a: 1, b: 10 }))
    for (const factor of [1, 3, 2]) samples.add(name, value * factor)
  expect(samples.spreads()).toEqual({ a: { median: 2, min: 1, max: 3 }, b: { median: 20, min: 10, max: 30 } })
})

it('a table aligns names left and numbers right', () => {
  expect(table([['', 'us', 'share'], ['map', '10.25', '7 %'], ['request', '3.5'], []])).toEqual([
    '            us  share',
    'map      10.25    7 %',
    'request    3.5',
    '',
  ])
})

const row = (name: string, isPeer: boolean, values: (number | null)[]) => ({
  name,
  isPeer,
  isOurs: name === 'ours',
  runs: values.map((value) => (value === null ? null : { entriesPerSecond: value, workerUs: value })),
})
const ours = row('ours', false, [100, 200, 300, null])
const rows = [
  ours,
  row('a', true, [50, 400, null, 1]),
  row('b', true, [100, 100, null, 1]),
  row('c', false, [1, 1, 1, 1]),
]

it('a ratio compares with the best peer of the same round, and leaves out rounds without a pair', () => {
  expect(ratioOf(rows, ours, 'entriesPerSecond', 'most')).toEqual({ median: 0.75, min: 0.5, max: 1 })
  expect(ratioOf(rows, ours, 'workerUs', 'least')).toEqual({ median: 2, min: 2, max: 2 })
  expect(ratioOf([ours], ours, 'workerUs', 'least')).toBeUndefined()
})

it('a goal is judged by the median', () => {
  const cellsOf = (goal: number) =>
    claimLines(rows, [{ key: 'entriesPerSecond', better: 'most', what: 'entries/s', goal }])[1].split(/ {2,}/)
  expect(cellsOf(0.7)).toEqual(['entries/s', '0.75 (0.50 to 1.00)', 'goal at least 0.7: holds'])
  expect(cellsOf(0.8).at(-1)).toBe('goal at least 0.8: does not hold')
})

it('two results agree if the ranges of their ratios overlap; the weaker value is named', () => {
  const rowsOf = (values: number[]) => [row('ours', false, values), row('a', true, [10, 10])]
  const kept = (date: string, cold: number[], warm: number[]) => ({
    date,
    commit: 'abc',
    result: { cold: { small: rowsOf(cold) }, warm: { small: rowsOf(warm) }, slowing: [{ name: 'no table of peers' }] },
  })
  const lines: string[] = agreementOf(kept('2026-01-01', [5, 6], [4, 4]), kept('2026-01-02', [6, 8], [5, 5]))
  const cells = lines.map((line) => line.split(/ {2,}/)).filter(([name]) => name?.includes('CPU of the worker'))
  expect(cells).toEqual([
    ['cold, small: CPU of the worker', '0.55 (0.50 to 0.60)', '0.70 (0.60 to 0.80)', 'agree', '0.70'],
    ['warm, small: CPU of the worker', '0.40', '0.50', 'DIFFER', '0.50'],
  ])
})
