/**
 * Compares breadcrumbs on and off in one run: an application with 200 concurrent requests, each of which logs ten debug lines
 * and one in ten of which fails; and the three shapes, where each error takes the records before it.
 */
import { barChart } from '../tools/chart.mjs'
import { bar, cell, table } from '../tools/table.mjs'
import { SHAPE_NAMES, workerRuns } from '../tools/worker-runs.mjs'

/** @typedef {Record<string, Record<'off' | 'on', import('../tools/worker-runs.mjs').Runs>>} Result */

const OPTIONS = { off: { spool: false, breadcrumbs: false }, on: { spool: false } }

export const question = {
  name: 'breadcrumbs',
  asks: "How much do breadcrumbs add to the worker's time?",
  needsLinux: true,
  options: { rounds: 5, records: 150_000 },
  quick: { rounds: 1, records: 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, records = 0 }, showProgress }) {
    return workerRuns({
      rounds,
      records,
      cases: ['requests', ...SHAPE_NAMES],
      variants: /** @type {const} */ (['off', 'on']),
      showProgress,
      setUp: (_, variant) => ({ options: OPTIONS[variant] }),
    })
  },

  /** @param {Result} result */
  lines(result) {
    return [
      "µs of the worker's CPU per record, spool off: median (min to max)",
      '',
      ...table([
        ['', 'off', 'on', 'on / off'],
        ...Object.entries(result).map(([shape, { off, on }]) => [
          shape,
          cell(off.workerUs),
          cell(on.workerUs),
          (on.workerUs.median / off.workerUs.median).toFixed(2),
        ]),
      ]),
    ]
  },

  /** @param {Result} result */
  charts(result) {
    return {
      'breadcrumbs.svg': barChart({
        title: 'What breadcrumbs cost',
        subtitle: "CPU of pino's worker, spool off. Less is better.",
        unit: 'µs per record',
        groups: Object.entries(result).map(([shape, { off, on }]) => ({
          label: LABELS.get(shape) ?? shape,
          bars: [
            { label: 'off', ...bar(off.workerUs) },
            {
              label: 'on',
              ...bar(on.workerUs),
              isOurs: true,
              note: `${(on.workerUs.median / off.workerUs.median).toFixed(2)} times`,
            },
          ],
        })),
      }),
    }
  },
}

const LABELS = new Map([
  ['requests', '200 concurrent requests, ten debug lines each, one in ten fails'],
  ['error', 'error: each takes the one before it'],
])
