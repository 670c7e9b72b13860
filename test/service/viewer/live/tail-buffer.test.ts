/** The rows of the list: a window over all entries by time that never exceeds its limit and never shows a gap. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import { MAX_ROWS, PAGE_ROWS, TailBuffer } from '../../../../src/service/viewer/live/tail-buffer.js'
import { LATE_AFTER_MS } from '../../../../src/service/viewer/live/tail-row.js'
import { createEntry, keyOf, ModelStore, START_MS, timeOf } from './tail-model.js'
import { modelRuns } from '../../../model-runs.js'

/** Entries in order of arrival, 1 ms apart. */
const span = (from: number, to: number): EntrySummary[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => createEntry(from + index))
/** A page of the API, newest first: at most `limit` entries below this `seq`. */
const below = (seq: number, limit: number): EntrySummary[] => span(Math.max(1, seq - limit), seq - 1).toReversed()
const seqs = (tail: TailBuffer): (number | undefined)[] =>
  Array.from({ length: tail.length }, (_, index) => tail.at(index)?.entry.seq)
const late = (tail: TailBuffer, id: string): number | undefined => tail.at(tail.indexOf(id))?.lateMs

function loaded(newest: number, rows = 10): TailBuffer {
  const tail = new TailBuffer()
  tail.reset({ items: below(newest + 1, rows), hasOlder: true, lastSeq: newest }, false)
  return tail
}

function arrive(tail: TailBuffer, items: readonly EntrySummary[], skipped = 0): void {
  tail.push(items, skipped)
  tail.merge()
}

function scrollToEnd(tail: TailBuffer, pages: number): void {
  for (let page = 0; page < pages; page++) {
    const wanted = tail.wanted(tail.length, tail.length)
    if (wanted === undefined) throw new Error('there are no older rows')
    const seq = Number(wanted.cursor.split('-')[1])
    tail.addOlder(wanted.cursor, below(seq, PAGE_ROWS), seq > PAGE_ROWS + 1)
  }
}

describe('new entries', () => {
  test('are added on top when the list is drawn', () => {
    const tail = loaded(10, 3)
    tail.push(span(11, 12), 0)
    expect([seqs(tail), tail.waiting]).toEqual([[10, 9, 8], 2])
    tail.merge()
    expect([seqs(tail), tail.waiting]).toEqual([[12, 11, 10, 9, 8], 0])
    expect([tail.indexOf('e10'), tail.indexOf('e1')]).toEqual([2, -1])
  })

  test('that are already known are ignored', () => {
    const tail = loaded(10, 2)
    arrive(tail, span(9, 12))
    arrive(tail, span(12, 12))
    expect(seqs(tail)).toEqual([12, 11, 10, 9])
  })

  test('never exceed the row limit: the oldest rows are removed, and can be loaded again', () => {
    const tail = loaded(10)
    for (let from = 11; from < 12_000; from += 50) arrive(tail, span(from, from + 49))
    expect(tail.length).toBe(MAX_ROWS)
    const oldest = tail.at(MAX_ROWS - 1)?.entry
    expect(tail.wanted(MAX_ROWS - 30, MAX_ROWS)).toEqual({
      kind: 'older',
      cursor: oldest === undefined ? '' : keyOf(oldest),
      limit: PAGE_ROWS,
    })
  })
})

describe('entries out of order', () => {
  test('are inserted by time, then by arrival', () => {
    const tail = loaded(10, 4)
    arrive(tail, [createEntry(11, START_MS + 8), createEntry(12, START_MS + 20), createEntry(13, START_MS + 15)])
    expect(seqs(tail)).toEqual([12, 13, 10, 9, 11, 8, 7])
  })

  test('are marked if they are later than the limit', () => {
    const tail = loaded(10, 4)
    const nowMs = START_MS + 180_000
    arrive(tail, [createEntry(11, nowMs)])
    arrive(tail, [
      createEntry(12, nowMs - LATE_AFTER_MS, nowMs),
      createEntry(13, nowMs - LATE_AFTER_MS - 1, nowMs),
      createEntry(14, START_MS + 8, nowMs),
    ])
    expect([late(tail, 'e12'), late(tail, 'e13'), late(tail, 'e14')]).toEqual([0, LATE_AFTER_MS + 1, 179_992])
  })

  test('are not marked because another clock is ahead', () => {
    const tail = loaded(10, 4)
    arrive(tail, [createEntry(11, START_MS + 1e9, START_MS + 20), createEntry(12, START_MS + 21, START_MS + 22)])
    expect([seqs(tail)[0], late(tail, 'e12')]).toEqual([11, 0])
  })

  test('older than all rows wait for their page, unless there is none', () => {
    const tail = loaded(10, 4)
    arrive(tail, [createEntry(11, START_MS + 1)])
    expect(seqs(tail)).toEqual([10, 9, 8, 7])
    const wanted = tail.wanted(0, 4)
    // The page was read before that entry arrived.
    tail.addOlder(
      wanted?.cursor ?? '',
      [6, 5, 4, 3, 2, 1].map((seq) => createEntry(seq)),
      false,
    )
    expect(seqs(tail)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 11, 1])
    arrive(tail, [createEntry(12, START_MS - 5)])
    expect(seqs(tail).at(-1)).toBe(12)
  })

  test('below the drawn rows are counted until they are drawn', () => {
    const tail = loaded(100, 60)
    const nowMs = START_MS + 60_000
    arrive(tail, [createEntry(101, nowMs)])
    arrive(tail, [createEntry(102, START_MS + 50, nowMs), createEntry(103, START_MS + 45, nowMs)])
    expect(tail.lateBelow(20)).toEqual({ count: 2, first: 51 })
    tail.see(40, 53)
    expect(tail.lateBelow(20).count).toBe(1)
    tail.see(50, 63)
    expect(tail.lateBelow(20).count).toBe(0)
  })
})

describe('a held list', () => {
  test('does not move, and counts arrivals', () => {
    const tail = loaded(10, 3)
    tail.freeze()
    arrive(tail, span(11, 13))
    expect([seqs(tail), tail.waiting]).toEqual([[10, 9, 8], 3])
    expect(tail.release()).toBe(true)
    expect([seqs(tail), tail.waiting]).toEqual([[13, 12, 11, 10, 9, 8], 0])
  })

  test('limits waiting entries, continues to count, and must then be loaded again', () => {
    const tail = loaded(10)
    tail.freeze()
    for (let from = 11; from <= 10_010; from += 100) tail.push(span(from, from + 99), 0)
    expect([tail.waiting, tail.isTorn, tail.release()]).toEqual([10_000, true, false])
    tail.expectPage()
    tail.reset({ items: below(10_011, 200), hasOlder: true, lastSeq: 10_010 }, true)
    expect([tail.isTorn, tail.waiting, tail.at(0)?.entry.seq]).toEqual([false, 0, 10_010])
  })

  test('counts entries that the stream skipped', () => {
    const tail = loaded(10)
    tail.freeze()
    tail.push(span(500, 509), 489)
    expect([tail.waiting, tail.release()]).toEqual([499, false])
  })
})

describe('a reload', () => {
  test('keeps entries that arrived while the page was loading', () => {
    const tail = loaded(10)
    tail.push(span(500, 510), 489)
    expect(tail.isTorn).toBe(true)
    tail.expectPage()
    tail.reset({ items: below(511, 20), hasOlder: true, lastSeq: 510 }, true)
    arrive(tail, span(511, 512))
    expect([tail.isTorn, seqs(tail).slice(0, 4)]).toEqual([false, [512, 511, 510, 509]])
  })

  test('with other filters removes the rows', () => {
    const tail = loaded(10)
    tail.reset({ items: [createEntry(4)], hasOlder: false, lastSeq: 10 }, false)
    expect(seqs(tail)).toEqual([4])
  })

  test('with a gap while the page was loading must be repeated', () => {
    const tail = loaded(3, 3)
    tail.push(span(1000, 1001), 900)
    tail.expectPage()
    tail.push(span(3000, 3001), 1900)
    tail.reset({ items: below(1002, 2), hasOlder: true, lastSeq: 1001 }, true)
    expect([seqs(tail), tail.isTorn]).toEqual([[1001, 1000], true])
    tail.expectPage()
    tail.reset({ items: below(3002, 2), hasOlder: true, lastSeq: 3001 }, true)
    arrive(tail, span(3002, 3002))
    expect([seqs(tail), tail.isTorn]).toEqual([[3002, 3001, 3000], false])
  })
})

describe('further pages', () => {
  test('are requested near the end only, and only if there are more', () => {
    const tail = loaded(1000, 200)
    expect(tail.wanted(0, 30)).toBeUndefined()
    expect(tail.wanted(150, 190)).toEqual({ kind: 'older', cursor: keyOf(createEntry(801)), limit: PAGE_ROWS })
    tail.addOlder(keyOf(createEntry(801)), below(801, PAGE_ROWS), false)
    expect(tail.wanted(650, 700)).toBeUndefined()
  })

  test('a page that arrives twice is added once', () => {
    const tail = loaded(1000, 3)
    for (let time = 0; time < 2; time++) tail.addOlder(keyOf(createEntry(998)), below(998, 2), true)
    expect(seqs(tail)).toEqual([1000, 999, 998, 997, 996])
  })

  test('rows keep their indices while newer rows are removed at the top', () => {
    const tail = loaded(20_000, 200)
    scrollToEnd(tail, 20)
    expect(tail.length).toBe(200 + 20 * PAGE_ROWS)
    expect([tail.at(0), tail.at(8000)?.entry.seq]).toEqual([undefined, 12_000])
    expect(seqs(tail).filter((seq) => seq !== undefined).length).toBeLessThanOrEqual(MAX_ROWS)
  })

  test('a changed page at the top requires a reload', () => {
    const tail = loaded(20_000, 200)
    scrollToEnd(tail, 12)
    const wanted = tail.wanted(0, 30)
    expect(wanted?.kind).toBe('newer')
    if (wanted !== undefined) tail.addNewer(wanted, [])
    expect(tail.isTorn).toBe(true)
  })
})

describe('a sliding window', () => {
  test('removes rows that have left it, and does not add late ones', () => {
    const tail = loaded(10, 6)
    expect(tail.slide(START_MS + 8)).toBe(true)
    expect([seqs(tail), tail.hasOlder]).toEqual([[10, 9, 8], false])
    arrive(tail, [createEntry(11, START_MS + 7), createEntry(12, START_MS + 11)])
    expect(seqs(tail)).toEqual([12, 10, 9, 8])
    expect(tail.slide(START_MS + 8)).toBe(false)
    tail.slide(null)
    arrive(tail, [createEntry(13, START_MS + 1)])
    expect(seqs(tail).at(-1)).toBe(13)
  })
})

/** Small enough for a few steps to reach every limit. */
const SMALL = { maxRows: 60, pageRows: 10, marginRows: 4 }

/** Offsets from the time of arrival in milliseconds: most are 0, some are late, some are from another clock. */
const offset = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 0 }) },
  { weight: 2, arbitrary: fc.integer({ min: -900, max: 300 }) },
)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('arrive' as const), offsets: fc.array(offset, { maxLength: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('many' as const), count: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'deliver' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('scroll' as const),
      to: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
      turns: fc.integer({ min: 1, max: 16 }),
      offsets: fc.array(offset, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'top' as const }) },
)

test('for any scrolling and order of arrival, the rows match the service, without a gap', () => {
  let complete = 0
  fc.assert(
    fc.property(fc.constantFrom(5, 150), fc.array(step, { minLength: 1, maxLength: 30 }), (stored, steps) => {
      const store = new ModelStore()
      const tail = new TailBuffer(SMALL)
      let nowMs = START_MS
      for (let at = 0; at < stored; at++) store.add((nowMs += 10))
      tail.reset(store.page(20), false)
      let delivered = store.entries.length
      let mergedSeq = delivered
      const add = (offsets: readonly number[]): void => {
        for (const by of offsets) store.add((nowMs += 10) + by, nowMs)
      }
      const deliver = (): void => {
        tail.push(store.entries.slice(delivered), 0)
        delivered = store.entries.length
        if (tail.merge() && !tail.isFrozen) mergedSeq = Math.max(mergedSeq, delivered)
      }
      const reload = (): void => {
        tail.expectPage()
        const page = store.page(20)
        tail.reset(page, true)
        mergedSeq = Math.max(delivered, page.lastSeq)
      }
      for (const one of steps) {
        if (one.kind === 'arrive') add(one.offsets)
        else if (one.kind === 'many') add(Array.from({ length: one.count }, () => 0))
        else if (one.kind === 'deliver') deliver()
        else if (one.kind === 'top') {
          if (tail.release()) mergedSeq = Math.max(mergedSeq, delivered)
          else reload()
        } else {
          tail.freeze()
          for (let turn = 0; turn < one.turns; turn++) {
            const first = Math.floor(one.to * tail.length)
            const wanted = tail.wanted(first, first + 6)
            if (wanted === undefined) break
            if (wanted.kind === 'newer') {
              const items = store.newer(wanted.limit, wanted.cursor)
              add(one.offsets)
              deliver()
              tail.addNewer(wanted, items)
            } else {
              const { items, hasOlder } = store.page(wanted.limit, wanted.cursor)
              add(one.offsets)
              deliver()
              tail.addOlder(wanted.cursor, items, hasOlder)
            }
          }
        }
        if (check(store, tail, mergedSeq)) complete++
      }
    }),
    { numRuns: modelRuns(100, 500) },
  )
  expect(complete).toBeGreaterThan(10)
})

/** @returns whether all entries are shown */
function check(store: ModelStore, tail: TailBuffer, mergedSeq: number): boolean {
  const rows = seqs(tail).filter((seq) => seq !== undefined)
  expect(rows.length).toBeLessThanOrEqual(SMALL.maxRows)
  // Rows were removed only at the top.
  expect(seqs(tail).slice(tail.length - rows.length)).toEqual(rows)
  const sorted = store.sorted()
  const first = sorted.findIndex(({ seq }) => seq === rows[0])
  const last = sorted.findIndex(({ seq }) => seq === rows.at(-1))
  const shown = new Set(rows)
  const expected = sorted.slice(first, last + 1).filter(({ seq }) => seq <= mergedSeq || shown.has(seq))
  expect(rows).toEqual(expected.map(({ seq }) => seq))
  if (tail.isFrozen || tail.isTorn || tail.firstLoaded > 0) return false
  expect(rows[0]).toBe(sorted.find(({ seq }) => seq <= mergedSeq)?.seq)
  if (!tail.hasOlder) expect(last).toBe(sorted.findLastIndex(({ seq }) => seq <= mergedSeq))
  expect(timeOf(sorted[first] as EntrySummary)).toBe(tail.at(0)?.timeMs)
  return !tail.hasOlder
}
