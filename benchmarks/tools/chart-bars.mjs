/** Horizontal bars, one per row, with readable names: ours in color, the others in gray. */
import { MARGIN, WIDTH, card, text, widthOf } from './chart-frame.mjs'
import { axisOf, canShow, scaleOf, written } from './chart-scale.mjs'

/**
 * @typedef {{ label: string, value: number, min?: number, max?: number, isOurs?: boolean, note?: string }} Bar
 *   a value that is NaN (a void run) has no bar, only its note
 * @typedef {{ label: string, bars: Bar[] }} Group
 */

const ROW = 22
const BAR = 14
const GROUP_HEAD = 26
const GROUP_GAP = 10
const AXIS_HEIGHT = 40

/** @param {{ title: string, subtitle?: string, unit: string, groups: Group[] }} chart @returns {string} SVG */
export function barChart({ title, subtitle, unit, groups }) {
  const bars = groups.flatMap((group) => group.bars)
  const labelWidth = Math.ceil(
    Math.min(300, Math.max(60, ...bars.map(({ label, isOurs }) => widthOf(label, 12, isOurs) + 4))),
  )
  const noteWidth = Math.ceil(
    Math.min(240, Math.max(40, ...bars.map((bar) => widthOf(said(bar), 12, bar.isOurs) + 14))),
  )
  const left = MARGIN + labelWidth + 8
  const right = WIDTH - MARGIN - noteWidth
  const axis = axisOf(
    bars.flatMap(({ value, min, max }) =>
      canShow(value, false) ? [value, shownOr(min, value), shownOr(max, value)] : [],
    ),
    { fromZero: true },
  )
  const scale = scaleOf(axis, left, right)
  const rows = []
  const grid = []
  let y = 0
  for (const group of groups) {
    // A single group without a name needs no line.
    if (group.label !== '') {
      rows.push(text(MARGIN, y + 16, group.label, { size: 13, isBold: true, width: WIDTH - 2 * MARGIN }))
      y += GROUP_HEAD
    }
    // The grid does not cross the names of the groups.
    const bottom = y + group.bars.length * ROW
    for (const tick of axis.ticks)
      grid.push(
        `<line class="${tick === 0 ? 'axis' : 'grid'}" x1="${scale(tick)}" x2="${scale(tick)}" y1="${y}" y2="${bottom}"/>`,
      )
    for (const bar of group.bars) {
      rows.push(row(bar, y, { scale, labelWidth, noteWidth }))
      y += ROW
    }
    y += GROUP_GAP
  }
  const hasWhiskers = bars.some(({ value, min, max }) => shownOr(min, value) !== value || shownOr(max, value) !== value)
  const caption = hasWhiskers ? `${unit} (the thin line: least to most of the rounds)` : unit
  return card({
    title,
    subtitle,
    height: y + AXIS_HEIGHT,
    description:
      groups
        .map(({ label, bars: ofGroup }) => `${label}: ${ofGroup.map((bar) => `${bar.label} ${said(bar)}`).join(', ')}`)
        .join('. ') + `. In ${unit}`,
    body: [
      ...grid,
      ...axis.ticks.map((tick) =>
        text(scale(tick), y + 15, written(tick), { size: 11, anchor: 'middle', isSoft: true }),
      ),
      text(left, y + 34, caption, { isSoft: true, width: WIDTH - MARGIN - left }),
      ...rows,
    ].join('\n'),
  })
}

/** @param {Bar} bar @param {number} y @param {{ scale: import('./chart-scale.mjs').Scale, labelWidth: number, noteWidth: number }} place */
function row(bar, y, { scale, labelWidth, noteWidth }) {
  const { label, value, min, max, isOurs = false } = bar
  const baseline = y + BAR / 2 + 6
  const name = text(MARGIN + labelWidth, baseline, label, { anchor: 'end', isBold: isOurs, width: labelWidth })
  const zero = scale(0)
  if (!canShow(value, false))
    return [name, text(zero + 6, baseline, said(bar), { isSoft: true, width: noteWidth })].join('\n')
  const end = scale(value)
  const [from, to] = [Math.min(zero, end), Math.max(zero, end)]
  const parts = [
    name,
    `<rect class="fill-${isOurs ? 'ours-0' : 'other-0'}" x="${from}" y="${y + 2}" width="${Math.round((to - from) * 10) / 10}" height="${BAR}" rx="2"/>`,
  ]
  const least = scale(shownOr(min, value))
  const most = scale(shownOr(max, value))
  if (least !== most) {
    const middle = y + 2 + BAR / 2
    const cap = (/** @type {number} */ x) => `M${x} ${middle - 4}V${middle + 4}`
    parts.push(
      `<path class="whisker" d="M${least} ${middle}H${most}${cap(least)}${cap(most)}" fill="none" stroke-width="1.3"/>`,
    )
  }
  parts.push(text(Math.max(to, most, least) + 6, baseline, said(bar), { isBold: isOurs, width: noteWidth }))
  return parts.join('\n')
}

/** @param {number | undefined} value @param {number} fallback */
function shownOr(value, fallback) {
  return value !== undefined && canShow(value, false) ? value : fallback
}

/** @param {Bar} bar */
function said({ value, note }) {
  if (!canShow(value, false)) return note ?? 'no result'
  return note === undefined || note === '' ? written(value) : `${written(value)} · ${note}`
}
