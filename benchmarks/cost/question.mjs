/** The cost of a record in the worker by its size, form, breadcrumbs and options. */
import { start, withSink } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { Samples } from '../tools/statistics.mjs'
import { CASES } from './cases.mjs'
import { drawn, report } from './report.mjs'

/**
 * @typedef {{ rounds: number, records: number, mib: number }} Options
 * @typedef {import('./cases.mjs').Case & { spreads: Record<keyof import('./app.mjs').CostRun, import('../tools/statistics.mjs').Spread> }} Costed
 */

const MIB = 1024 * 1024

export const question = {
  name: 'cost',
  asks: "How does a record's cost in the worker depend on its size, width and depth, its breadcrumbs, and the options?",
  needsLinux: true,
  // `mib`: maximum text of one run, which limits the number of large records.
  options: { rounds: 3, records: 40_000, mib: 64 },
  quick: { rounds: 1, records: 3_000, mib: 8 },

  /** @param {{ options: Options, showProgress: (line: string) => void }} context @returns {Promise<Costed[]>} */
  measure({ options, showProgress }) {
    const samples = new Map(CASES.map((one) => [one, new Samples()]))
    return withSink(async (url) => {
      for (let round = 0; round < options.rounds; round += 1) {
        showProgress(`cost: round ${round + 1} of ${options.rounds}, ${CASES.length} cases`)
        for (const one of round % 2 === 0 ? CASES : CASES.toReversed()) {
          try {
            const run = await runOf(one, url, options)
            for (const [name, value] of Object.entries(run)) samples.get(one)?.add(name, value)
          } catch (error) {
            const { message, cause } = /** @type {Error} */ (error)
            showProgress(`does not count: ${message}: ${String(cause)}`)
          }
        }
      }
      return [...samples]
        .map(([one, ofOne]) => ({ ...one, spreads: /** @type {Costed['spreads']} */ (ofOne.spreads()) }))
        .filter(({ spreads }) => spreads.workerUs !== undefined)
    })
  },

  lines: report,
  charts: drawn,
}

/** @param {import('./cases.mjs').Case} one @param {string} url @param {Options} options @returns {Promise<import('./app.mjs').CostRun>} */
async function runOf({ recipe, options, hasKernel, needsDir, axis, series, label }, url, { records, mib }) {
  const { dir, clean } = scratchFolder()
  try {
    const spool = needsDir && { spool: { dir, .../** @type {object | undefined} */ (options['spool']) } }
    return await start(new URL('./app.mjs', import.meta.url), [
      JSON.stringify({ recipe, records, bytes: mib * MIB, hasKernel, options: { url, ...options, ...spool } }),
    ]).first
  } catch (error) {
    throw new Error(`${axis}, ${series}, ${label}`, { cause: error })
  } finally {
    clean()
  }
}
