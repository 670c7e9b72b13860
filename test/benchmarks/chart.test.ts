/** Charts are well-formed SVG with finite numbers and all names. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tool } from './tools.js'
import type { BarChart, LineChart } from './tools.js'
import { readXml } from './xml.js'
import type { Xml } from './xml.js'

const { barChart, lineChart, withFooter } = await tool('chart')

/** Attributes that are coordinates or sizes. */
const NUMBERS = new Set([
  'x',
  'y',
  'x1',
  'x2',
  'y1',
  'y2',
  'cx',
  'cy',
  'r',
  'width',
  'height',
  'font-size',
  'textLength',
  'stroke-width',
])

/** Checks what every chart must fulfil. */
function read(svg: string): Xml {
  const xml = readXml(svg)
  for (const { name, value } of xml.attributes) {
    if (NUMBERS.has(name)) expect(value, name).toMatch(/^-?\d+(\.\d+)?$/)
    if (name === 'width' || name === 'height') expect(Number(value)).toBeGreaterThanOrEqual(0)
    if (name === 'd') expect(value).toMatch(/^([MLHV]-?\d+(\.\d+)?( -?\d+(\.\d+)?)?)+$/)
  }
  expect(xml.attributes).toContainEqual({ tag: 'svg', name: 'role', value: 'img' })
  return xml
}

/** The text in a chart: characters that XML does not allow are replaced. */
const known = (text: string): string =>
  text.replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')

const label = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('<script>&"\'', 'µs', '', '\0\u0007'),
)
const anyNumber = fc.oneof(
  fc.double(),
  fc.double({ min: 0, max: 1e6 }),
  fc.integer({ min: -1000, max: 1_000_000 }),
  fc.constantFrom(0, -0, NaN, Infinity, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE),
)

const bars: fc.Arbitrary<BarChart> = fc.record(
  {
    title: label,
    unit: label,
    groups: fc.array(
      fc.record({
        label,
        bars: fc.array(
          fc.record(
            { label, value: anyNumber, min: anyNumber, max: anyNumber, isOurs: fc.boolean(), note: label },
            { requiredKeys: ['label', 'value'] },
          ),
          { maxLength: 6 },
        ),
      }),
      { maxLength: 4 },
    ),
    subtitle: label,
  },
  { requiredKeys: ['title', 'unit', 'groups'] },
)

const axis = fc.record({ label, isLog: fc.boolean() }, { requiredKeys: ['label'] })
const lines: fc.Arbitrary<LineChart> = fc.record(
  {
    title: label,
    subtitle: label,
    x: axis,
    y: fc.record({ label, isLog: fc.boolean(), max: anyNumber }, { requiredKeys: ['label'] }),
    series: fc.array(
      fc.record(
        {
          label,
          points: fc.array(fc.tuple(anyNumber, anyNumber), { maxLength: 60 }),
          isOurs: fc.boolean(),
          isDashed: fc.boolean(),
        },
        { requiredKeys: ['label', 'points'] },
      ),
      { maxLength: 9 },
    ),
    bands: fc.array(fc.record({ label, from: anyNumber, to: anyNumber }), { maxLength: 3 }),
  },
  { requiredKeys: ['title', 'x', 'y', 'series'] },
)

describe('barChart', () => {
  it('is well-formed and has all names, for any input', () => {
    fc.assert(
      fc.property(bars, (chart) => {
        const { texts } = read(barChart(chart))
        for (const { bars: ofGroup, label: group } of chart.groups)
          for (const name of [group, ...ofGroup.map((bar) => bar.label)])
            if (name !== '') expect(texts).toContain(known(name))
      }),
    )
  })

  it('draws a bar for the value, and the whisker from minimum to maximum', () => {
    const { attributes } = read(
      barChart({
        title: 't',
        unit: 'u',
        groups: [
          {
            label: '',
            bars: [
              { label: 'a', value: 50, min: 40, max: 60 },
              { label: 'b', value: 100, isOurs: true },
            ],
          },
        ],
      }),
    )
    const width = (fill: string): number =>
      Number(attributes[attributes.findIndex(({ name, value }) => name === 'class' && value === fill) + 3]?.value)
    expect(width('fill-ours-0')).toBeCloseTo(2 * width('fill-other-0'), 0)
    expect(attributes.filter(({ name, value }) => name === 'class' && value === 'whisker')).toHaveLength(1)
  })

  it('shows a note instead of a bar for a void run', () => {
    const svg = barChart({
      title: 't',
      unit: 'u',
      groups: [
        {
          label: 'g',
          bars: [
            { label: 'a', value: NaN, note: 'lost 1,200 records' },
            { label: 'b', value: 1 },
          ],
        },
      ],
    })
    const { texts, attributes } = read(svg)
    expect(texts).toContain('lost 1,200 records')
    expect(attributes.filter(({ tag, value }) => tag === 'rect' && value.startsWith('fill-'))).toHaveLength(1)
  })

  it('writes each value next to its bar', () => {
    const values = [0.0424, 1.25, 38, 4210, 138_400, 2_412_000]
    const { texts } = read(
      barChart({
        title: 't',
        unit: 'u',
        groups: [{ label: 'g', bars: values.map((value) => ({ label: String(value), value })) }],
      }),
    )
    expect(texts).toEqual(expect.arrayContaining(['0.0424', '1.25', '38', '4,210', '138k', '2.41M']))
  })
})

describe('lineChart', () => {
  it('is well-formed and has all names, for any input', () => {
    fc.assert(
      fc.property(lines, (chart) => {
        const { texts } = read(lineChart(chart))
        for (const name of [chart.x.label, chart.y.label, ...chart.series.map((series) => series.label)])
          if (name !== '') expect(texts).toContain(known(name))
      }),
    )
  })

  it('interrupts a line where there is no measurement', () => {
    const svg = lineChart({
      title: 't',
      x: { label: 'x' },
      y: { label: 'y' },
      series: [
        {
          label: 'a',
          points: [
            [0, 1],
            [1, 2],
            [2, NaN],
            [3, 4],
            [4, 5],
          ],
        },
      ],
    })
    const path = read(svg).attributes.find(({ tag, name }) => tag === 'path' && name === 'd')?.value
    expect(path?.match(/M/g)).toHaveLength(2)
    expect(path?.match(/L/g)).toHaveLength(2)
  })

  it('omits zero on a logarithmic axis', () => {
    const svg = lineChart({
      title: 't',
      x: { label: 'x', isLog: true },
      y: { label: 'y', isLog: true },
      series: [
        {
          label: 'a',
          points: [
            [0, 1],
            [1, 0],
            [10, 3],
            [100, 300],
          ],
        },
      ],
    })
    const path = read(svg).attributes.find(({ tag, name }) => tag === 'path' && name === 'd')?.value
    expect(path?.match(/[ML]/g)).toHaveLength(2)
  })

  it('shades and labels a band', () => {
    const svg = lineChart({
      title: 't',
      x: { label: 's' },
      y: { label: 'MB' },
      bands: [{ label: 'service down', from: 2, to: 4 }],
      series: [
        {
          label: 'a',
          points: [
            [0, 1],
            [8, 2],
          ],
        },
      ],
    })
    const { texts, attributes } = read(svg)
    expect(texts).toContain('service down')
    expect(attributes.filter(({ value }) => value === 'band')).toHaveLength(1)
  })
})

it('adds a footer to a finished chart', () => {
  const svg = barChart({ title: 't', unit: 'u', groups: [{ label: 'g', bars: [{ label: 'a', value: 1 }] }] })
  const { texts } = read(withFooter(svg, 'two cores & Node <20>'))
  expect(texts).toContain('two cores & Node <20>')
})

it('has title, subtitle and every value as text for screen readers', () => {
  const { texts } = read(
    barChart({
      title: 'Speed',
      subtitle: 'more is better',
      unit: 'a second',
      groups: [
        {
          label: 'small',
          bars: [
            { label: 'ours', value: 190_000 },
            { label: 'theirs', value: 138_000 },
          ],
        },
      ],
    }),
  )
  expect(texts).toContain('Speed')
  expect(texts).toContain('more is better. small: ours 190k, theirs 138k. In a second')
})
