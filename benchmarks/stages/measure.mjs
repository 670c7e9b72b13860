/** Each stage of the worker separately, in processes that do nothing else. */
import { start, withSink } from '../tools/children.mjs'
import { SHAPE_NAMES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'

/**
 * @typedef {(typeof SHAPE_NAMES)[number]} Shape
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 */

/** One process each: V8 would compile shared functions for all stages, which slows each down. */
const KINDS = ['split', 'fast', 'reference', 'breadcrumbs', 'disk', 'request']
const WARM_UP_ROUNDS = 5
/** The number of breadcrumbs that an error takes: the default of `breadcrumbs.limit`. */
export const TAKEN = 50

/**
 * The processes alternate within every round, so other load on the machine affects all of them.
 *
 * @param {{ rounds: number, records: number, showProgress: (line: string) => void }} settings
 * @returns {Promise<Record<Shape, { lineBytes: number, stages: Record<string, Spread> }>>}
 */
export function measureStages({ rounds, records, showProgress }) {
  return withSink(async (url) => {
    const children = KINDS.map((kind) => start(new URL('./app.mjs', import.meta.url), [kind, String(records), url]))
    const [ready] = await Promise.all(children.map((child) => child.first))
    const samples = new Map(SHAPE_NAMES.map((shape) => [shape, new Samples()]))
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      showProgress(round < 0 ? 'warm-up' : `stages: round ${round + 1} of ${rounds}`)
      for (const [shape, ofShape] of samples) {
        for (const child of round % 2 === 0 ? children : children.toReversed()) {
          for (const [name, us] of Object.entries(await child.ask(shape))) if (round >= 0) ofShape.add(name, us)
        }
      }
    }
    for (const child of children) child.stop()
    const result = [...samples].map(([shape, ofShape]) => [
      shape,
      { lineBytes: ready.lineBytes[shape], stages: ofShape.spreads() },
    ])
    return Object.fromEntries(result)
  })
}
