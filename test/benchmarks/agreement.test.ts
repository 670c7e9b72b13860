/** Two results agree if the ranges of their ratios overlap. */
import { expect, it } from 'vitest'
import { BENCHMARKS } from './tools.js'

const { agreementOf } = await import(new URL('tools/agreement.mjs', BENCHMARKS).href)

const rows = (ours: number[]) => [
  { isOurs: true, isPeer: false, runs: ours.map((workerUs) => ({ workerUs })) },
  { isOurs: false, isPeer: true, runs: ours.map(() => ({ workerUs: 10 })) },
]
const kept = (date: string, cold: number[], warm: number[]) => ({
  date,
  commit: 'abc',
  result: { cold: { small: rows(cold) }, warm: { small: rows(warm) }, slowing: [{ name: 'no table of peers' }] },
})

it('compares each ratio, and names the weaker value', () => {
  const lines = agreementOf(kept('2026-01-01', [5, 6], [4, 4]), kept('2026-01-02', [6, 8], [5, 5]))
  const cells = lines.map((line: string) => line.split(/ {2,}/))
  expect(cells.slice(1)).toEqual([
    ['cold, small: CPU of the worker', '0.55 (0.50 to 0.60)', '0.70 (0.60 to 0.80)', 'agree', '0.70'],
    ['warm, small: CPU of the worker', '0.40 (0.40 to 0.40)', '0.50 (0.50 to 0.50)', 'DIFFER', '0.50'],
  ])
})
