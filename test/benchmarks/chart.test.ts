/** Charts have their names, values, ranges and footer as text, and colors for light and dark mode. */
import { describe, expect, it } from 'vitest'
import { tool } from './tools.js'
import type { Bar, Series } from './tools.js'

const { barChart, lineChart, svgOf, written } = await tool('chart')

const textsOf = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text as string)
const bars = (...of: Bar[]): Promise<string> =>
  svgOf(
    barChart({
      title: 'Speed',
      subtitle: 'More is better.',
      unit: 'per second',
      groups: [{ label: 'warm', bars: of }],
    }),
    'machine & commit',
  )
const lines = (series: Series[], isLog = false, bands = [{ label: 'outage', from: 2, to: 4 }]): Promise<string> =>
  svgOf(lineChart({ title: 'Memory', x: { label: 'seconds', isLog }, y: { label: 'MiB', isLog }, series, bands }), '')

describe('a bar chart', () => {
  it('has titles, names, values with notes, the unit, and the footer', async () => {
    const svg = await bars(
      { label: 'ours <b>', value: 138_400, isOurs: true, note: 'set to wait 50' },
      { label: 'theirs', value: 4210 },
    )
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining([
        'Speed',
        'More is better.',
        'warm',
        'ours &lt;b&gt;',
        '138k · set to wait 50',
        'theirs',
        '4,210',
        'per second',
        'machine &amp; commit',
      ]),
    )
  })

  it('explains the thin line if there is one', async () => {
    const svg = await bars({ label: 'a', value: 50, min: 40, max: 60 })
    expect(textsOf(svg)).toContain('per second (the thin line: minimum to maximum of the rounds)')
  })

  it('keeps the order of groups and bars', async () => {
    const groups = ['warm', 'cold'].map((label) => ({
      label,
      bars: [
        { label: `${label} b`, value: 1 },
        { label: `${label} a`, value: 2 },
      ],
    }))
    const texts = textsOf(await svgOf(barChart({ title: '', unit: '', groups }), ''))
    expect(texts.filter((text) => /^(warm|cold) /.test(text))).toEqual(['warm b', 'warm a', 'cold b', 'cold a'])
  })

  it('shows a note instead of a bar for a void run', async () => {
    const svg = await bars({ label: 'a', value: NaN, note: 'lost 1,200 records' }, { label: 'b', value: 1 })
    expect(textsOf(svg)).toContain('lost 1,200 records')
    expect(svg).not.toContain('NaN')
  })

  it('is 860 px wide, with the plot in what the labels leave', async () => {
    for (const label of ['a', 'a name as long as that of a transport from npm'])
      expect(await bars({ label, value: 12 })).toMatch(/ width="8(59|60|61)"/)
  })

  it('has colors for light and dark mode', async () => {
    const svg = await bars({ label: 'a', value: 1 })
    const variables = [...new Set(svg.match(/var\(--[^)]*\)/g))].map((one) => one.slice(4, -1))
    const [light, dark] = svg.split('@media (prefers-color-scheme:dark)')
    for (const name of variables) for (const style of [light, dark]) expect(style).toContain(`${name}:#`)
  })
})

describe('a line chart', () => {
  it('has the names of axes, lines and bands', async () => {
    const svg = await lines([
      {
        label: 'resident',
        points: [
          [0, 1],
          [8, 2],
        ],
      },
    ])
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['Memory', 'seconds', 'MiB', 'resident', 'outage']))
  })

  it('interrupts a line where there is no measurement', async () => {
    const svg = await lines([
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
    ])
    expect(svg.match(/ d="(M[^"ZA]*L[^"ZA]*)" stroke=/)?.[1]?.match(/[ML]/g)).toEqual(['M', 'L', 'M', 'L'])
  })

  it('labels 1, 2 and 5 on a logarithmic axis', async () => {
    const texts = textsOf(
      await lines(
        [
          {
            label: 'a',
            points: [
              [1, 1],
              [100, 200],
            ],
          },
        ],
        true,
        [],
      ),
    )
    expect(texts).toEqual(expect.arrayContaining(['2', '5', '10', '20', '50', '100']))
    expect(texts).not.toContain('30')
  })
})

it.each([
  [0, '0'],
  [0.0424, '0.0424'],
  [1.2549, '1.25'],
  [9994, '9,990'],
  [9996, '10k'],
  [138_499, '138k'],
  [999_600, '1M'],
  [2.4e6, '2.4M'],
  [-1500, '-1,500'],
  [3e9, '3.0e+9'],
  [1e-7, '1.0e-7'],
])('%d is written as %s', (value, text) => {
  expect(written(value)).toBe(text)
})
