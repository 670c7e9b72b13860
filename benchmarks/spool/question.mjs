/**
 * Compares the spool on and off in one run, on the real file system, with its defaults and its more expensive modes.
 */
import { barChart } from '../tools/chart.mjs'
import { bar, cell, table, thousands } from '../tools/table.mjs'
import { SHAPE_NAMES, SPOOL_WAVES, spoolFolder, workerRuns } from '../tools/worker-runs.mjs'

/** @typedef {Record<import('../tools/shapes.mjs').Shape, Record<typeof VARIANTS[number], import('../tools/worker-runs.mjs').Runs>>} Result */

const MIB = 1024 * 1024

const VARIANTS = /** @type {const} */ (['off', 'on', 'above maxBufferBytes', 'power'])

export const question = {
  name: 'spool',
  asks: "How much does the spool add to the worker's time: at its defaults, with little memory, and safe from power failures?",
  needsLinux: true,
  options: { rounds: 5, records: 150_000 },
  quick: { rounds: 1, records: 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, records = 0 }, showProgress }) {
    return workerRuns({
      rounds,
      records,
      cases: SHAPE_NAMES,
      variants: VARIANTS,
      showProgress,
      setUp: (shape, variant) => {
        const { dir, clean } = spoolFolder()
        return { options: optionsOf(variant, dir), wave: SPOOL_WAVES[shape], clean }
      },
    })
  },

  /** @param {Result} result */
  lines(result) {
    return [
      'µs of the worker\'s CPU per record: median (min to max), and more than "off"',
      '',
      ...table([
        ['', '', 'worker', 'more', 'acknowledged'],
        ...Object.entries(result).flatMap(([shape, variants]) =>
          VARIANTS.map((variant) => {
            const { workerUs, recordsPerSecond } = variants[variant]
            return [
              shape,
              variant,
              cell(workerUs),
              more(workerUs, variants.off.workerUs),
              thousands(recordsPerSecond.median),
            ]
          }),
        ),
      ]),
    ]
  },

  /** @param {Result} result */
  charts(result) {
    return {
      'spool.svg': barChart({
        title: 'What the spool costs',
        subtitle: "CPU of pino's worker. Less is better.",
        unit: 'µs per record',
        groups: Object.entries(result).map(([shape, variants]) => ({
          label: shape,
          bars: VARIANTS.map((variant) => ({
            label: variant,
            ...bar(variants[variant].workerUs),
            isOurs: variant === 'on',
            note: variant === 'off' ? '' : more(variants[variant].workerUs, variants.off.workerUs),
          })),
        })),
      }),
    }
  },
}

/** @param {typeof VARIANTS[number]} variant @param {string} dir */
function optionsOf(variant, dir) {
  switch (variant) {
    case 'off':
      return { spool: false }
    case 'on':
      return { spool: { dir } }
    // Waiting entries are evicted to disk and read back.
    case 'above maxBufferBytes':
      return { spool: { dir }, maxBufferBytes: MIB }
    case 'power':
      return { spool: { dir, durability: 'power' } }
  }
}

/** @param {import('../tools/statistics.mjs').Spread} value @param {import('../tools/statistics.mjs').Spread} off */
function more(value, off) {
  return `${((value.median / off.median - 1) * 100).toFixed(0)} %`
}
