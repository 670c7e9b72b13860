/** The cost of a log call on the application's main thread, and the delay of its event loop. */
import { barChart } from '../tools/chart.mjs'
import { start, withSink } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { SHAPES, SHAPE_NAMES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'
import { bar } from '../tools/table.mjs'
import { VARIANTS } from './loggers.mjs'
import { linesOf } from './print.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./app.mjs').Cost} Cost
 * @typedef {import('./loggers.mjs').Variant} Variant
 * @typedef {{ callUs: number, times: number, laterP50Ms: number, laterP99Ms: number, moreP99Ms: number }} Derived
 * @typedef {Record<Variant, Record<keyof Cost | keyof Derived, Spread>>} OfShape
 * @typedef {{ rounds: number, voidRounds: string[], shapes: Record<Shape, OfShape | null> }} Result
 *   null without a valid round
 */

/** Calls per second. */
export const RATE = 20_000
const names = /** @type {Variant[]} */ (Object.keys(VARIANTS))
const WARM_UP_RATE = 50_000
/** Each variant is measured this often per round, forwards and backwards. */
const PASSES = 2
const LOST = { value: NaN, note: 'no round counts' }

export const question = {
  name: 'main-thread',
  asks: "How much CPU of the application's main thread does a log call take, and how much does it delay the event loop?",
  needsLinux: true,
  options: { rounds: 3, sliceMs: 1_000, warmUpMs: 3_000 },
  quick: { rounds: 1, sliceMs: 300, warmUpMs: 1_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, sliceMs = 0, warmUpMs = 0 }, showProgress }) {
    return withSink(async (url) => {
      const samples = new Map(SHAPE_NAMES.map((shape) => [shape, new Samples()]))
      /** @type {string[]} */
      const voidRounds = []
      for (let round = 0; round < rounds; round += 1) {
        for (const [shape, ofShape] of samples) {
          showProgress(`round ${round + 1} of ${rounds}: ${shape}`)
          try {
            addTo(ofShape, await measureRound({ shape, round, url, sliceMs, warmUpMs }))
          } catch (error) {
            voidRounds.push(`${shape}, round ${round + 1}: ${String(error)}`)
            showProgress(`does not count: ${voidRounds.at(-1)}`)
          }
        }
      }
      const shapes = [...samples].map(([shape, ofShape]) => [shape, byVariant(ofShape)])
      return { rounds, voidRounds, shapes: Object.fromEntries(shapes) }
    })
  },

  lines: linesOf,

  /** @param {Result} result */
  charts({ shapes: ofShapes }) {
    return {
      'main-thread.svg': barChart({
        title: "The cost of a log call on the application's main thread",
        subtitle: 'CPU of the main thread at 20,000 calls per second, without the pacing',
        unit: 'µs of CPU per call',
        groups: groupsOf(ofShapes, 'callUs'),
      }),
      'main-thread-delay.svg': barChart({
        title: 'The delay of the event loop',
        subtitle:
          "The 99th percentile of a 1 ms timer's delay at 20,000 calls per second, above that of a process that logs nothing",
        unit: 'ms later',
        groups: groupsOf(ofShapes, 'laterP99Ms'),
      }),
    }
  },
}

/**
 * Starts new processes in each round, since two processes of one program may differ by some percent for their whole
 * life. They all run at the same time and alternate in slices, so that other load on the machine affects all of them.
 *
 * @param {{ shape: Shape, round: number, url: string, sliceMs: number, warmUpMs: number }} settings
 * @returns {Promise<Map<Variant, Cost>>} @throws Error if a record is lost
 */
async function measureRound({ shape, round, url, sliceMs, warmUpMs }) {
  const { dir, clean } = scratchFolder()
  const order = round % 2 === 0 ? names : names.toReversed()
  const children = order.map((variant) => ({
    variant,
    slices: /** @type {Cost[]} */ ([]),
    child: start(new URL('./app.mjs', import.meta.url), [variant, shape, url, dir]),
  }))
  try {
    await Promise.all(children.map(({ child }) => child.first))
    // V8 compiles the worker's code for the first records, in competition with the main thread.
    for (const { child } of children) await child.ask(JSON.stringify({ perSecond: WARM_UP_RATE, forMs: warmUpMs }))
    for (let pass = 0; pass < PASSES; pass += 1) {
      for (const { slices, child } of pass % 2 === 0 ? children : children.toReversed())
        slices.push(await child.ask(JSON.stringify({ perSecond: RATE, forMs: sliceMs })))
    }
    for (const { variant, child } of children) {
      const { lost } = await child.ask('end')
      if (lost !== 0) throw new Error(`${lost} records lost (${variant})`)
    }
    return new Map(children.map(({ variant, slices }) => [variant, meanOf(slices)]))
  } finally {
    await Promise.all(children.map(({ child }) => child.kill()))
    clean()
  }
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
 * Ratios are computed within the round, from adjacent slices.
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
      laterP50Ms: cost.delayP50Ms - ticks.delayP50Ms,
      laterP99Ms: cost.delayP99Ms - ticks.delayP99Ms,
      moreP99Ms: cost.delayP99Ms - dropping.delayP99Ms,
    }
    for (const [name, value] of Object.entries({ ...cost, ...derived })) samples.add(`${variant}: ${name}`, value)
  }
}

/** @param {Samples} samples @returns {OfShape | null} */
function byVariant(samples) {
  const spreads = samples.spreads()
  if (Object.keys(spreads).length === 0) return null
  /** @type {Record<string, Record<string, Spread>>} */
  const variants = {}
  for (const [name, spread] of Object.entries(spreads)) {
    const [variant, what] = /** @type {[string, string]} */ (name.split(': '))
    ;(variants[variant] ??= {})[what] = spread
  }
  return /** @type {OfShape} */ (variants)
}

/** @param {Result['shapes']} ofShapes @param {'callUs' | 'laterP99Ms'} what */
function groupsOf(ofShapes, what) {
  return Object.entries(ofShapes).map(([shape, ofShape]) => ({
    label: `${shape}: ${SHAPES[/** @type {Shape} */ (shape)].meaning}`,
    bars: names
      .filter((variant) => variant !== 'ticks')
      .map((variant) => ({
        label: VARIANTS[variant],
        isOurs: variant === 'ours' || variant === 'helpers',
        ...(ofShape === null ? LOST : bar(ofShape[variant][what])),
      })),
  }))
}
