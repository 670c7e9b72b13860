/** Sampling keeps complete traces, the same ones in every process, at the configured rate. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Sampler } from '../../src/filter/sampler.js'

const INFO = 1
const IDS = 20_000

function kept(rate: number, ids: readonly string[]): Set<string> {
  const sampler = new Sampler({ info: rate })
  return new Set(ids.filter((id) => sampler.keeps(INFO, id)))
}

/** Six standard deviations of a binomial share. The ids are the same in every run, so a run cannot fail by chance. */
function bound(rate: number): number {
  return 6 * Math.sqrt((rate * (1 - rate)) / IDS)
}

/** Hexadecimal digits without a pattern. */
function scattered(n: number, digits: number): string {
  return createHash('sha256').update(String(n)).digest('hex').slice(0, digits)
}

const KINDS: readonly (readonly [string, (n: number) => string])[] = [
  ['random W3C ids', (n) => scattered(n, 32)],
  ['64 random bits behind zeros, as of B3 and Datadog', (n) => `0000000000000000${scattered(n, 16)}`],
  [
    'a constant prefix and a counter in hexadecimal',
    (n) => `4bf92f3577b34da6a3ce929d${n.toString(16).padStart(8, '0')}`,
  ],
  ['a time in seconds before a counter, as of AWS X-Ray', (n) => `1-67aa5a6f-${n.toString(16).padStart(24, '0')}`],
  ['decimal numbers', (n) => String(n + 1)],
]

describe.each(KINDS)('%s', (_, idOf) => {
  const ids = Array.from({ length: IDS }, (__, n) => idOf(n))

  test.each([0.01, 0.1, 0.5, 0.9])('are kept at the rate %d', (rate) => {
    expect(Math.abs(kept(rate, ids).size / IDS - rate)).toBeLessThan(bound(rate))
  })

  test('an id kept at one rate is kept at every higher rate', () => {
    const rates = [0, 0.01, 0.1, 0.5, 0.9, 1]
    const sets = rates.map((rate) => kept(rate, ids))
    for (let i = 1; i < sets.length; i += 1) {
      expect([...(sets[i - 1] as Set<string>)].every((id) => sets[i]?.has(id))).toBe(true)
    }
    expect(sets[0]?.size).toBe(0)
    expect(sets.at(-1)?.size).toBe(new Set(ids).size)
  })
})

test('an id has the same result in every instance and at every level with the same rate', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(fc.string()),
      (id, rate, others) => {
        fc.pre(!/^0+$/.test(id))
        const rates = { debug: rate, info: rate, warn: rate, error: rate, fatal: rate }
        const a = new Sampler(rates)
        const b = new Sampler(rates)
        for (const other of others) b.keeps(INFO, other)
        const answers = [0, 1, 2, 3, 4].flatMap((severity) => [
          a.keeps(severity, id),
          b.keeps(severity, id),
          b.keeps(severity, id),
        ])
        expect(new Set(answers).size).toBe(1)
      },
    ),
    { numRuns: 30 },
  )
})

/**
 * Computed by another implementation, in Python. A different hash would break traces across services of different
 * versions.
 */
test.each([
  ['4bf92f3577b34da6a3ce929d0e0e4736', 0xe1a668b2],
  ['0af7651916cd43dd8448eb211c80319c', 0x146b5eaf],
  ['1', 0x551f758f],
  ['größe', 0x974cbe5f],
  ['🚀', 0x2c8f1734],
])('the hash of %s is the same in every release', (id, hash) => {
  expect(new Sampler({ info: hash / 2 ** 32 }).keeps(INFO, id)).toBe(false)
  expect(new Sampler({ info: (hash + 1) / 2 ** 32 }).keeps(INFO, id)).toBe(true)
})

test('without a trace the share is exact at every record, starting with the first', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 1, noNaN: true }), fc.integer({ min: 1, max: 500 }), (rate, count) => {
      const sampler = new Sampler({ info: rate })
      let sum = 0
      for (let n = 1; n <= count; n += 1) {
        const isKept = sampler.keeps(INFO, '')
        if (isKept) sum += 1
        if (sum !== Math.ceil(n * rate)) expect.unreachable(`${sum} of ${n}`)
      }
    }),
    { numRuns: 50 },
  )
})

test('100,000 records without a trace: rounding errors do not add up', () => {
  for (const rate of [0.1, 0.3, 0.7, 1 / 3]) {
    const sampler = new Sampler({ info: rate })
    let sum = 0
    for (let n = 0; n < 100_000; n += 1) if (sampler.keeps(INFO, '')) sum += 1
    expect(sum).toBe(Math.ceil(100_000 * rate))
  }
})

test('each level has its own rate and count', () => {
  const sampler = new Sampler({ debug: 0, info: 0.5, error: 1 })
  const answers = Array.from({ length: 4 }, () => [0, 1, 2, 3, 4].map((severity) => sampler.keeps(severity, '')))
  expect(answers).toEqual([
    [false, true, true, true, true],
    [false, false, true, true, true],
    [false, true, true, true, true],
    [false, false, true, true, true],
  ])
  expect(sampler.keeps(0, '4bf92f3577b34da6a3ce929d0e0e4736')).toBe(false)
  expect(sampler.keeps(2, '4bf92f3577b34da6a3ce929d0e0e4736')).toBe(true)
})

test('an id of zeros is not a trace', () => {
  const sampler = new Sampler({ info: 0.5 })
  const answers = Array.from({ length: 4 }, () => sampler.keeps(INFO, '0'.repeat(32)))
  expect(answers).toEqual([true, false, true, false])
  expect([sampler.keeps(INFO, '0'), sampler.keeps(INFO, '')]).toEqual([true, false])
})
