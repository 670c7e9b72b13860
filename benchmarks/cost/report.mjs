/** The costs as a table and as charts. */
import { barChart, lineChart } from '../tools/chart.mjs'
import { AXES } from './cases.mjs'

/** @typedef {import('./question.mjs').Costed} Costed */

const HEADS = {
  size: 'size, characters of a message or a value',
  width: 'width, keys of a record',
  depth: 'depth, levels of an object',
  breadcrumbs: 'breadcrumbs of an error, including their creation',
  options: 'options',
}
/** The cost grows no faster than the record, and an option costs no more than the work it does. */
const MOST_STEP = 1.5

/** @param {readonly Costed[]} result @returns {string[]} */
export function report(result) {
  return [
    "worker CPU, µs per sent record: median (min to max); times the first of its group; step; ns per byte of pino's output; records per second",
    'A step is the growth of the cost over the previous record, divided by the growth in bytes; for an option, the cost relative to none.',
    ...AXES.filter((axis) => groupsOf(result, axis).length > 0).flatMap((axis) => [
      '',
      HEADS[axis],
      ...groupsOf(result, axis).flatMap(([, group]) =>
        group.map((one) => line(one, plainOf(group), stepOf(one, group))),
      ),
    ]),
    '',
    verdict(result),
  ]
}

/** @param {readonly Costed[]} result */
function verdict(result) {
  const steps = AXES.flatMap((axis) =>
    groupsOf(result, axis).flatMap(([series, group]) =>
      group
        .filter(({ hasKernel }) => hasKernel)
        .map((one) => ({ name: `${axis}, ${series}, ${one.label}`, step: stepOf(one, group) }))
        .filter(({ step }) => step > MOST_STEP)
        .map(({ name, step }) => `${name}: ${step.toFixed(2)}`),
    ),
  )
  return `goal: no step above ${MOST_STEP}: ${steps.length === 0 ? 'holds' : `does not hold (${steps.join('; ')})`}`
}

/** @param {Costed} one @param {readonly Costed[]} group @returns {number} */
function stepOf(one, group) {
  const before = one.axis === 'options' ? plainOf(group) : group[group.indexOf(one) - 1]
  if (before === undefined) return 1
  const times = (/** @type {'workerUs' | 'bytesPerRecord'} */ what) =>
    one.spreads[what].median / before.spreads[what].median
  return times('workerUs') / Math.max(1, times('bytesPerRecord'))
}

/** @param {Costed} one @param {Costed} plain @param {number} step */
function line({ series, label, spreads: { workerUs, recordsPerSecond, bytesPerRecord } }, plain, step) {
  const times = workerUs.median / plain.spreads.workerUs.median
  return (
    `  ${series.padEnd(24)} ${label.padEnd(24)} ${cost(workerUs.median)} ${`(${cost(workerUs.min).trim()} to ${cost(workerUs.max).trim()})`.padEnd(18)} ` +
    `${times.toFixed(2).padStart(7)} times  step ${step.toFixed(2).padStart(5)}  ${((workerUs.median / bytesPerRecord.median) * 1000).toFixed(1).padStart(6)} ns/B  ${(recordsPerSecond.median / 1000).toFixed(1).padStart(6)}k/s`
  )
}

/** @param {number} us */
function cost(us) {
  return us.toFixed(us < 100 ? 2 : 0).padStart(7)
}

/** @param {readonly Costed[]} result @returns {Record<string, import('../tools/chart.mjs').Chart>} */
export function drawn(result) {
  return {
    'cost-size.svg': lines(result, 'size', true),
    'cost-width.svg': lines(result, 'width', false),
    'cost-depth.svg': lines(result, 'depth', false),
    'cost-breadcrumbs.svg': lines(result, 'breadcrumbs', false),
    'cost-options.svg': barChart({
      title: 'The cost of options',
      subtitle: 'worker CPU per logged record, minimum to maximum of the rounds',
      unit: 'µs',
      groups: groupsOf(result, 'options').map(([series, group]) => ({
        label: series,
        bars: group.map(({ label, isPlain, spreads: { workerUs } }) => ({
          label,
          value: workerUs.median,
          min: workerUs.min,
          max: workerUs.max,
          isOurs: isPlain,
          note: `${(workerUs.median / plainOf(group).spreads.workerUs.median).toFixed(2)} times`,
        })),
      })),
    }),
  }
}

/** @param {readonly Costed[]} result @param {Exclude<import('./cases.mjs').Axis, 'options'>} axis @param {boolean} isLog */
function lines(result, axis, isLog) {
  return lineChart({
    title: `The cost of a record by ${axis}`,
    subtitle: 'worker CPU per sent record, spool on',
    x: { label: HEADS[axis], isLog },
    y: { label: 'µs', isLog },
    series: groupsOf(result, axis).map(([label, group], at) => ({
      label,
      points: group.map(({ x, spreads }) => /** @type {[number, number]} */ ([x, spreads.workerUs.median])),
      isOurs: at === 0,
    })),
  })
}

/** @param {readonly Costed[]} result @param {import('./cases.mjs').Axis} axis @returns {[string, Costed[]][]} */
function groupsOf(result, axis) {
  /** @type {Map<string, Costed[]>} */
  const groups = new Map()
  for (const one of result.filter((each) => each.axis === axis))
    groups.set(one.series, [...(groups.get(one.series) ?? []), one])
  return [...groups]
}

/** @param {readonly Costed[]} group */
function plainOf(group) {
  return /** @type {Costed} */ (group.find(({ isPlain }) => isPlain))
}
