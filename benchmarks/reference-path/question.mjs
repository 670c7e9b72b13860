/** End to end: an application, pino's worker with the real transport, and a sink, as real processes. */
import { barChart } from '../tools/chart.mjs'
import { bar, cell, table, thousands } from '../tools/table.mjs'
import { SHAPE_NAMES, workerRuns } from '../tools/worker-runs.mjs'

/** @typedef {Record<import('../tools/shapes.mjs').Shape, Record<'fast' | 'reference', import('../tools/worker-runs.mjs').Runs>>} Result */

const ROWS = /** @type {const} */ ([
  ['worker thread', 'workerUs'],
  ['main thread', 'mainUs'],
  ['threads of V8 and libuv', 'othersUs'],
])

export const question = {
  name: 'reference-path',
  asks: "How much of the worker's time does the kernel save over JSON.parse, map and JSON.stringify?",
  needsLinux: true,
  options: { rounds: 5, records: 150_000 },
  quick: { rounds: 1, records: 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, records = 0 }, showProgress }) {
    return workerRuns({
      rounds,
      records,
      cases: SHAPE_NAMES,
      variants: ['fast', 'reference'],
      showProgress,
      setUp: (_, path) => ({ path }),
    })
  },

  /** @param {Result} result */
  lines(result) {
    return [
      'µs of CPU per record, spool off: median (min to max)',
      ...Object.entries(result).flatMap(([shape, { fast, reference }]) => [
        '',
        ...table([
          [shape, 'fast', 'reference', 'reference / fast'],
          ...ROWS.map(([label, key]) => [
            label,
            cell(fast[key]),
            cell(reference[key]),
            (reference[key].median / fast[key].median).toFixed(1),
          ]),
          [
            'acknowledged',
            cell(fast.recordsPerSecond, thousands),
            cell(reference.recordsPerSecond, thousands),
            (reference.recordsPerSecond.median / fast.recordsPerSecond.median).toFixed(1),
          ],
        ]),
      ]),
    ]
  },

  /** @param {Result} result */
  charts(result) {
    return {
      'reference-path.svg': barChart({
        title: 'What the kernel saves',
        subtitle: "CPU of pino's worker, spool off. Less is better.",
        unit: 'µs per record',
        groups: Object.entries(result).map(([shape, { fast, reference }]) => ({
          label: shape,
          bars: [
            { label: 'kernel', ...bar(fast.workerUs), isOurs: true },
            {
              label: 'parse, map, stringify',
              ...bar(reference.workerUs),
              note: `${(reference.workerUs.median / fast.workerUs.median).toFixed(1)} times`,
            },
          ],
        })),
      }),
    }
  },
}
