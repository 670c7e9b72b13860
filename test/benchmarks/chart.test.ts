/** Charts have their names, values, ranges and footer as text, and colors for light and dark mode. */
import { expect, it } from 'vitest'
import { load } from './tools.js'

const { barChart, lineChart, svgOf, written } = await load('tools/chart')

interface Bar {
  label: string
  value: number
  min?: number
  max?: number
  isOurs?: boolean
  note?: string
}

const textsOf = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text as string)
const bars = (...groups: Bar[][]): Promise<string> => {
  const titles = { title: 'Speed', subtitle: 'More is better.', unit: 'per second' }
  const named = groups.map((of, n) => ({ label: `group ${n}`, bars: of }))
  return svgOf(barChart({ ...titles, groups: named }), 'machine & commit')
}
const lines = (points: [number, number][], isLog = false): Promise<string> =>
  svgOf(
    lineChart({
      title: 'Memory',
      x: { label: 'seconds', isLog },
      y: { label: 'MiB', isLog },
      series: [{ label: 'resident', points }],
      bands: isLog ? [] : [{ label: 'outage', from: 2, to: 4 }],
    }),
    '',
  )

it('a bar chart has titles, names, values with notes, ranges, the unit, and the footer', async () => {
  const svg = await bars(
    [
      { label: 'ours <b>', value: 138_400, min: 90_000, max: 150_000, isOurs: true, note: 'set to wait 50' },
      { label: 'lost', value: NaN, note: 'lost 1,200 records' },
    ],
    [{ label: 'a name as long as that of a transport from npm', value: 4210 }],
  )
  const texts = textsOf(svg)
  const expected = [
    ...['Speed', 'More is better.', 'group 0', 'ours &lt;b&gt;', '138k · set to wait 50', 'lost 1,200 records'],
    ...['4,210', 'per second (the thin line: minimum to maximum of the rounds)', 'machine &amp; commit'],
  ]
  expect(texts).toEqual(expect.arrayContaining(expected))
  expect(svg).not.toContain('NaN')
  // The labels take their width first, the plot what they leave.
  expect(svg).toMatch(/ width="8(59|60|61)"/)
  const variables = [...new Set(svg.match(/var\(--[^)]*\)/g))].map((one) => one.slice(4, -1))
  const [light, dark] = svg.split('@media (prefers-color-scheme:dark)')
  for (const name of variables) for (const style of [light, dark]) expect(style).toContain(`${name}:#`)
})

it('the order of groups and bars is that of the result', async () => {
  const svg = await bars(...['b', 'a'].map((of) => ['2', '1'].map((label) => ({ label: `${of}${label}`, value: 1 }))))
  expect(textsOf(svg).filter((text) => /^[ab]\d$/.test(text))).toEqual(['b2', 'b1', 'a2', 'a1'])
})

it('a line chart has the names of axes, lines and bands, and a gap where there is no measurement', async () => {
  const svg = await lines([
    ...([0, 1] as const).map((x): [number, number] => [x, x + 1]),
    [2, NaN],
    ...([3, 4] as const).map((x): [number, number] => [x, x + 1]),
  ])
  expect(textsOf(svg)).toEqual(expect.arrayContaining(['Memory', 'seconds', 'MiB', 'outage']))
  expect(svg.match(/ d="(M[^"ZA]*L[^"ZA]*)" stroke=/)?.[1]?.match(/[ML]/g)).toEqual(['M', 'L', 'M', 'L'])
})

it('a logarithmic axis has labels at 1, 2 and 5', async () => {
  const texts = textsOf(
    await lines(
      [
        [1, 1],
        [100, 200],
      ],
      true,
    ),
  )
  expect(texts).toEqual(expect.arrayContaining(['2', '5', '10', '20', '50', '100']))
  expect(texts).not.toContain('30')
})

it.each([
  [0, '0'],
  [0.0424, '0.0424'],
  [1.2549, '1.25'],
  [9994, '9,990'],
  [9996, '10k'],
  [138_499, '138k'],
  [999_600, '1M'],
  [-1500, '-1,500'],
  [3e9, '3.0e+9'],
  [1e-7, '1.0e-7'],
])('%d is written as %s', (value, text) => {
  expect(written(value)).toBe(text)
})
