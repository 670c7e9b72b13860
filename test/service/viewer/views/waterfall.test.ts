/** The rows of a trace: nested by parent, sorted by time, on one scale. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWaterfall } from '../../../../src/service/viewer/views/waterfall.js'
import type { Span, WaterfallRow } from '../../../../src/service/viewer/views/waterfall.js'
import { expectLinearTime } from '../../../linear-time.js'

const iso = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

const span = (id: string, parent: string | null, startMs: number, durationMs: number | null = 10): Span => ({
  span_id: id,
  parent_span_id: parent,
  service: 'shop',
  name: id,
  started_at: iso(startMs),
  duration_ms: durationMs,
})
const entry = (startMs: number) => ({ timestamp: iso(startMs) })

const outline = (rows: readonly WaterfallRow<Span, { readonly timestamp: string }>[]): readonly string[] =>
  rows.map((row) => '·'.repeat(row.depth) + (row.kind === 'span' ? row.span.span_id : `@${row.offsetMs}`))

test('spans are below their parents, siblings sorted by time', () => {
  const { rows, totalMs } = createWaterfall(
    [span('query', 'pay', 40), span('pay', 'root', 30, 50), span('root', null, 0, 100), span('read', 'root', 10)],
    [],
  )
  expect(outline(rows)).toEqual(['root', '·read', '·pay', '··query'])
  expect(totalMs).toBe(100)
  expect(rows.map(({ start, width }) => [start, width])).toEqual([
    [0, 1],
    [0.1, 0.1],
    [0.3, 0.5],
    [0.4, 0.1],
  ])
})

test('an entry without a span is placed by time, also between a span and its children', () => {
  const { rows } = createWaterfall(
    [span('root', null, 10, 80), span('child', 'root', 50)],
    [entry(200), entry(0), entry(30)],
  )
  expect(outline(rows)).toEqual(['@0', 'root', '@30', '·child', '@200'])
})

test('a child may end after its parent, and a span may have no known duration', () => {
  const { rows, totalMs } = createWaterfall([span('root', null, 0, null), span('late', 'root', 10, 30)], [])
  expect(totalMs).toBe(40)
  expect(rows.map(({ width }) => width)).toEqual([0, 0.75])
})

test('spans with a missing parent, or that are their own ancestors, are at the top level with the reason', () => {
  const { rows } = createWaterfall(
    [span('orphan', 'gone', 5), span('own', 'own', 6), span('b', 'a', 8), span('a', 'b', 7), span('tail', 'b', 1)],
    [],
  )
  expect(outline(rows)).toEqual(['orphan', 'own', 'a', '·b', '··tail'])
  expect(rows.map((row) => row.kind === 'span' && row.root)).toEqual(['missing', 'cycle', 'cycle', null, null])
})

test('an empty trace and a single moment have no duration', () => {
  expect(createWaterfall([], [])).toEqual({ rows: [], totalMs: 0 })
  expect(createWaterfall([], [entry(3)])).toMatchObject({ totalMs: 0, rows: [{ offsetMs: 0, start: 0, width: 0 }] })
})

test('a chain of 20,000 spans is laid out in linear time', () => {
  expectLinearTime(20_000, (length) => {
    const chain = Array.from({ length }, (_, n) => span(`s${n}`, n === 0 ? null : `s${n - 1}`, n))
    return () => expect(createWaterfall(chain, []).rows.at(-1)?.depth).toBe(length - 1)
  })
})

const anySpans = fc.array(
  fc
    .tuple(
      fc.integer({ min: 0, max: 12 }),
      fc.option(fc.integer({ min: 0, max: 14 })),
      fc.integer({ min: 0, max: 500 }),
      fc.option(fc.integer({ min: 0, max: 300 })),
    )
    .map(([id, parent, startMs, durationMs]) =>
      span(String(id), parent === null ? null : String(parent), startMs, durationMs),
    ),
  { maxLength: 20 },
)

test('for any parents, each span and entry has one row within the scale, one level below its parent', () => {
  fc.assert(
    fc.property(anySpans, fc.array(fc.integer({ min: 0, max: 500 }).map(entry)), (spans, entries) => {
      const { rows } = createWaterfall(spans, entries)
      const shown = rows.flatMap((row) => (row.kind === 'span' ? [row.span] : []))
      expect(new Set(shown)).toEqual(new Set(spans))
      expect(rows).toHaveLength(spans.length + entries.length)
      const ancestors: Span[] = []
      for (const row of rows) {
        expect(row.start).toBeGreaterThanOrEqual(0)
        expect(row.start + row.width).toBeLessThanOrEqual(1 + 1e-9)
        if (row.kind === 'entry') continue
        ancestors.length = row.depth
        expect(row.root === null).toBe(row.depth > 0)
        if (row.depth > 0) expect(ancestors[row.depth - 1]?.span_id).toBe(row.span.parent_span_id)
        if (row.root === 'none') expect(row.span.parent_span_id).toBeNull()
        if (row.root === 'missing') expect(spans.map((one) => one.span_id)).not.toContain(row.span.parent_span_id)
        ancestors.push(row.span)
      }
      const times = rows.flatMap((row) => (row.kind === 'entry' ? [row.offsetMs] : []))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }),
    { numRuns: 500 },
  )
})
