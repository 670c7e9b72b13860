/** The list's rows: a window over all entries that never grows beyond its bound and never shows a gap. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import { MAX_ROWS, PAGE_ROWS, TailBuffer } from '../../../../src/service/viewer/live/tail-buffer.js'

const brief = (seq: number): EntrySummary => ({
  id: `e${seq}`,
  seq,
  received_at: '',
  timestamp: '',
  level: 'info',
  message: '',
})
/** Oldest first, as the stream brings them. */
const span = (from: number, to: number): EntrySummary[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => brief(from + index))
/** Newest first, as the API answers: at most `limit` below the cursor. */
const pageBelow = (cursor: number, limit: number): EntrySummary[] =>
  span(Math.max(1, cursor - limit), cursor - 1).toReversed()
const seqs = (tail: TailBuffer): (number | undefined)[] =>
  Array.from({ length: tail.length }, (_, index) => tail.at(index)?.seq)

function loaded(newest: number, rows = 10): TailBuffer {
  const tail = new TailBuffer()
  tail.reset(pageBelow(newest + 1, rows), true, false)
  return tail
}

describe('new entries', () => {
  test('are on top', () => {
    const tail = loaded(10, 3)
    tail.push(span(11, 12), 0)
    expect(seqs(tail)).toEqual([12, 11, 10, 9, 8])
    expect([tail.indexOf('e10'), tail.indexOf('e1')]).toEqual([2, -1])
  })

  test('that are known already are passed over', () => {
    const tail = loaded(10, 2)
    tail.push(span(9, 12), 0)
    tail.push(span(12, 12), 0)
    expect(seqs(tail)).toEqual([12, 11, 10, 9])
  })

  test('never exceed the limit of rows: the oldest are removed, and can be loaded again', () => {
    const tail = loaded(10)
    for (let from = 11; from < 12_000; from += 50) tail.push(span(from, from + 49), 0)
    expect(tail.length).toBe(MAX_ROWS)
    expect(tail.wanted(MAX_ROWS - 30, MAX_ROWS)).toEqual({
      kind: 'older',
      cursor: String(tail.at(MAX_ROWS - 1)?.seq),
      limit: PAGE_ROWS,
    })
  })
})

describe('held', () => {
  test('nothing moves, and what comes is counted', () => {
    const tail = loaded(10, 3)
    tail.hold()
    tail.push(span(11, 13), 0)
    expect([seqs(tail), tail.waiting]).toEqual([[10, 9, 8], 3])
    expect(tail.release()).toBe(true)
    expect([seqs(tail), tail.waiting]).toEqual([[13, 12, 11, 10, 9, 8], 0])
  })

  test('for long: waiting entries are bounded, the count continues, and the list must be loaded again', () => {
    const tail = loaded(10)
    tail.hold()
    for (let from = 11; from <= 10_010; from += 100) tail.push(span(from, from + 99), 0)
    expect([tail.waiting, tail.isTorn, tail.release()]).toEqual([10_000, true, false])
    tail.expectPage()
    tail.reset(pageBelow(10_011, 200), true, true)
    expect([tail.isTorn, tail.waiting, tail.at(0)?.seq]).toEqual([false, 0, 10_010])
  })

  test('what the stream left out is counted too', () => {
    const tail = loaded(10)
    tail.hold()
    tail.push(span(500, 509), 489)
    expect([tail.waiting, tail.release()]).toEqual([499, false])
  })
})

describe('loaded again', () => {
  test('keeps what came while the page was on its way', () => {
    const tail = loaded(10)
    tail.push(span(500, 510), 489)
    expect(tail.isTorn).toBe(true)
    tail.expectPage()
    tail.push(span(511, 512), 0)
    tail.reset(pageBelow(511, 20), true, true)
    expect([tail.isTorn, seqs(tail).slice(0, 4)]).toEqual([false, [512, 511, 510, 509]])
  })

  test('with other filters the rows are removed', () => {
    const tail = loaded(10)
    tail.reset([brief(4)], false, false)
    expect(seqs(tail)).toEqual([4])
  })
})

describe('further pages', () => {
  test('are requested near the end only, and only if there are more', () => {
    const tail = loaded(1000, 200)
    expect(tail.wanted(0, 30)).toBeUndefined()
    expect(tail.wanted(150, 190)).toEqual({ kind: 'older', cursor: '801', limit: PAGE_ROWS })
    tail.addOlder(pageBelow(801, PAGE_ROWS), false)
    expect(tail.wanted(650, 700)).toBeUndefined()
  })

  test('one that comes twice is taken once', () => {
    const tail = loaded(1000, 10)
    tail.addOlder(pageBelow(991, 5), true)
    tail.addOlder(pageBelow(991, 5), true)
    expect(seqs(tail)).toEqual([1000, 999, 998, 997, 996, 995, 994, 993, 992, 991, 990, 989, 988, 987, 986])
  })

  test('rows keep their places while newer ones are left out above', () => {
    const tail = loaded(20_000, 200)
    for (let page = 0; page < 20; page++)
      tail.addOlder(pageBelow(Number(tail.wanted(tail.length, tail.length)?.cursor), PAGE_ROWS), true)
    expect(tail.length).toBe(200 + 20 * PAGE_ROWS)
    expect([tail.at(0), tail.at(8000)?.seq]).toEqual([undefined, 12_000])
    expect(seqs(tail).filter((seq) => seq !== undefined).length).toBeLessThanOrEqual(MAX_ROWS)
  })

  test('a page above that is not what it was tears the list', () => {
    const tail = loaded(20_000, 200)
    for (let page = 0; page < 12; page++)
      tail.addOlder(pageBelow(Number(tail.wanted(tail.length, tail.length)?.cursor), PAGE_ROWS), true)
    expect(tail.wanted(0, 30)?.kind).toBe('newer')
    tail.addNewer([])
    expect(tail.isTorn).toBe(true)
  })
})

test('however one scrolls while entries come, the rows are those of the service, without a gap', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('come' as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({
      kind: fc.constant('scroll' as const),
      to: fc.double({ min: 0, max: 1, noNaN: true }),
      turns: fc.integer({ min: 1, max: 15 }),
    }),
    fc.constant({ kind: 'top' as const }),
  )
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      let newest = 9000
      const tail = loaded(newest, 200)
      for (const one of steps) {
        if (one.kind === 'come') {
          tail.push(span(newest + 1, newest + one.count), 0)
          newest += one.count
        } else if (one.kind === 'top') {
          if (!tail.release()) tail.reset(pageBelow(newest + 1, 200), newest > 200, true)
        } else {
          tail.hold()
          for (let turn = 0; turn < one.turns; turn++) {
            const first = Math.floor(one.to * tail.length)
            const wanted = tail.wanted(first, first + 40)
            if (wanted === undefined) break
            const items = pageBelow(Number(wanted.cursor), wanted.limit)
            if (wanted.kind === 'newer') tail.addNewer(items)
            else tail.addOlder(items, (items.at(-1)?.seq ?? 1) > 1)
          }
        }
        const held = seqs(tail)
        const rows = held.filter((seq) => seq !== undefined)
        expect(rows.length).toBeLessThanOrEqual(MAX_ROWS)
        // Those left out are all above, and every row is one older than the one before it.
        expect(held.slice(held.length - rows.length)).toEqual(rows)
        expect(rows).toEqual(Array.from({ length: rows.length }, (_, index) => (rows[0] ?? 0) - index))
        if (!tail.isHeld && !tail.isTorn) expect(rows[0]).toBe(newest)
      }
    }),
    { numRuns: 60 },
  )
})

test('what is missed while the list is loaded again leaves no gap: it is to be loaded once more', () => {
  const tail = loaded(3, 3)
  tail.push(span(1000, 1001), 900)
  tail.expectPage()
  tail.push(span(3000, 3001), 1900)
  tail.reset(pageBelow(1002, 2), true, true)
  expect([seqs(tail), tail.isTorn]).toEqual([[1001, 1000], true])
  tail.expectPage()
  tail.push(span(3002, 3002), 0)
  tail.reset(pageBelow(3002, 2), true, true)
  expect([seqs(tail), tail.isTorn]).toEqual([[3002, 3001, 3000], false])
})
