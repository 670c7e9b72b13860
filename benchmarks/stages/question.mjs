/** The distribution of a record's time in pino's worker: each stage separately, and the whole worker. */
import { barChart } from '../tools/chart.mjs'
import { bar, cell, table, us } from '../tools/table.mjs'
import { canMeasureThreads } from '../tools/threads.mjs'
import { SHAPE_NAMES, SPOOL_WAVES, spoolFolder, workerRuns } from '../tools/worker-runs.mjs'
import { TAKEN, measureStages } from './measure.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ lineBytes: number, stages: Record<string, Spread>, worker?: Spread }} OfShape worker: the whole worker, spool and breadcrumbs on
 * @typedef {Record<string, OfShape>} Result µs of CPU per record
 */

/** The stages in order. Together with the rest they are the whole work of the worker for a record. */
const FLOW = /** @type {const} */ ([
  ['split', 'split into lines'],
  ['map', 'map to an entry'],
  ['breadcrumbs', 'breadcrumbs buffered, taken'],
  ['batch', 'write into a batch'],
  ['frame', 'frame with CRC'],
  ['write', 'append to the segment'],
  ['request', 'request'],
  ['settle', 'record the acknowledgement'],
])
const REST = 'all the rest'
/** Stages and their alternatives. */
const INSTEAD = /** @type {const} */ ([
  ['split', 'split: split2', 'split by split2'],
  ['split', 'split: pino-abstract-transport', 'split by pino-abstract-transport'],
  ['map', 'map: reference', 'map by parse, map, stringify'],
  ['batch', 'batch: reference', 'write the result of that into a batch'],
])
const FURTHER = /** @type {const} */ ([
  ['breadcrumbs: taken', `${TAKEN} breadcrumbs taken, µs per error`],
  ['request: 32 in flight', 'request, 32 in flight'],
])

export const question = {
  name: 'stages',
  asks: "Where does a record's time go in pino's worker: split, map, breadcrumbs, batch, frame, write, request?",
  options: { rounds: 11, records: 30_000, workerRounds: 5, workerRecords: 150_000 },
  quick: { rounds: 3, records: 10_000, workerRounds: 1, workerRecords: 50_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, records = 0, workerRounds = 0, workerRecords = 0 }, showProgress }) {
    const stages = await measureStages({ rounds, records, showProgress })
    if (!canMeasureThreads) {
      showProgress(
        'the whole worker: skipped, because the CPU time of a thread is read from /proc, which only Linux has',
      )
      return stages
    }
    const workers = await workerRuns({
      rounds: workerRounds,
      records: workerRecords,
      cases: SHAPE_NAMES,
      variants: ['all'],
      showProgress: (line) => showProgress(`the whole worker: ${line}`),
      setUp: (shape) => {
        const { dir, clean } = spoolFolder()
        return { options: { spool: { dir } }, wave: SPOOL_WAVES[shape], clean }
      },
    })
    return Object.fromEntries(
      SHAPE_NAMES.map((shape) => [shape, { ...stages[shape], worker: workers[shape].all.workerUs }]),
    )
  },

  /** @param {Result} result */
  lines(result) {
    return [
      'µs of CPU per record: median (min to max), and its share of the whole worker',
      ...Object.entries(result).flatMap(linesOf),
    ]
  },

  /** @param {Result} result */
  charts(result) {
    return {
      'stages.svg': barChart({
        title: "Where a record's time goes in the worker",
        subtitle:
          "Each stage alone; the rest is the whole worker, spool and breadcrumbs on, without them: reading pino's memory, decoding, waking up.",
        unit: 'µs of CPU per record',
        groups: Object.entries(result).map(([shape, of]) => ({
          label: `${shape}, ${of.lineBytes} bytes a line${of.worker === undefined ? '' : `: ${us(of.worker.median)} µs in all`}`,
          bars: [
            ...FLOW.map(([name, label]) => ({ label, ...bar(stage(of, name)), isOurs: true })),
            ...(of.worker === undefined ? [] : [{ label: REST, value: restOf(of, of.worker) }]),
          ],
        })),
      }),
    }
  },
}

/** @param {[string, OfShape]} entry */
function linesOf([shape, of]) {
  const { worker } = of
  const share = (/** @type {number} */ value) =>
    worker === undefined ? '' : `${((value / worker.median) * 100).toFixed(0)} %`
  const flow = FLOW.map(([name, label]) => [label, cell(stage(of, name)), share(stage(of, name).median)])
  const whole =
    worker === undefined
      ? []
      : [
          [REST, us(restOf(of, worker)), share(restOf(of, worker))],
          ['the whole worker, spool and breadcrumbs on', cell(worker), share(worker.median)],
        ]
  const instead = INSTEAD.map(([ours, name, label]) => [
    label,
    cell(stage(of, name)),
    `${(stage(of, name).median / stage(of, ours).median).toFixed(1)} times`,
  ])
  const further = FURTHER.map(([name, label]) => [label, cell(stage(of, name)), ''])
  const rows = [
    [`${shape}, ${of.lineBytes} bytes a line`, '', ''],
    ...flow,
    ...whole,
    ['instead', '', ''],
    ...instead,
    ['further', '', ''],
    ...further,
  ]
  return ['', ...table(rows)]
}

/** @param {OfShape} of @param {string} name */
function stage(of, name) {
  const spread = of.stages[name]
  if (spread === undefined) throw new RangeError(`no stage ${name} in the result`)
  return spread
}

/**
 * Separate stages have warmer caches than the worker; the difference is part of the rest. @param {OfShape} of @param
 * {Spread} worker
 */
function restOf(of, worker) {
  return FLOW.reduce((left, [name]) => left - stage(of, name).median, worker.median)
}
