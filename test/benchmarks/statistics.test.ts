/** Medians of rounds, and alternating order within the rounds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tool } from './tools.js'

const { Samples, spread } = await tool('statistics')
const { table } = await tool('table')
const { inTurns } = await tool('turns')

describe('spread', () => {
  it.each([
    [[5], { median: 5, min: 5, max: 5 }],
    [[3, 1, 2], { median: 2, min: 1, max: 3 }],
    [[4, 1, 3, 2], { median: 2.5, min: 1, max: 4 }],
    [[10, 9, 100], { median: 10, min: 9, max: 100 }],
    [[1.23456789], { median: 1.235, min: 1.235, max: 1.235 }],
  ])('%j: %j', (values, expected) => {
    expect(spread(values)).toEqual(expected)
  })

  it('does not depend on the order, and does not change its input', () => {
    const values = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 })
    fc.assert(
      fc.property(values, (given) => {
        const before = [...given]
        const { median, min, max } = spread(given)
        expect(given).toEqual(before)
        expect(spread(given.toReversed())).toEqual({ median, min, max })
        expect(min).toBeLessThanOrEqual(median)
        expect(median).toBeLessThanOrEqual(max)
      }),
    )
  })
})

it('Samples keeps the rounds of each name separate', () => {
  const samples = new Samples()
  for (const [name, value] of [
    ['a', 1],
    ['b', 10],
    ['a', 3],
    ['b', 30],
    ['a', 2],
  ] as const)
    samples.add(name, value)
  expect(samples.spreads()).toEqual({ a: { median: 2, min: 1, max: 3 }, b: { median: 20, min: 10, max: 30 } })
})

it('runs the candidates alternately forwards and backwards', async () => {
  const runs: string[] = []
  const reported: string[] = []
  const result = await inTurns({
    rounds: 2,
    cases: ['small', 'large'],
    variants: ['ours', 'theirs'],
    showProgress: (line) => reported.push(line),
    run: async (name, variant) => ({ us: runs.push(`${name} ${variant}`) }),
  })
  expect(runs).toEqual([
    'small ours',
    'small theirs',
    'large ours',
    'large theirs',
    'small theirs',
    'small ours',
    'large theirs',
    'large ours',
  ])
  expect(result['small']?.['ours']).toEqual({ us: { median: 3.5, min: 1, max: 6 } })
  expect(reported).toEqual(['round 1 of 2: small', 'round 1 of 2: large', 'round 2 of 2: small', 'round 2 of 2: large'])
})

it('a table aligns names left and numbers right', () => {
  expect(table([['', 'us', 'share'], ['map', '10.25', '7 %'], ['request', '3.5'], []])).toEqual([
    '            us  share',
    'map      10.25    7 %',
    'request    3.5',
    '',
  ])
})
