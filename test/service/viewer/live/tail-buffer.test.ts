/** The rows of the list: sorted by time, never more than the limit while entries arrive, and never with a gap. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import { TailBuffer } from '../../../../src/service/viewer/live/tail-buffer.js'
import { createEntry, keyOf, ModelStore, START_MS } from './tail-model.js'
import { modelRuns } from '../../../model-runs.js'

/** Entries in order of arrival, 1 ms apart. */
const span = (from: number, to: number): EntrySummary[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => createEntry(from + index))
/** A page of the API, newest first: at most `limit` entries below this `seq`. */
const below = (seq: number, limit: number): EntrySummary[] => span(Math.max(1, seq - limit), seq - 1).toReversed()
const seqs = (tail: TailBuffer): number[] => tail.rows.map(({ seq }) => seq)

function loaded(newest: number, rows = 10): TailBuffer {
  const tail = new TailBuffer()
  tail.reset({ items: below(newest + 1, rows), hasOlder: true, lastSeq: newest })
  return tail
}

function arrive(tail: TailBuffer, items: readonly EntrySummary[], skipped = 0): void {
  tail.push(items, skipped)
  tail.merge(null)
}

describe('new entries', () => {
  test('never exceed the limit: the oldest rows are removed, and can be loaded again', () => {
    const tail = loaded(10)
    for (let from = 11; from < 12_000; from += 50) arrive(tail, span(from, from + 49))
    expect(tail.rows.length).toBe(5000)
    expect(tail.findCursor(4970)).toBe(keyOf(tail.rows.at(-1) as EntrySummary))
  })
})

describe('a held list', () => {
  test.each([
    ['more entries than can wait', (tail: TailBuffer) => tail.push(span(11, 10_010), 0), 10_000],
    ['entries that the stream skipped', (tail: TailBuffer) => tail.push(span(500, 509), 489), 499],
  ])('counts %s, and must then be loaded again', (_, push, waiting) => {
    const tail = loaded(10)
    tail.isFrozen = true
    push(tail)
    tail.isFrozen = false
    expect([tail.waiting, tail.isTorn, tail.merge(null)]).toEqual([waiting, true, false])
    tail.reset({ items: [createEntry(10_010)], hasOlder: true, lastSeq: 10_010 })
    expect([tail.waiting, tail.isTorn, seqs(tail)]).toEqual([0, false, [10_010]])
  })
})

const LIMIT = 60
/** Offsets from the time of arrival in milliseconds: most are 0, some are late, some are from another clock. */
const offset = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 0 }) },
  { weight: 2, arbitrary: fc.integer({ min: -900, max: 300 }) },
)
const step = fc.record({
  arrivals: fc.oneof(fc.array(offset, { maxLength: 12 }), fc.constant(Array.from({ length: 50 }, () => 0))),
  isFrozen: fc.boolean(),
  pages: fc.integer({ min: 0, max: 4 }),
})

test('for any scrolling and order of arrival, the rows are those of the service, without a gap', () => {
  fc.assert(
    fc.property(fc.constantFrom(5, 150), fc.array(step, { minLength: 1, maxLength: 30 }), (stored, steps) => {
      const store = new ModelStore()
      const tail = new TailBuffer(LIMIT)
      let nowMs = START_MS
      for (let at = 0; at < stored; at++) store.add((nowMs += 10))
      tail.reset(store.page(20))
      let mergedSeq: number = stored
      for (const { arrivals, isFrozen, pages } of steps) {
        const delivered = store.entries.length
        for (const by of arrivals) store.add((nowMs += 10) + by)
        tail.isFrozen = isFrozen
        arrive(tail, store.entries.slice(delivered))
        if (!isFrozen) {
          mergedSeq = store.entries.length
          expect(tail.rows.length).toBeLessThanOrEqual(LIMIT)
          expect(tail.rows[0]).toBe(store.sorted()[0])
        }
        // Scrolling freezes the list.
        tail.isFrozen ||= pages > 0
        for (let page = 0; page < pages; page++) {
          const cursor = tail.findCursor(tail.rows.length)
          if (cursor === undefined) continue
          const { items, hasOlder } = store.page(10, cursor)
          tail.addOlder(cursor, items, hasOlder)
        }
        const shown = new Set(seqs(tail))
        const known = store.sorted().filter(({ seq }) => seq <= mergedSeq || shown.has(seq))
        expect(tail.rows).toEqual(known.slice(0, tail.rows.length))
        if (!tail.hasOlder) expect(tail.rows.length).toBe(known.length)
      }
    }),
    { numRuns: modelRuns(100, 500) },
  )
})
