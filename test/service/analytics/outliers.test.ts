/** The time range of a chart excludes outliers. */
import { describe, expect, it } from 'vitest'
import { findTimeRange } from '../../../src/service/analytics/time-buckets.js'
import { StoreReader } from '../../../src/service/store-reader.js'
import { Store } from '../../../src/service/store/store.js'
import { entryOf } from '../support.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
const OLD_MS = Date.parse('2001-01-01T00:00:00.000Z')
const LATE_MS = Date.parse('2126-01-01T00:00:00.000Z')

const every = (count: number, stepMs: number): number[] =>
  Array.from({ length: count }, (_, n) => START_MS + n * stepMs)
const rangeOf = (times: readonly number[]) => {
  const range = findTimeRange(times.toSorted((a, b) => a - b).map((timeMs) => ({ timeMs })))
  return range && [range.firstMs, range.lastMs]
}

describe('the range', () => {
  const ten = every(10, MINUTE)
  const [first, last] = [START_MS, START_MS + 9 * MINUTE]
  it.each<[string, readonly number[], readonly number[] | undefined]>([
    ['of nothing', [], undefined],
    ['of one', [START_MS], [START_MS, START_MS]],
    ['of two entries at any distance', [OLD_MS, START_MS], [OLD_MS, START_MS]],
    ['of equal times', [START_MS, START_MS, START_MS], [START_MS, START_MS]],
    ['without one of 2001', [OLD_MS, ...ten], [first, last]],
    ['without one of 2126', [...ten, LATE_MS], [first, last]],
    ['without two of 1970 among 323', [0, 1, ...every(321, 1000)], [first, START_MS + 320_000]],
    ['without both', [OLD_MS, ...ten, LATE_MS], [first, last]],
    ['with two of 2001 among ten, which exceed the share of outliers', [OLD_MS, OLD_MS, ...ten], [OLD_MS, last]],
    [
      'without 20 of 2001 among a thousand',
      [...Array<number>(20).fill(OLD_MS), ...every(980, 1000)],
      [first, START_MS + 979_000],
    ],
    [
      'with 21 of 2001 among a thousand',
      [...Array<number>(21).fill(OLD_MS), ...every(979, 1000)],
      [OLD_MS, START_MS + 978_000],
    ],
    ['with one that is an hour late', [...every(10, 1), START_MS + HOUR], [first, START_MS + HOUR]],
    ['without one that is two hours late', [...every(10, 1), START_MS + 2 * HOUR], [first, START_MS + 9]],
    ['with one at ten times the span of the rest', [...ten, last + 80 * MINUTE], [first, last + 80 * MINUTE]],
  ])('%s', (_, times, expected) => {
    expect(rangeOf(times)).toEqual(expected)
  })
})

describe('a histogram', () => {
  const open = (times: readonly number[]): StoreReader => {
    const store = new Store({
      maxEntries: 2000,
      maxBytes: 1 << 24,
      onProblem: (message) => expect.unreachable(message),
    })
    const records = times.map((timeMs, n) => ({
      id: `ent_${n}`,
      seq: n + 1,
      received_at: new Date(START_MS).toISOString(),
      batch_id: null,
      entry: entryOf({ timestamp: new Date(timeMs).toISOString(), level: 'error', error: { type: 'E' } }),
    }))
    store.append('entry', records, 100 * records.length)
    return new StoreReader(store, () => START_MS)
  }

  it('excludes an entry of 2001, and counts it as outside', () => {
    const { buckets, before, after, step_ms, since } = open([OLD_MS, ...every(600, 1000), LATE_MS]).histogram({})
    expect([before, after, step_ms, since]).toEqual([1, 1, 10_000, '2026-01-31T08:00:00.000Z'])
    expect(buckets.map(({ total }) => total)).toEqual(Array(60).fill(10))
  })

  it('has the requested range, and excludes outliers where a bound is missing', () => {
    const reader = open([OLD_MS, ...every(600, 1000), LATE_MS])
    const since = new Date(OLD_MS).toISOString()
    expect(reader.histogram({ since })).toMatchObject({ before: 0, after: 1 })
    expect(Date.parse(reader.histogram({ since }).since ?? '')).toBeLessThanOrEqual(OLD_MS)
    expect(reader.histogram({ until: new Date(LATE_MS + 1).toISOString() })).toMatchObject({ before: 1, after: 0 })
  })

  it('handles equal times, and no entries', () => {
    expect(
      open([START_MS, START_MS])
        .histogram({})
        .buckets.map(({ total }) => total),
    ).toEqual([2])
    expect(open([]).histogram({})).toEqual({ since: null, until: null, step_ms: 0, buckets: [], before: 0, after: 0 })
  })

  it('trends of groups exclude outliers too', () => {
    const [group] = open([OLD_MS, ...every(240, 1000)]).errorGroups({}).items
    expect(group?.trend).toEqual(Array(24).fill(10))
  })
})
