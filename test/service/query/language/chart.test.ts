/** Charts after a filter: `status:>=500 | p95(duration) by route`. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  applyCompletion,
  CHART_FUNCTIONS,
  findCompletion,
  findMistake,
  isUnfinishedChart,
  formatSearch,
  parseChart,
  parseQuery,
  parseSearch,
  printChart,
  splitSearch,
} from '../../../../src/service/query/language/index.js'
import type { Chart } from '../../../../src/service/query/language/index.js'

describe('is parsed', () => {
  test.each<[string, Chart['name'], string | null, string | null]>([
    ['count', 'count', null, null],
    ['p95(duration) by route', 'p95', 'duration', 'route'],
    ['P95( duration )BY "a b"', 'p95', 'duration', 'a b'],
    ['avg(perf.memory_mb)', 'avg', 'perf.memory_mb', null],
  ])('%s', (text, name, field, by) => {
    expect(parseChart(text)).toEqual({ name, field, by })
  })

  test.each<[string, string]>([
    ['count per 1m', 'count per 1m'],
    ['count by service per 10s', 'count by service per 10s'],
    ['p95(duration) PER 1h by route', 'p95(duration) by route per 1h'],
  ])('%s, with a step', (text, printed) => expect(printChart(parseChart(text))).toBe(printed))

  test('and printed as text that parses to the same chart', () => {
    const field = fc.oneof(
      fc.constantFrom('a b', '"', '\\', 'by', 'count', '|', '(', 'x)', '5', 'cart.total'),
      fc.string({ minLength: 1, unit: 'grapheme' }),
    )
    const charts = fc
      .record({ name: fc.constantFrom(...CHART_FUNCTIONS, 'p1' as const, 'p42' as const), field, by: fc.option(field) })
      .map((one): Chart => ({ ...one, field: one.name === 'count' ? null : `metadata.${one.field}` }))
    fc.assert(
      fc.property(charts, (chart) => {
        expect(parseChart(printChart(chart))).toEqual(chart)
      }),
    )
  })
})

describe('has a problem', () => {
  test.each<[string, string]>([
    ['| p95()', 'p95()'],
    ['| p95(duration) by', 'by'],
    ['| count per', 'per'],
    ['| count per 0s', '0s'],
    ['| p95(duration) group by a', 'group by a'],
    ['| count(duration)', '(duration)'],
    ['| avg(service)', '(service)'],
    ['a | count | count', '| count'],
  ])('%s', (text, marked) => {
    const { problem } = parseSearch(text)
    expect(text.slice(problem?.position, (problem?.position ?? 0) + (problem?.length ?? 0))).toBe(marked)
    expect(problem).toBeDefined()
  })
})

describe('a search', () => {
  test.each<[string, string, string | null]>([
    ['', '', null],
    ['| count', '', 'count'],
    ['a | count per 1m', 'a', 'count per 1m'],
    ['a | count percent', 'a | count percent', null],
    ['status:>=500 |count by x', 'status:>=500', 'count by x'],
    ['(a OR b) |\tp95(duration)', '(a OR b)', 'p95(duration)'],
    // Text, also as it is logged and pasted.
    ['status:>=500|count by x', 'status:>=500|count by x', null],
    ['a | b | c', 'a | b | c', null],
    ['a | p100(x)', 'a | p100(x)', null],
    ['"a | b"', '"a | b"', null],
    ['-"a | b" | count', '-"a | b"', 'count'],
    ['/a | b/', '/a | b/', null],
    ['path:("x",/a | b/) | max(a) by "b | c"', 'path:("x",/a | b/)', 'max(a) by "b | c"'],
    // An invalid filter has no chart.
    ['(a | count', '(a | count', null],
    ['a "b | count', 'a "b | count', null],
  ])('%s is split', (text, q, chart) => {
    expect(splitSearch(text)).toEqual({ q, chart })
  })

  test.each(['a | b', '|', 'a || b', 'x|max(y)', '| p100(x)', '| mean(x)', '-| count', 'NOT | b'])(
    '%s is a text',
    (text) => {
      expect([parseSearch(text), parseQuery(text).problem]).toEqual([{}, undefined])
    },
  )

  test('is split to the same parts after formatting', () => {
    const parts = fc.constantFrom(
      ...['a', ' ', '|', 'count', '(', ')', '"', '/', 'x:', '>5', 'OR', '-', 'by', 'max(', '\\'],
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (texts) => {
        const found = splitSearch(texts.join(''))
        expect(splitSearch(formatSearch(found))).toEqual(found)
        if (found.chart !== null) expect(parseQuery(found.q).problem).toBeUndefined()
      }),
    )
  })

  test('as a filter is refused with the path of the chart', () => {
    const { problem } = parseQuery('status:500 | count')
    expect(problem).toMatchObject({ position: 11, length: 7 })
    expect(problem?.message).toContain('/local/chart')
  })
})

describe('a mistake is corrected', () => {
  const NAMES = ['metadata.cart.total', 'metadata.shard', 'metadata.order no'].map((name) => ({ name }))
  test.each([
    ['a | p95 duration by route', 'a | p95(duration) by route'],
    ['a | mean(x)', 'a | avg(x)'],
    ['| p95', '| p95(duration)'],
    ['| count per minute', '| count per 1m'],
    ['| cuont by service', '| count by service'],
    ['| avg(duration) of all routes', '"| avg(duration) of all routes"'],
    ['a | p95(duration by route', 'a "| p95(duration by route"'],
    ['| p95 by route', '| p95(duration) by route'],
    ['statsu:500 | count', 'status:500 | count'],
    ['| max(cart.totl) by servcie', '| max(cart.total) by servcie'],
    ['| count by orderno', '| count by "order no"'],
    ['| nothing like it', undefined],
  ])('%s', (text, corrected) => {
    expect(findMistake(text, NAMES)?.corrected).toBe(corrected)
  })
})

describe('is completed', () => {
  /** The caret is marked by `^`. */
  const at = (marked: string) => findCompletion(marked.replace('^', ''), marked.indexOf('^'))
  test.each<[string, string | undefined, string, string]>([
    ['a | ^', 'function', 'count', 'a | count^'],
    ['| p9^', 'function', 'p95', '| p95(^'],
    ['| p9^(duration)', 'function', 'p95', '| p95^(duration)'],
    ['| p95(^', 'number', 'duration', '| p95(duration)^'],
    ['| p95(du^ration) by x', 'number', 'a b', '| p95("a b"^) by x'],
    ['| count by ^', 'group', 'service', '| count by service^'],
    ['| count ^', undefined, '', ''],
    ['a^ | count', 'field', 'status', 'status:^ | count'],
    ['a | sta^', 'field', 'status', 'a | status:^'],
    ['"a | co^"', undefined, '', ''],
  ])('%s', (marked, kind, chosen, expected) => {
    const found = at(marked)
    expect(found?.kind).toBe(kind)
    if (found === undefined) return
    const { text, caret } = applyCompletion(marked.replace('^', ''), found, chosen)
    expect(`${text.slice(0, caret)}^${text.slice(caret)}`).toBe(expected)
  })
})

test('a chart is not completed where it has no effect', () => {
  for (const q of ['| ', '| p9', '| p95(', '| count by ']) expect(findCompletion(q, q.length, false)).toBeUndefined()
  expect(findCompletion('a | sta', 7, false)?.kind).toBe('field')
})

test.each(['|', '| p9', '| p95(dur', '| p95(duration) b', '| count by', '| count per 1', '| sum'])(
  '%s is unfinished',
  (text) => expect(isUnfinishedChart(text)).toBe(true),
)

test.each(['', '| count', 'a|co', '"a | co', 'a OR', '| mean(x)', '| count by x'])(
  '%s is not an unfinished chart',
  (text) => expect(isUnfinishedChart(text)).toBe(false),
)
