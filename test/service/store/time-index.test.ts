/** Compares the time index with a sorted array, over generated insertions and removals. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TimeIndex } from '../../../src/service/store/time-index.js'
import type { Timed } from '../../../src/service/store/time-index.js'

const sorted = (items: readonly Timed[]): Timed[] => items.toSorted((a, b) => a.timeMs - b.timeMs || a.seq - b.seq)
const isBefore = (a: Timed, b: Timed): boolean => a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.seq < b.seq)

function collect(visit: (add: (item: Timed) => boolean) => void, limit: number): Timed[] {
  const found: Timed[] = []
  visit((item) => found.push(item) < limit)
  return found
}

it('sorts the items for any order of insertion and removal', () => {
  const timeMs = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1e15, max: 1e15 }))
  const step = fc.record({ timeMs, drops: fc.nat(2), limit: fc.integer({ min: 1, max: 5 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const index = new TimeIndex<Timed>()
      let kept: Timed[] = []
      for (const [seq, { timeMs: at, drops, limit }] of steps.entries()) {
        const item = { timeMs: at, seq }
        index.insert(item)
        kept.push(item)
        for (const dropped of kept.slice(0, drops)) index.remove(dropped)
        kept = kept.slice(drops)
        const all = sorted(kept)
        expect(index.filter(() => true)).toEqual(all)
        expect(index.filter(({ seq: one }) => one % 2 === 0, -2, 3)).toEqual(
          all.filter((one) => one.seq % 2 === 0 && one.timeMs >= -2 && one.timeMs < 3),
        )
        const older = all.filter((one) => isBefore(one, item)).toReversed()
        const newer = all.filter((one) => isBefore(item, one))
        expect(collect((add) => index.visitOlder(item, add), limit)).toEqual(older.slice(0, limit))
        expect(collect((add) => index.visitNewer(item, add), limit)).toEqual(newer.slice(0, limit))
      }
    }),
    { numRuns: 200 },
  )
})

it.each<[string, (n: number) => number]>([
  ['in order', (n) => n],
  ['backwards', (n) => -n],
  ['at the same time', () => 0],
  ['from two services with alternating delays', (n) => n - (n % 2) * 616],
  ['in random order', (n) => Math.imul(n, 0x9e3779b1)],
])('stores many items that arrive %s in several chunks', (_, timeOf) => {
  const index = new TimeIndex<Timed>()
  const items = Array.from({ length: 10_000 }, (__, seq) => ({ timeMs: timeOf(seq), seq }))
  for (const item of items) index.insert(item)
  expect(index.filter(() => true)).toEqual(sorted(items))
  for (const item of items.slice(0, 9_000)) index.remove(item)
  expect(index.filter(() => true)).toEqual(sorted(items.slice(9_000)))
  index.clear()
  expect(index.filter(() => true)).toEqual([])
})
