/** Line charts: growth, delays, and requests in flight over time. */
import { COLORS, MARGIN, WIDTH, card, text, widthOf } from './chart-frame.mjs'
import { axisOf, canShow, scaleOf, written } from './chart-scale.mjs'

/**
 * @typedef {{ label: string, points: [number, number][], isOurs?: boolean, isDashed?: boolean }} Series
 * @typedef {{ label: string, from: number, to: number }} Band a range of x with a condition such as an outage
 */

const PLOT_HEIGHT = 320
const LEGEND_ROW = 20
const SAMPLE = 26
const AXIS_HEIGHT = 46
/** With few points, each is shown as a separate measurement. */
const MOST_DOTS = 40

/**
 * @param {{ title: string, subtitle?: string, x: { label: string, isLog?: boolean }, y: { label: string, isLog?: boolean, max?: number },
 *   series: Series[], bands?: Band[] }} chart @returns {string} SVG
 */
export function lineChart({ title, subtitle, x, y, series, bands = [] }) {
  const xIsLog = x.isLog ?? false
  const yIsLog = y.isLog ?? false
  const shown = series
    .map(({ points }) => points.filter(([at, value]) => canShow(at, xIsLog) && canShow(value, yIsLog)))
    .flat()
  const xAxis = axisOf([...shown.map(([at]) => at), ...bands.flatMap(({ from, to }) => [from, to])], {
    isLog: xIsLog,
    ticks: 8,
  })
  const yAxis = axisOf(
    shown.map(([, value]) => value),
    { isLog: yIsLog, fromZero: true, ...(y.max === undefined ? {} : { max: y.max }) },
  )
  const names = yAxis.ticks.map(written)
  const left = MARGIN + 22 + Math.ceil(Math.max(...names.map((name) => widthOf(name, 11))))
  const right = WIDTH - MARGIN - 12
  const legend = legendOf(series, left, right)
  const top = legend.height + (bands.length > 0 ? 18 : 4)
  const bottom = top + PLOT_HEIGHT
  const place = { x: scaleOf(xAxis, left, right), y: scaleOf(yAxis, bottom, top), xIsLog, yIsLog }
  return card({
    title,
    subtitle,
    height: bottom + AXIS_HEIGHT,
    description: described(series, x.label, y.label),
    body: [
      `<clipPath id="plot"><rect x="${left - 4}" y="${top - 4}" width="${right - left + 8}" height="${PLOT_HEIGHT + 8}"/></clipPath>`,
      ...bands
        .filter(({ from, to }) => canShow(from, xIsLog) && canShow(to, xIsLog))
        .flatMap((band) => drawnBand(band, place.x, top)),
      ...yAxis.ticks.map(
        (tick) => `<line class="grid" x1="${left}" x2="${right}" y1="${place.y(tick)}" y2="${place.y(tick)}"/>`,
      ),
      ...yAxis.ticks.map((tick, n) =>
        text(left - 8, place.y(tick) + 4, /** @type {string} */ (names[n]), { size: 11, anchor: 'end', isSoft: true }),
      ),
      ...xAxis.ticks.map(
        (tick) => `<line class="axis" x1="${place.x(tick)}" x2="${place.x(tick)}" y1="${bottom}" y2="${bottom + 5}"/>`,
      ),
      ...xAxis.ticks.map((tick) =>
        text(place.x(tick), bottom + 18, written(tick), { size: 11, anchor: 'middle', isSoft: true }),
      ),
      `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
      text((left + right) / 2, bottom + 36, x.label, { anchor: 'middle', isSoft: true, width: right - left }),
      text(MARGIN, (top + bottom) / 2, y.label, { anchor: 'middle', isSoft: true, turned: true, width: PLOT_HEIGHT }),
      '<g clip-path="url(#plot)">',
      // Ours is drawn last, on top.
      ...series
        .map((one, n) => ({ one, color: colorOf(series, n) }))
        .toSorted((a, b) => Number(a.one.isOurs ?? false) - Number(b.one.isOurs ?? false))
        .map(({ one, color }) => drawn(one, color, place)),
      '</g>',
      legend.body,
    ].join('\n'),
  })
}

/**
 * @param {Series} series @param {string} color
 * @param {{ x: import('./chart-scale.mjs').Scale, y: import('./chart-scale.mjs').Scale, xIsLog: boolean, yIsLog: boolean }} place
 */
function drawn({ points, isOurs = false, isDashed = false }, color, place) {
  let path = ''
  let dots = ''
  let isBroken = true
  for (const [at, value] of points) {
    // A value that cannot be shown is a gap, not a line through unmeasured points.
    const isShown = canShow(at, place.xIsLog) && canShow(value, place.yIsLog)
    if (isShown) {
      path += `${isBroken ? 'M' : 'L'}${place.x(at)} ${place.y(value)}`
      if (points.length <= MOST_DOTS)
        dots += `<circle class="fill-${color}" cx="${place.x(at)}" cy="${place.y(value)}" r="3"/>`
    }
    isBroken = !isShown
  }
  if (path === '') return ''
  return `<path class="line-${color}" d="${path}" fill="none" stroke-width="${isOurs ? 2.5 : 1.8}" stroke-linejoin="round"${dashes(isDashed)}/>${dots}`
}

/** @param {boolean} isDashed */
function dashes(isDashed) {
  return isDashed ? ' stroke-dasharray="6 4"' : ''
}

/** @param {Band} band @param {import('./chart-scale.mjs').Scale} x @param {number} top */
function drawnBand({ label, from, to }, x, top) {
  const [start, end] = [Math.min(x(from), x(to)), Math.max(x(from), x(to))]
  return [
    `<rect class="band" x="${start}" y="${top}" width="${Math.round((end - start) * 10) / 10}" height="${PLOT_HEIGHT}"/>`,
    text(start + 2, top - 5, label, { size: 11, isSoft: true }),
  ]
}

/** @param {readonly Series[]} series @param {number} n which of them */
function colorOf(series, n) {
  const isOurs = series[n]?.isOurs ?? false
  const before = series.slice(0, n).filter((other) => (other.isOurs ?? false) === isOurs).length
  return isOurs ? `ours-${before % COLORS.ours}` : `other-${before % COLORS.others}`
}

/** @param {readonly Series[]} series @param {number} left @param {number} right */
function legendOf(series, left, right) {
  const parts = []
  let x = left
  let y = 8
  for (const [n, { label, isOurs = false, isDashed = false }] of series.entries()) {
    const width = Math.min(right - left, SAMPLE + 6 + widthOf(label, 12, isOurs) + 18)
    if (x > left && x + width > right) {
      x = left
      y += LEGEND_ROW
    }
    parts.push(
      `<line class="line-${colorOf(series, n)}" x1="${x}" x2="${x + SAMPLE}" y1="${y}" y2="${y}" stroke-width="${isOurs ? 3 : 2}"${dashes(isDashed)}/>`,
    )
    parts.push(text(x + SAMPLE + 6, y + 4, label, { isBold: isOurs, width: right - left - SAMPLE - 6 }))
    x += Math.ceil(width)
  }
  return { height: y + 16, body: parts.join('\n') }
}

/** @param {readonly Series[]} series @param {string} x @param {string} y */
function described(series, x, y) {
  const ends = series.map(({ label, points }) => {
    const last = points.findLast(([at, value]) => Number.isFinite(at) && Number.isFinite(value))
    return last === undefined ? `${label}: no result` : `${label}: ${written(last[1])} at ${written(last[0])}`
  })
  return `${y} over ${x}. Where each line ends: ${ends.join(', ')}`
}
