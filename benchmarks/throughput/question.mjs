/**
 * An application, pino's worker with a transport, and a sink, in three processes. The application logs as fast as it
 * can.
 */
import { bars, compare, tableOf } from '../peers/compare.mjs'
import { ratioOf } from '../peers/ratios.mjs'
import { installPeers } from '../peers/install.mjs'
import { OURS, peerSubjects } from '../peers/subjects.mjs'
import { barChart } from '../tools/chart.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { bar } from '../tools/table.mjs'
import { verdict } from './goals.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('./goals.mjs').State} State
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {Record<State, Record<Shape, Row[]>>} Result
 */

const SHAPES_ASKED = /** @type {Shape[]} */ (Object.keys(SHAPES))
const STATES = /** @type {const} */ (['cold', 'warm'])
const MIX_NOTE = 'the peers get no debug lines (level of the logger: info), pino-ingest does (debug)'
const MEANINGS = { cold: 'the first records of a process, from ready on', warm: 'after 100,000 records' }

export const question = {
  name: 'throughput',
  asks: 'How many entries per second are acknowledged, and at what cost of CPU and memory, compared with the peers?',
  needsLinux: true,
  /** records: warm, after `warm-up`; cold-records: cold. only-ours: 1 skips the peers. */
  options: { rounds: 3, records: 80_000, 'warm-up': 100_000, 'cold-records': 30_000, 'only-ours': 0 },
  quick: { rounds: 1, records: 20_000, 'warm-up': 30_000, 'cold-records': 20_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options, showProgress }) {
    const { rounds = 0, records = 0, 'warm-up': warmUp = 0, 'cold-records': coldRecords = 0 } = options
    const peers = options['only-ours'] ? [] : peerSubjects(installPeers(showProgress))
    const loads = STATES.flatMap((state) =>
      SHAPES_ASKED.map((shape) => {
        const counts = state === 'cold' ? { records: coldRecords, warmUp: 0 } : { records, warmUp }
        return [`${state} ${shape}`, { shape, ...counts, delayMs: 0 }]
      }),
    )
    const found = await compare({ rounds, loads: Object.fromEntries(loads), subjects: [OURS, ...peers], showProgress })
    const of = (/** @type {State} */ state) => SHAPES_ASKED.map((shape) => [shape, found[`${state} ${shape}`]])
    return /** @type {Result} */ (Object.fromEntries(STATES.map((state) => [state, Object.fromEntries(of(state))])))
  },

  /** @param {Result} result */
  lines(result) {
    return measured(result).flatMap(({ state, shape, rows }) => [
      `${labelOf(state, shape)} (${MEANINGS[state]})`,
      ...(shape === 'mix' ? [MIX_NOTE] : []),
      ...verdict(state, shape, rows),
      ...tableOf(rows),
      '',
    ])
  },

  /** @param {Result} result */
  charts(result) {
    /** @param {keyof import('../peers/run.mjs').Measured} key @param {number} [unit] */
    const groups = (key, unit) =>
      measured(result).map(({ state, shape, rows }) => ({
        label: labelOf(state, shape),
        bars: bars(rows, key, unit),
      }))
    /** @param {keyof import('../peers/run.mjs').Measured} key @param {import('../peers/ratios.mjs').Better} better */
    const ratios = (key, better) =>
      STATES.map((state) => ({
        label: `${state}: ${MEANINGS[state]}`,
        bars: [
          ...measured(result).flatMap((load) => (load.state === state ? ratioBars(load, key, better) : [])),
          { label: 'the best peer', value: 1 },
        ],
      }))
    return {
      'throughput-ratios.svg': barChart({
        title: 'Entries acknowledged per second, relative to the best peer',
        subtitle: 'More is better. With the spool on.',
        unit: 'times the best peer',
        groups: ratios('entriesPerSecond', 'most'),
      }),
      'throughput-cpu-ratios.svg': barChart({
        title: "CPU of pino's worker per entry, relative to the best peer",
        subtitle: 'Less is better. With the spool on.',
        unit: 'times the best peer',
        groups: ratios('workerUs', 'least'),
      }),
      'throughput.svg': barChart({
        title: 'Entries acknowledged per second',
        subtitle: 'More is better. pino-ingest sends at most 100 a request, the peers as many as they like.',
        unit: 'thousand per second',
        groups: groups('entriesPerSecond', 1000),
      }),
      'throughput-cpu.svg': barChart({
        title: "CPU of pino's worker for an entry",
        subtitle: 'Less is better.',
        unit: 'µs',
        groups: groups('workerUs'),
      }),
      'throughput-memory.svg': barChart({
        title: 'Peak memory of the application',
        subtitle: 'Less is better. It logs as fast as it can; waiting records are included.',
        unit: 'MiB',
        groups: groups('peakMib'),
      }),
    }
  },
}

/** @param {Result} result @returns {{ state: State, shape: Shape, rows: Row[] }[]} */
function measured(result) {
  return STATES.flatMap((state) => SHAPES_ASKED.map((shape) => ({ state, shape, rows: result[state][shape] })))
}

/**
 * @param {{ shape: Shape, rows: Row[] }} load @param {keyof import('../peers/run.mjs').Measured} key
 * @param {import('../peers/ratios.mjs').Better} better
 */
function ratioBars({ shape, rows }, key, better) {
  const ours = rows.find(({ isOurs }) => isOurs)
  const ratio = ours && ratioOf(rows, ours, key, better)
  return ratio === undefined ? [] : [{ label: `${shape}: ${SHAPES[shape].meaning}`, ...bar(ratio), isOurs: true }]
}

/** @param {State} state @param {Shape} shape */
function labelOf(state, shape) {
  return `${state}, ${shape}: ${SHAPES[shape].meaning}`
}
