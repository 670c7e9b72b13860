/** Computes scales, ticks and lines of a plot (pure). */
export interface Scale {
  readonly place: (value: number) => number
  readonly ticks: readonly number[]
}

/** Maximum ratio of values for a linear scale. */
const LOG_RATIO = 40

/** Creates a scale for durations from `bottom` to `top` in pixels; logarithmic if the values differ widely. */
export function createDurationScale(values: readonly number[], bottom: number, top: number): Scale {
  let max = 0
  let min = Infinity
  for (const value of values) {
    max = Math.max(max, value)
    if (value > 0) min = Math.min(min, value)
  }
  return max > 0 && max / min > LOG_RATIO
    ? logScale(min, max, bottom, top)
    : linearScale([0, Math.max(max, 1)], bottom, top)
}

/** Powers of ten are exact enough for ticks above it. */
const MIN_RANGE = 1e-200
/** Greater values are drawn at the edge: their ticks could be infinite. */
const MAX_VALUE = 1e300

/** Creates a linear scale for any numbers, with 0. @param minStep minimum distance of ticks, for example 1 for counts */
export function createNumberScale(values: readonly number[], bottom: number, top: number, minStep = 0): Scale {
  const limit = (value: number): number => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, value))
  const [min, max] = [limit(Math.min(0, ...values)), limit(Math.max(0, ...values))]
  const { ticks, place } = linearScale([min, max - min < MIN_RANGE ? min + 1 : max], bottom, top, minStep)
  return { ticks, place: (value) => place(limit(value)) }
}

const TICKS = 4

function linearScale([min, max]: readonly [number, number], bottom: number, top: number, minStep = 0): Scale {
  const step = Math.max(minStep, findNiceStep((max - min) / TICKS))
  const ticks = createStepTicks(Math.floor(min / step), Math.ceil(max / step), step)
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)]
  return { ticks, place: (value) => bottom + (top - bottom) * ((value - low) / (high - low)) }
}

/** Ticks from 0 to at most `max`. */
export function createLinearTicks(max: number): readonly number[] {
  if (max <= 0) return [0]
  const step = findNiceStep(max / TICKS)
  return createStepTicks(0, Math.floor(max / step), step)
}

function createStepTicks(first: number, last: number, step: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)))
}

/** Returns 1, 2 or 5 times a power of ten. */
function findNiceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  const factor = [1, 2, 5, 10].find((one) => one * power >= atLeast * 0.999) ?? 10
  return factor * power
}

/** Maximum number of powers of ten on a logarithmic scale. Smaller values are drawn at the bottom. */
const MAX_DECADES = 6

function logScale(min: number, max: number, bottom: number, top: number): Scale {
  const high = Math.ceil(Math.log10(max))
  const low = Math.max(Math.floor(Math.log10(min)), high - MAX_DECADES)
  const span = Math.max(1, high - low)
  const ticks = Array.from({ length: span + 1 }, (_, index) => 10 ** (low + index))
  return {
    ticks,
    place: (value) => bottom + (top - bottom) * (Math.max(0, Math.log10(Math.max(value, 10 ** low)) - low) / span),
  }
}

const TIME_STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
  ].map((seconds) => seconds * 1_000),
)

/** Returns at most `maxCount` round local times in the range. @param zoneMs offset of local time from UTC */
export function createTimeTicks(sinceMs: number, untilMs: number, maxCount: number, zoneMs: number): readonly number[] {
  const step = TIME_STEPS_MS.find((one) => (untilMs - sinceMs) / one <= maxCount) ?? (untilMs - sinceMs) / maxCount
  const ticks: number[] = []
  for (
    let at = Math.ceil((sinceMs + zoneMs) / step) * step - zoneMs;
    at <= untilMs && ticks.length <= maxCount;
    at += step
  )
    ticks.push(at)
  return ticks
}

export interface Buckets {
  readonly sinceMs: number
  readonly stepMs: number
  readonly count: number
}

export interface Bar {
  readonly class: string
  /** In pixels. */
  readonly height: number
}

export interface PlotLine {
  readonly key: string
  readonly text: string
  readonly class?: string
  readonly style?: Readonly<Record<string, string>>
  /** Pattern of the strokes, which tells lines apart without colors. */
  readonly dashes?: string
  /** Null is a gap. */
  readonly values: readonly (number | null)[]
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Line {
  /** SVG path data, with a move after each gap. */
  readonly path: string
  /** Points without a neighbor, which the path does not show. */
  readonly dots: readonly Point[]
}

/** @param points null is a gap */
export function createLine(points: readonly (Point | null)[]): Line {
  let path = ''
  const dots: Point[] = []
  points.forEach((point, index) => {
    if (point === null) return
    const hasLeft = (points[index - 1] ?? null) !== null
    if (!hasLeft && (points[index + 1] ?? null) === null) return void dots.push(point)
    path += `${hasLeft ? 'L' : 'M'}${round(point.x)} ${round(point.y)}`
  })
  return { path, dots }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
