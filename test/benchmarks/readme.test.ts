/** The tables of docs/benchmarks.md are generated from the stored results, ratios first. */
import { expect, it } from 'vitest'
import { BENCHMARKS } from './tools.js'

const { BEGIN, END, markdownOf, withResults } = await import(new URL('tools/readme.mjs', BENCHMARKS).href)

const spread = (median: number) => ({ median, min: median, max: median })
const row = (name: string, isPeer: boolean, perSecond: number[], workerUs: number) => ({
  name,
  isOurs: !isPeer,
  isPeer,
  runs: perSecond.map((value) => ({ entriesPerSecond: value, workerUs, peakMib: 100 })),
  spreads: { entriesPerSecond: spread(perSecond[0] as number), workerUs: spread(workerUs) },
})
const around = {
  machine: { cpu: 'a processor', cores: 2 },
  versions: { node: '20.0.0' },
  date: '2026-01-01',
  options: { rounds: 3, seconds: 60 },
}
const throughput = {
  ...around,
  question: 'throughput',
  result: {
    cold: { small: [row('spool on', false, [26_123, 30_000, 20_000], 3), row('a', true, [20_000, 20_000, 20_000], 6)] },
  },
}
const atRate = (name: string, isPeer: boolean, cpuMs: number, delayP99Ms: number) => ({
  name,
  isOurs: !isPeer,
  isPeer,
  runs: [{ cpuMs }],
  spreads: { cpuMs: spread(cpuMs), delayP99Ms: spread(delayP99Ms), requests: spread(1) },
})
const rates = {
  ...around,
  question: 'rates',
  result: {
    '1000': [atRate('spool on', false, 30, 900), atRate('late', true, 10, 9000), atRate('in time', true, 40, 100)],
  },
}

it('shows ratios, then numbers, then the cost at low rates next to peers that deliver in time', () => {
  const text = markdownOf({ throughput, rates })
  const lines = text.split('\n')
  expect(lines).toContain(
    '| lines, the first records of a process | 1.31 (1.00 to 1.50) | 0.50 (0.50 to 0.50) | 1.00 (1.00 to 1.00) |',
  )
  expect(lines).toContain('| pino-ingest, everything on, the first records of a process | 26,100 · 3.0 µs |')
  expect(lines).toContain('| the best peer in each, the first records of a process | 20,000 · 6.0 µs |')
  expect(lines).toContain('| 1,000 | 0.75 (0.75 to 0.75) | 30.0 ms | 40.0 ms (in time) |  | 1.0 |')
  expect(text.indexOf('Times the best peer')).toBeLessThan(text.indexOf('26,100'))
})

it('leaves out what was not measured', () => expect(markdownOf({})).toBe(''))

it('rejects a result without rounds', () => {
  const old = { ...around, question: 'throughput', result: { small: [{ name: 'spool on', spreads: {} }] } }
  expect(() => markdownOf({ throughput: old })).toThrow(RangeError)
})

it('replaces only the text between the marks', () => {
  const page = `before\n${BEGIN}\nold\n${END}\nafter\n`
  const text = withResults(page, { throughput })
  expect(text.startsWith(`before\n${BEGIN}\n\n![Entries acknowledged a second`)).toBe(true)
  expect(text.endsWith(`|\n\n${END}\nafter\n`)).toBe(true)
  expect(text).not.toContain('old')
  expect(() => withResults('no marks', { throughput })).toThrow(RangeError)
})
