/** Converts values to positions: the ends of an axis, its ticks, and formatted numbers. */

/**
 * @typedef {{ from: number, to: number, ticks: number[], isLog: boolean }} Axis
 * @typedef {(value: number) => number} Scale position of a value in px
 */

/**
 * An axis that contains all values and ends on a tick. Values it cannot show (not finite, or not above 0 on a log
 * axis) are ignored.
 *
 * @param {readonly number[]} values @param {{ isLog?: boolean, fromZero?: boolean, max?: number, ticks?: number }} [how] @returns {Axis}
 */
export function axisOf(values, { isLog = false, fromZero = false, max, ticks = 6 } = {}) {
  const shown = values.filter((value) => canShow(value, isLog))
  const ends = shown.reduce(({ from, to }, value) => ({ from: Math.min(from, value), to: Math.max(to, value) }), {
    from: Infinity,
    to: -Infinity,
  })
  const to = max !== undefined && canShow(max, isLog) ? max : ends.to
  if (shown.length === 0 && !canShow(to, isLog)) return isLog ? logAxis(1, 10) : linearAxis(0, 1, ticks)
  const from = Math.min(fromZero && !isLog ? 0 : Infinity, ends.from, to)
  return isLog ? logAxis(from, to) : linearAxis(from, fromZero ? Math.max(0, to) : to, ticks)
}

/** Values beyond this are not measurements, and near the limits of floating point the axis cannot be computed. */
const MOST = 1e100

/** @param {number} value @param {boolean} isLog */
export function canShow(value, isLog) {
  return Math.abs(value) <= MOST && (!isLog || value >= 1 / MOST)
}

const FAR_PX = 100_000

/** @param {Axis} axis @param {number} start px of its beginning @param {number} end px of its end @returns {Scale} */
export function scaleOf({ from, to, isLog }, start, end) {
  const place = isLog ? Math.log10 : Number
  const first = place(from)
  const range = place(to) - first
  const placed = (/** @type {number} */ value) => start + ((place(value) - first) / range) * (end - start)
  // A value far outside is not visible; a path could not contain 1e+21.
  return (value) => Math.round(Math.min(FAR_PX, Math.max(-FAR_PX, placed(value))) * 10) / 10
}

/** Steps of 1, 2 or 5 times a power of ten. @param {number} from @param {number} to @param {number} count @returns {Axis} */
function linearAxis(from, to, count) {
  // A range too small for floating point counts as empty.
  const size = Math.max(Math.abs(from), Math.abs(to))
  const isFlat = to - from <= Math.max(size * 1e-9, 1 / MOST)
  const range = isFlat ? Math.max(size, 1 / MOST) : to - from
  const power = 10 ** Math.floor(Math.log10(range / count))
  const step =
    power * /** @type {number} */ ([1, 2, 5, 10].find((times) => times * power * count >= range * (1 - 1e-9)) ?? 10)
  const first = Math.floor(from / step + 1e-9)
  const last = Math.max(first + 1, Math.ceil((isFlat ? from + range : to) / step - 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(14)))
  return { from: /** @type {number} */ (ticks[0]), to: /** @type {number} */ (ticks.at(-1)), ticks, isLog: false }
}

/**
 * Powers of ten; with few of them also 2 and 5 times each, with many only some. @param {number} from @param {number}
 * to @returns {Axis}
 */
function logAxis(from, to) {
  const first = Math.floor(Math.log10(from) + 1e-9)
  const decades = Math.max(1, Math.ceil(Math.log10(to) - 1e-9) - first)
  const every = Math.ceil(decades / 10)
  const last = first + Math.ceil(decades / every) * every
  const powers = Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n))
  const all =
    last - first <= 3
      ? powers.flatMap((power) => [power, 2 * power, 5 * power])
      : powers.filter((_, n) => n % every === 0)
  const ticks = all.map((tick) => Number(tick.toPrecision(12)))
  // The ends are ticks, too, but the nearest ones: half an empty decade shows nothing.
  const low = ticks.findLast((tick) => tick <= from * (1 + 1e-9)) ?? 10 ** first
  const high = ticks.find((tick) => tick >= to * (1 - 1e-9) && tick > low) ?? 10 ** last
  return { from: low, to: high, ticks: ticks.filter((tick) => tick >= low && tick <= high), isLog: true }
}

/** 0.042, 1.25, 38, 4,210, 138k, 2.4M: a measurement has three significant digits. @param {number} value */
export function written(value) {
  const size = Math.abs(value)
  if (size >= 999.5e6) return value.toExponential(1)
  if (size >= 999.5e3) return `${plain(value / 1e6)}M`
  if (size >= 9.995e3) return `${plain(value / 1e3)}k`
  return plain(value)
}

/** @param {number} value */
function plain(value) {
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1)
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: true })
}
