/** Offsets, and the spans of a trace on one scale. */
import { expect, test } from 'vitest'
import type { EntrySummary, TraceSpan } from '../../../../src/service/query/api-types.js'
import { formatOffset, createTimeline } from '../../../../src/service/viewer/detail/timeline.js'
import { expectLinearTime } from '../../../linear-time.js'

test.each([
  [0, '0 ms'],
  [35, '+35 ms'],
  [-1_234, '−1.23 s'],
  [-12_345, '−12.3 s'],
  [-65_000, '−1 min 5 s'],
  [-3_700_000, '−1 h 1 min'],
  [-3 * 86_400_000, '−3 d'],
  [Number.NaN, ''],
])('%d', (ms, text) => expect(formatOffset(ms)).toBe(text))

const iso = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

const span = (id: string, parent: string | null, startMs: number, durationMs: number | null = 10): TraceSpan => ({
  span_id: id,
  parent_span_id: parent,
  service: 'shop',
  name: id,
  started_at: iso(startMs),
  duration_ms: durationMs,
  level: 'info',
  entries: [],
})
const entry = (ms: number): EntrySummary => ({
  ...{ id: `@${ms}`, seq: ms, received_at: '', batch_id: null },
  ...{ timestamp: iso(ms), level: 'info', message: `@${ms}` },
})
const layOut = (spans: readonly TraceSpan[], entries: readonly EntrySummary[] = []) =>
  createTimeline({ spans, entries })
const outline = (...given: Parameters<typeof layOut>): readonly string[] =>
  layOut(...given).rows.map(({ id, depth }) => '·'.repeat(depth) + id)

test('spans are below their parents, siblings sorted by time, on one scale', () => {
  const { rows, totalMs } = layOut([
    ...[span('query', 'pay', 40), span('pay', 'root', 30, 50)],
    ...[span('root', null, 0, 100), span('read', 'root', 10)],
  ])
  expect(rows.map(({ id, depth, start, width }) => [id, depth, start, width])).toEqual([
    ['root', 0, 0, 1],
    ['read', 1, 0.1, 0.1],
    ['pay', 1, 0.3, 0.5],
    ['query', 2, 0.4, 0.1],
  ])
  expect(totalMs).toBe(100)
})

test('entries without a span are between the spans, by time', () => {
  expect(outline([span('root', null, 10, 80), span('child', 'root', 50)], [entry(200), entry(0), entry(30)])).toEqual([
    '@0',
    'root',
    '·child',
    '@30',
    '@200',
  ])
})

test('a child may end after its parent, and a duration may be unknown', () => {
  const { rows, totalMs } = layOut([span('root', null, 0, null), span('late', 'root', 10, 30)])
  expect([totalMs, ...rows.map(({ width }) => width)]).toEqual([40, 0, 0.75])
})

test('spans whose parent is not stored, or that are their own ancestors, are kept', () => {
  const spans = [span('orphan', 'gone', 5), span('own', 'own', 6), span('b', 'a', 8), span('a', 'b', 7)]
  expect(outline(spans)).toEqual(['orphan', 'own', 'a', '·b'])
  expect(layOut(spans).rows.map(({ missingParent }) => missingParent)).toEqual(['gone', null, null, null])
})

test('a chain of 20,000 spans is laid out in linear time', () => {
  expectLinearTime(20_000, (length) => {
    const chain = Array.from({ length }, (_, n) => span(`s${n}`, n === 0 ? null : `s${n - 1}`, n))
    return () => expect(layOut(chain).rows.at(-1)?.depth).toBe(length - 1)
  })
})
