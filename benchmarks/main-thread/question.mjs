/** The cost of a log call on the application's main thread, and the delay of its event loop. */
import { barChart } from '../tools/chart.mjs'
import { start, withSink } from '../tools/children.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'
import { bar } from '../tools/table.mjs'
import { SHAPE_NAMES, spoolFolder } from '../tools/worker-runs.mjs'
import { VARIANTS } from './loggers.mjs'
import { linesOf } from './print.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./app.mjs').Cost} Cost
 * @typedef {import('./loggers.mjs').Variant} Variant
 * @typedef {{ callUs: number, times: number, grossTimes: number, laterP50Ms: number, laterP99Ms: number, moreP99Ms: number }} Derived
 * @typedef {{ variants: Record<Variant, Record<keyof Cost | keyof Derived, Spread>> }} AtRate
 * @typedef {{ rounds: number, voidRounds: string[], shapes: Record<Shape, Record<string, AtRate | null>> }} Result
 *   null without a valid round
 */

const RATES = [5_000, 20_000, 50_000]
const names = /** @type {Variant[]} */ (Object.keys(VARIANTS))
/** Each rate is measured this often per round, forwards and backwards. */
const PASSES = 2
const LOST = { value: NaN, note: 'records were lost' }

export const question = {
  name: 'main-thread',
  asks: "How much CPU of the application's main thread does a log call take, and how much does it delay the event loop?",
  needsLinux: true,
  options: { rounds: 5, sliceMs: 1_000, warmUpMs: 4_000 },
  quick: { rounds: 1, sliceMs: 300, warmUpMs: 1_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, sliceMs = 0, warmUpMs = 0 }, showProgress }) {
    return withSink(async (url) => {
      const samples = new Map(
        SHAPE_NAMES.map((shape) => [shape, new Map(RATES.map((rate) => [String(rate), new Samples()]))]),
      )
      /** @type {string[]} */
      const voidRounds = []
      for (let round = 0; round < rounds; round += 1) {
        for (const [shape, ofShape] of samples) {
          showProgress(`round ${round + 1} of ${rounds}: ${shape}`)
          const { costs, lost } = await measureRound({ shape, round, url, sliceMs, warmUpMs })
          if (lost.length > 0) {
            voidRounds.push(`${shape}, round ${round + 1}: ${lost.join(', ')}`)
            showProgress(`does not count: ${voidRounds.at(-1)}`)
          } else for (const [rate, ofRate] of costs) addTo(/** @type {Samples} */ (ofShape.get(String(rate))), ofRate)
        }
      }
      const spreads = [...samples].map(([shape, ofShape]) => [
        shape,
        Object.fromEntries([...ofShape].map(([rate, ofRate]) => [rate, byVariant(ofRate)])),
      ])
      return { rounds, voidRounds, shapes: Object.fromEntries(spreads) }
    })
  },

  lines: linesOf,

  /** @param {Result} result */
  charts({ shapes: ofShapes }) {
    return { 'main-thread.svg': costChart(ofShapes), 'main-thread-delay.svg': delayChart(ofShapes) }
  },
}

/**
 * Starts new processes in each round, since two processes of one program may differ by some percent for their whole
 * life. They all run at the same time and alternate in slices, so that other load on the machine affects all of them.
 *
 * @param {{ shape: Shape, round: number, url: string, sliceMs: number, warmUpMs: number }} settings
 * @returns {Promise<{ costs: Map<number, Map<Variant, Cost>>, lost: string[] }>}
 */
async function measureRound({ shape, round, url, sliceMs, warmUpMs }) {
  const { dir, clean } = spoolFolder()
  const order = round % 2 === 0 ? names : names.toReversed()
  const children = order.map((variant) => ({
    variant,
    child: start(new URL('./app.mjs', import.meta.url), [variant, shape, url, dir]),
  }))
  await Promise.all(children.map(({ child }) => child.first))
  // V8 compiles the worker's code for the first 200,000 records, in competition with the main thread.
  for (const { child } of children) await child.ask(JSON.stringify({ perSecond: Math.max(...RATES), forMs: warmUpMs }))
  const costs = new Map()
  for (const perSecond of RATES) {
    /** @type {Map<Variant, Cost[]>} */
    const slices = new Map(names.map((variant) => [variant, []]))
    for (let pass = 0; pass < PASSES; pass += 1) {
      for (const { variant, child } of pass % 2 === 0 ? children : children.toReversed()) {
        slices.get(variant)?.push(await child.ask(JSON.stringify({ perSecond, forMs: sliceMs })))
      }
    }
    costs.set(perSecond, new Map([...slices].map(([variant, ofVariant]) => [variant, meanOf(ofVariant)])))
  }
  const lost = []
  for (const { variant, child } of children) {
    const { lost: count } = await child.ask('end')
    if (count !== 0) lost.push(`${count} records lost (${variant})`)
  }
  clean()
  return { costs, lost }
}

/** @param {readonly Cost[]} slices @returns {Cost} */
function meanOf(slices) {
  const keys = /** @type {(keyof Cost)[]} */ (Object.keys(slices[0] ?? {}))
  return /** @type {Cost} */ (
    Object.fromEntries(keys.map((key) => [key, slices.reduce((sum, slice) => sum + slice[key], 0) / slices.length]))
  )
}

/**
 * The cost of a call is the thread's time beyond that of the ticks; a timer's delay is also relative to the ticks.
 * Ratios are computed within the round, from adjacent slices; `grossTimes` includes the ticks in both.
 *
 * @param {Samples} samples @param {Map<Variant, Cost>} costs
 */
function addTo(samples, costs) {
  const ticks = /** @type {Cost} */ (costs.get('ticks'))
  const dropping = /** @type {Cost} */ (costs.get('dropping'))
  for (const [variant, cost] of costs) {
    const callUs = cost.mainUs - ticks.mainUs
    /** @type {Derived} */
    const derived = {
      callUs,
      times: callUs / (dropping.mainUs - ticks.mainUs),
      grossTimes: cost.mainUs / dropping.mainUs,
      laterP50Ms: cost.delayP50Ms - ticks.delayP50Ms,
      laterP99Ms: cost.delayP99Ms - ticks.delayP99Ms,
      moreP99Ms: cost.delayP99Ms - dropping.delayP99Ms,
    }
    for (const [name, value] of Object.entries({ ...cost, ...derived })) samples.add(`${variant}: ${name}`, value)
  }
}

/** @param {Samples} samples @returns {AtRate | null} */
function byVariant(samples) {
  const spreads = samples.spreads()
  if (Object.keys(spreads).length === 0) return null
  /** @type {Record<string, Record<string, Spread>>} */
  const variants = {}
  for (const [name, spread] of Object.entries(spreads)) {
    const [variant, what] = /** @type {[string, string]} */ (name.split(': '))
    ;(variants[variant] ??= {})[what] = spread
  }
  return /** @type {AtRate} */ ({ variants })
}

/** @param {Result['shapes']} ofShapes */
function costChart(ofShapes) {
  return barChart({
    title: "The cost of a log call on the application's main thread",
    subtitle: 'CPU of the main thread at 20,000 calls per second, without the pacing',
    unit: 'µs of CPU per call',
    groups: groupsOf(ofShapes, ['20000'], 'callUs', (shape) => `${shape}: ${SHAPES[shape].meaning}`),
  })
}

/** @param {Result['shapes']} ofShapes */
function delayChart(ofShapes) {
  return barChart({
    title: 'The delay of the event loop',
    subtitle: "HTTP records; the 99th percentile of a 1 ms timer's delay, above that of a process that logs nothing",
    unit: 'ms later',
    groups: groupsOf(
      { http: ofShapes.http },
      RATES.map(String),
      'laterP99Ms',
      (_shape, rate) => `${Number(rate).toLocaleString('en')} per second`,
    ),
  })
}

/**
 * @param {Partial<Result['shapes']>} ofShapes @param {string[]} rates @param {'callUs' | 'laterP99Ms'} what
 * @param {(shape: Shape, rate: string) => string} label
 */
function groupsOf(ofShapes, rates, what, label) {
  return Object.entries(ofShapes).flatMap(([shape, ofShape]) =>
    rates.map((rate) => ({
      label: label(/** @type {Shape} */ (shape), rate),
      bars: names
        .filter((variant) => variant !== 'ticks')
        .map((variant) => {
          const spread = ofShape[rate]?.variants[variant][what]
          return {
            label: VARIANTS[variant],
            isOurs: variant === 'ours' || variant === 'helpers',
            ...(spread === undefined ? LOST : bar(spread)),
          }
        }),
    })),
  )
}
