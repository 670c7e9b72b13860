/** Charts as specifications of Vega-Lite, and their SVG for light and dark mode. */
import { Error as ERRORS, View, expressionFunction, logger, parse, textMetrics } from 'vega'
import { compile } from 'vega-lite'

/**
 * @typedef {import('vega-lite').TopLevelSpec} Spec
 * @typedef {{ title: string, subtitle?: string, plot: (width: number) => object }} Chart
 * @typedef {{ label: string, value: number, min?: number, max?: number, isOurs?: boolean, note?: string }} Bar
 *   a value that is NaN (a void run) has no bar, only its note
 * @typedef {{ label: string, bars: Bar[] }} Group
 * @typedef {{ label: string, points: [number, number][], isOurs?: boolean, isDashed?: boolean }} Series
 * @typedef {{ label: string, from: number, to: number }} Band a range of x with a condition such as an outage
 * @typedef {{ label: string, isLog?: boolean, max?: number }} Axis
 */

const WIDTH = 860
const MARGIN = 24
const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'
const LIGHT = '--ground:#fff;--loud:#1f2328;--soft:#59636e;--grid:#e4e9ee;--band:#fff7db'
const DARK = '--ground:#161b22;--loud:#e6edf3;--soft:#9198a1;--grid:#2a313a;--band:#2e2711'
const [OURS, OURS_DARK] = [
  palette('ours', 'd9480f f59f00 a61e4d 862e9c'),
  palette('ours', 'ff8c42 ffd43b f783ac da77f2'),
]
const [OTHERS, OTHERS_DARK] = [
  palette('other', '7b93ab 4c6ef5 2b8a3e 1098ad 5f3dc4'),
  palette('other', '8ea6bd 748ffc 69db7c 3bc9db 9775fa'),
]
/** In each chart, since an SVG in an `img` element does not inherit the style of its page. */
const STYLE = `<style>text{font-family:${FONT}}svg{${[LIGHT, ...OURS, ...OTHERS].join(';')}}@media (prefers-color-scheme:dark){svg{${[DARK, ...OURS_DARK, ...OTHERS_DARK].join(';')}}}</style>`
/** Attributes and empty elements without an effect: two thirds of Vega's output. */
const DEFAULTS =
  / (?:class|font-family|role|aria-[a-z]+|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"|<path [^>]*d="(?:M0,0h0v0h0Z)?"[^>]*>/g
const [GROUND, LOUD, SOFT, GRID, BAND] = ['ground', 'loud', 'soft', 'grid', 'band'].map(color)

const CONFIG = {
  aria: false,
  background: GROUND,
  mark: { invalid: 'show' },
  padding: MARGIN,
  view: { stroke: null },
  title: {
    anchor: 'start',
    color: LOUD,
    fontSize: 18,
    fontWeight: 600,
    offset: 14,
    subtitleColor: SOFT,
    subtitleFontSize: 13,
    subtitlePadding: 5,
  },
  axis: {
    labelColor: SOFT,
    labelFontSize: 11,
    titleColor: SOFT,
    titleFontSize: 12,
    titleFontWeight: 400,
    gridColor: GRID,
    domainColor: SOFT,
    tickColor: SOFT,
  },
  axisQuantitative: { labelExpr: 'written(datum.value)', tickCount: 8 },
  header: {
    title: null,
    labelOrient: 'top',
    labelAnchor: 'start',
    labelColor: LOUD,
    labelFontSize: 13,
    labelFontWeight: 600,
    labelLimit: 0,
  },
  legend: { orient: 'top', title: null, labelColor: LOUD, labelFontSize: 12, labelLimit: 0, symbolSize: 500 },
  text: { color: LOUD, fontSize: 12 },
}

expressionFunction('written', written)
expressionFunction('writtenOnLog', (value) => (/^[125]/.test(value.toExponential()) ? written(value) : ''))
// Without a canvas Vega assumes 0.8 em, which is far more than the mean of these texts.
textMetrics.width = (item, text) =>
  String(text).length * (item.fontSize ?? 11) * (item.fontWeight === 600 ? 0.64 : 0.56)

/** @param {Chart} chart @param {string} footer @returns {Promise<string>} SVG */
export async function svgOf({ title, subtitle = '', plot }, footer) {
  let width = WIDTH / 2
  let svg = ''
  // The labels take their width first, the plot what they leave, and the titles adapt to both.
  for (const isLast of [false, false, false, true]) {
    const text = { text: wrapped(title, 18), subtitle: wrapped(subtitle, 13) }
    const small = { text: footer, orient: 'bottom', color: SOFT, fontSize: 11, fontWeight: 400, offset: 8 }
    const head = isLast ? { title: text } : {}
    const { spec } = compile(
      /** @type {Spec} */ ({ config: CONFIG, ...head, vconcat: [{ ...(isLast && { title: small }), ...plot(width) }] }),
      // Layers of the same data count as different sources, and Vega-Lite warns about them.
      { logger: logger(ERRORS) },
    )
    svg = await new View(parse(spec)).toSVG()
    width += WIDTH - Number(/ width="([\d.]+)"/.exec(svg)?.[1])
  }
  return `${svg.replaceAll(DEFAULTS, '').replace('>', `>${STYLE}`)}\n`
}

/** Horizontal bars, one per row: ours in color, the others in gray. @param {{ title: string, subtitle?: string, unit: string, groups: Group[] }} chart @returns {Chart} */
export function barChart({ title, subtitle, unit, groups }) {
  const values = groups.flatMap(({ label: group, bars }) =>
    bars.map((bar) => ({ ...bar, group, end: Math.max(0, bar.value, bar.max ?? bar.value) || 0, said: said(bar) })),
  )
  const names = groups.map(({ label }) => label)
  const hasRange = values.some(({ value, min = value, max = value }) => min < max)
  const ours = JSON.stringify(values.filter(({ isOurs }) => isOurs).map(({ label }) => label))
  const x = (/** @type {string} */ field) => ({
    field,
    type: 'quantitative',
    title: hasRange ? `${unit} (the thin line: minimum to maximum of the rounds)` : unit,
  })
  const axis = {
    title: null,
    domain: false,
    ticks: false,
    labelColor: LOUD,
    labelFontSize: 12,
    labelLimit: 0,
    labelPadding: 6,
    labelFontWeight: { condition: { test: `indexof(${ours}, datum.value) >= 0`, value: 600 }, value: 400 },
  }
  const plot = (/** @type {number} */ width) => ({
    data: { values },
    facet: { row: { field: 'group', sort: names, header: { labels: names.some((name) => name !== '') } } },
    spacing: 8,
    resolve: { scale: { y: 'independent' } },
    spec: {
      width,
      height: { step: 22 },
      encoding: { y: { field: 'label', sort: null, axis } },
      layer: [
        {
          mark: {
            type: 'bar',
            height: 14,
            color: { expr: `datum.isOurs ? '${color('ours-0')}' : '${color('other-0')}'` },
          },
          encoding: { x: x('value') },
        },
        { mark: { type: 'rule', color: LOUD, strokeWidth: 1.5 }, encoding: { x: x('min'), x2: { field: 'max' } } },
        {
          mark: { type: 'text', align: 'left', dx: 6, fontWeight: { expr: 'datum.isOurs ? 600 : 400' } },
          encoding: { x: x('end'), text: { field: 'said' } },
        },
      ],
    },
  })
  return { title, subtitle, plot }
}

/** @param {{ title: string, subtitle?: string, x: Axis, y: Axis, series: Series[], bands?: Band[] }} chart @returns {Chart} */
export function lineChart({ title, subtitle, x, y, series, bands = [] }) {
  const of = (/** @type {string} */ field, /** @type {Axis} */ { label, isLog = false, max }) => ({
    field,
    type: 'quantitative',
    title: label,
    scale: { type: isLog ? 'log' : 'linear', ...(max !== undefined && { domainMax: max }) },
    axis: { grid: field === 'y', ...(isLog && { labelExpr: 'writtenOnLog(datum.value)', labelOverlap: 'greedy' }) },
  })
  const values = series.flatMap(({ label, points }) => points.map(([at, value]) => ({ label, x: at, y: value })))
  const scaleOf = (/** @type {(one: Series, n: number) => unknown} */ toValue) => ({
    field: 'label',
    scale: { domain: series.map(({ label }) => label), range: series.map(toValue) },
  })
  const colorOf = (/** @type {Series} */ { isOurs = false }, /** @type {number} */ n) => {
    const before = series.slice(0, n).filter((other) => (other.isOurs ?? false) === isOurs).length
    return isOurs ? color(`ours-${before % OURS.length}`) : color(`other-${before % OTHERS.length}`)
  }
  const columns = Math.floor(WIDTH / (60 + 7 * Math.max(...series.map(({ label }) => label.length))))
  const shade = { data: { values: bands }, encoding: { x: { ...of('from', x) }, x2: { field: 'to' } } }
  const plot = (/** @type {number} */ width) => ({
    width,
    height: 320,
    layer: [
      { ...shade, mark: { type: 'rect', color: BAND } },
      {
        data: { values: bands },
        mark: { type: 'text', align: 'left', color: SOFT, y: -6 },
        encoding: { x: of('from', x), text: { field: 'label' } },
      },
      {
        data: { values },
        // A value that is missing is a gap, and few points are separate measurements.
        mark: {
          type: 'line',
          clip: true,
          invalid: 'break-paths-show-domains',
          point: values.length <= 40 * series.length,
        },
        encoding: {
          x: of('x', x),
          y: of('y', y),
          color: { ...scaleOf(colorOf), legend: { symbolType: 'stroke', columns } },
          strokeDash: scaleOf(({ isDashed }) => (isDashed ? [6, 4] : [1, 0])),
        },
      },
    ],
  })
  return { title, subtitle, plot }
}

/** @param {Bar} bar */
function said({ value, note }) {
  if (!Number.isFinite(value)) return note ?? 'no result'
  return note === undefined ? written(value) : `${written(value)} · ${note}`
}

/** CSS variables. @param {string} name @param {string} colors */
function palette(name, colors) {
  return colors.split(' ').map((rgb, n) => `--${name}-${n}:#${rgb}`)
}

/** @param {string} name */
function color(name) {
  return `var(--${name})`
}

/** @param {string} words @param {number} size @returns {string[]} lines */
function wrapped(words, size) {
  const most = Math.floor((WIDTH - 2 * MARGIN) / size / 0.64)
  return words.match(new RegExp(`.{1,${most}}(\\s|$)`, 'g')) ?? []
}

/** 0.042, 1.25, 38, 4,210, 138k, 2.4M: a measurement has three significant digits. @param {number} value */
export function written(value) {
  const size = Math.abs(value)
  if (size >= 999.5e6 || (value !== 0 && size < 1e-4)) return value.toExponential(1)
  if (size >= 999.5e3) return `${plain(value / 1e6)}M`
  return size >= 9.995e3 ? `${plain(value / 1e3)}k` : plain(value)
}

/** @param {number} value */
function plain(value) {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 4 })
}
