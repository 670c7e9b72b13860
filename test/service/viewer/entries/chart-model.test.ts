/** Names, units, colors and filters of a chart's lines. */
import { expect, test } from 'vitest'
import type { ChartData } from '../../../../src/service/query/api-types.js'
import { parseChart } from '../../../../src/service/query/language/index.js'
import { createLines, findFormat, readChart } from '../../../../src/service/viewer/entries/chart-model.js'
import { serviceStyle } from '../../../../src/service/viewer/service-color.js'

const series = { count: 2, value: 7, values: [1, null] }
const dataOf = (names: readonly (string | null)[], others: ChartData['others'] = null): ChartData => ({
  ...{ since: null, until: null, step_ms: 1, before: 0, after: 0, without_number: 0 },
  groups: names.map((name) => ({ name, ...series })),
  others,
})

test('a line is named by its value, and adds it to the filter', () => {
  const lines = createLines(
    dataOf(['api', null, '', 'x'.repeat(501)], { groups: 3, ...series }),
    parseChart('count by service'),
  )
  expect(lines.map(({ text }) => text.slice(0, 12))).toEqual(['api', 'no service', '""', 'xxxxxxxxxxxx', '3 others'])
  expect(lines.map(({ narrow }) => narrow?.('service:pay a'))).toEqual([
    'service:api a',
    'service:pay a -service:*',
    'service:"" a',
    undefined,
    undefined,
  ])
  expect(lines[0]?.style).toEqual(serviceStyle('api'))
})

test.each<[string, number, string]>([
  ['p95(duration)', 1280, '1.28 s'],
  ['max(request.duration_ms)', 5, '5 ms'],
  ['avg(elapsedMs)', 5, '5 ms'],
  ['avg(perf.memory_mb)', 512.25, '512.3 MB'],
  ['sum(body.bytes)', 2_000_000, '2 MB'],
  ['count', 1234, '1,234'],
  ['avg(cart.total)', 0.00421, '0.00421'],
  ['sum(items)', -12_400, '-12.4K'],
])('%s of %d is %s', (text, value, expected) => {
  expect(findFormat(parseChart(text))(value)).toBe(expected)
})

test('an invalid text is no chart', () => {
  for (const text of ['mode(duration)', 'p95(', 'a']) expect(readChart(text)).toBeNull()
  expect(readChart('count by service')).toEqual({ name: 'count', field: null, by: 'service' })
})

test('the missing value, values named like it, and the others can be told apart', () => {
  const names = [null, 'null', 'no x', '3 others', 'others']
  const lines = createLines(dataOf(names, { groups: 3, ...series }), parseChart('count by x'))
  expect(lines.map(({ text }) => text)).toEqual(['no x', 'null', '"no x"', '3 others', 'others', '3 others'])
  expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length)
})
