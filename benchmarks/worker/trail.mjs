/**
 * What does the trail of breadcrumbs cost of the worker's time per record? On against off in one run, on an application with 200
 * requests at once, of which each logs ten debug lines and one in ten fails; and on the three shapes, where each error takes
 * what came before it.
 */
import { start, withSink } from '../tools/children.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'

const VARIANTS = /** @type {const} */ (['off', 'on'])
const OPTIONS = { off: { spool: false, breadcrumbs: false }, on: { spool: false } }

/**
 * @param {{ rounds: number, records: number, tell: (line: string) => void }} settings
 * @returns {Promise<Record<string, Record<string, import('../tools/statistics.mjs').Spread>>>}
 */
export function measureTrail({ rounds, records, tell }) {
  return withSink(async (url) => {
    const shapes = ['requests', ...Object.keys(SHAPES)]
    const samples = new Map(shapes.map((shape) => [shape, new Samples()]))
    for (let round = 0; round < rounds; round += 1) {
      tell(`trail: round ${round + 1} of ${rounds}`)
      for (const [shape, ofShape] of samples) {
        for (const variant of round % 2 === 0 ? VARIANTS : VARIANTS.toReversed()) {
          /** @type {import('./worker.mjs').Run} */
          const run = await start(new URL('./app.mjs', import.meta.url), [shape, 'fast', url, String(records), JSON.stringify(OPTIONS[variant])]).first
          for (const [name, value] of Object.entries(run)) ofShape.add(`${variant}: ${name}`, value)
        }
      }
    }
    return /** @type {any} */ (Object.fromEntries([...samples].map(([shape, ofShape]) => [shape, ofShape.spreads()])))
  })
}

/** @param {Awaited<ReturnType<typeof measureTrail>>} result */
export function printTrail(result) {
  console.log('\nthe trail, us of the worker\'s CPU a record: median (min to max), and times "off"')
  for (const [shape, spreads] of Object.entries(result)) {
    const off = /** @type {import('../tools/statistics.mjs').Spread} */ (spreads['off: workerUs'])
    for (const variant of VARIANTS) {
      const { median, min, max } = /** @type {import('../tools/statistics.mjs').Spread} */ (spreads[`${variant}: workerUs`])
      console.log(`${shape.padEnd(8)} ${variant.padEnd(4)} ${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})  ${(median / off.median).toFixed(2)}`)
    }
  }
}
