/** The cost of a record in the worker by its size, form, breadcrumbs and options. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start, withSink } from '../tools/children.mjs'
import { Samples } from '../tools/statistics.mjs'
import { AXES, CASES } from './cases.mjs'
import { drawn, report } from './report.mjs'

/**
 * @typedef {{ rounds: number, records: number, mib: number, axis: number }} Options
 * @typedef {import('./cases.mjs').Case & { spreads: Record<keyof import('./app.mjs').CostRun, import('../tools/statistics.mjs').Spread> }} Costed
 */

const MIB = 1024 * 1024

export const question = {
  name: 'cost',
  asks: "How does a record's cost in the worker depend on its size, width and depth, its breadcrumbs, and the options?",
  needsLinux: true,
  // `mib`: maximum text of one run, which limits the number of large records. `axis`: 1 size, 2 width, 3 depth, 4
  // breadcrumbs, 5 options, 0 all.
  options: { rounds: 3, records: 60_000, mib: 128, axis: 0 },
  quick: { rounds: 1, records: 8_000, mib: 24 },

  /** @param {{ options: Options, showProgress: (line: string) => void }} context @returns {Promise<Costed[]>} */
  measure({ options, showProgress }) {
    const cases = CASES.filter(({ axis }) => options.axis === 0 || axis === AXES[options.axis - 1])
    const samples = new Map(cases.map((one) => [one, new Samples()]))
    return withSink(async (url) => {
      for (let round = 0; round < options.rounds; round += 1) {
        showProgress(`cost: round ${round + 1} of ${options.rounds}, ${cases.length} cases`)
        for (const one of round % 2 === 0 ? cases : cases.toReversed()) {
          const run = await runOf(one, url, options)
          for (const [name, value] of Object.entries(run)) /** @type {Samples} */ (samples.get(one)).add(name, value)
        }
      }
      return [...samples].map(([one, ofOne]) => ({
        ...one,
        spreads: /** @type {Costed['spreads']} */ (ofOne.spreads()),
      }))
    })
  },

  lines: report,
  charts: drawn,
}

/** @param {import('./cases.mjs').Case} one @param {string} url @param {Options} options @returns {Promise<import('./app.mjs').CostRun>} */
async function runOf({ recipe, options, needsDir, axis, series, label }, url, { records, mib }) {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
  try {
    const all = needsDir
      ? { ...options, spool: { dir, .../** @type {object | undefined} */ (options['spool']) } }
      : options
    return await start(new URL('./app.mjs', import.meta.url), [
      JSON.stringify({ url, recipe, records, bytes: mib * MIB, options: all }),
    ]).first
  } catch (error) {
    throw new Error(`${axis}, ${series}, ${label}`, { cause: error })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
