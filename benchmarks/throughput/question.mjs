/**
 * An application, pino's worker with a transport, and a sink, in three processes. The application logs as fast as it
 * can.
 */
import { bars, compare, tableOf } from '../peers/compare.mjs'
import { ratioOf } from '../peers/ratios.mjs'
import { installPeers } from '../peers/install.mjs'
import { BASELINES, SPOOL_OFF, SPOOL_ON, peerSubjects } from '../peers/subjects.mjs'
import { barChart } from '../tools/chart.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { bar } from '../tools/table.mjs'
import { verdict } from './goals.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('./goals.mjs').State} State
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {Partial<Record<State, Partial<Record<Shape, Row[]>>>>} Result the selected parts
 */

const SHAPES_ASKED = /** @type {Shape[]} */ (Object.keys(SHAPES))
const STATES = /** @type {const} */ (['cold', 'warm'])
const MIX_NOTE =
  'The worker of pino-ingest receives debug lines for its breadcrumbs (level of the logger: debug); the workers of the peers do not (info).'
const MEANINGS = { cold: 'the first records of a process, from ready on', warm: 'after 100,000 records' }

export const question = {
  name: 'throughput',
  asks: 'How many entries per second are acknowledged, and at what cost of CPU and memory, compared with the peers?',
  needsLinux: true,
  /**
   * records: warm, after `warm-up`; cold-records: cold. shape: 1 small, 2 http, 3 error, 4 mix, 0 all. cold: 1 only
   * cold, 2 only warm, 0 both. peers: the first `peers` of `VERSIONS`, 6 are all. only-ours: 1 skips all others.
   */
  options: {
    rounds: 5,
    records: 150_000,
    'warm-up': 100_000,
    'cold-records': 30_000,
    shape: 0,
    cold: 0,
    peers: 3,
    'only-ours': 0,
  },
  quick: { rounds: 1, records: 30_000, 'warm-up': 50_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options, showProgress }) {
    const { rounds = 0, records = 0, 'warm-up': warmUp = 0, shape: number = 0, cold = 0, peers = 0 } = options
    const others = options['only-ours']
      ? []
      : [...peerSubjects(installPeers(showProgress)).slice(0, peers), ...BASELINES]
    const shapes = number > 0 ? SHAPES_ASKED.slice(number - 1, number) : SHAPES_ASKED
    const states = cold > 0 ? STATES.slice(cold - 1, cold) : STATES
    const loads = states.flatMap((state) =>
      shapes.map((shape) => {
        const counts = state === 'cold' ? { records: options['cold-records'], warmUp: 0 } : { records, warmUp }
        return [`${state} ${shape}`, { shape, ...counts, delayMs: 0 }]
      }),
    )
    const subjects = [SPOOL_ON, SPOOL_OFF, ...others]
    const found = await compare({ rounds, loads: Object.fromEntries(loads), subjects, showProgress })
    const of = (/** @type {State} */ state) => shapes.map((shape) => [shape, found[`${state} ${shape}`]])
    return Object.fromEntries(states.map((state) => [state, Object.fromEntries(of(state))]))
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
    const all = () => true
    /** @param {keyof import('../peers/run.mjs').Measured} key @param {(row: Row) => boolean} isShown @param {number} [unit] */
    const groups = (key, isShown, unit) =>
      measured(result).map(({ state, shape, rows }) => ({
        label: labelOf(state, shape),
        bars: bars(rows.filter(isShown), key, unit),
      }))
    /** @param {keyof import('../peers/run.mjs').Measured} key @param {import('../peers/ratios.mjs').Better} better */
    const ratios = (key, better) =>
      STATES.filter((state) => result[state] !== undefined).map((state) => ({
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
        groups: groups('entriesPerSecond', sends, 1000),
      }),
      'throughput-cpu.svg': barChart({
        title: "CPU of pino's worker for an entry",
        subtitle: 'Less is better.',
        unit: 'µs',
        groups: groups('workerUs', all),
      }),
      'throughput-memory.svg': barChart({
        title: 'Peak memory of the application',
        subtitle: 'Less is better. It logs as fast as it can; waiting records are included.',
        unit: 'MiB',
        groups: groups('peakMib', all),
      }),
    }
  },
}

/**
 * If nothing is sent, the bars are so long that all others are short. @param {import('../peers/compare.mjs').Row} row
 */
function sends({ isOurs, isPeer }) {
  return isOurs || isPeer
}

/** @param {Result} result @returns {{ state: State, shape: Shape, rows: Row[] }[]} */
function measured(result) {
  return STATES.flatMap((state) =>
    SHAPES_ASKED.flatMap((shape) => {
      const rows = result[state]?.[shape]
      return rows === undefined ? [] : [{ state, shape, rows }]
    }),
  )
}

/**
 * @param {{ shape: Shape, rows: Row[] }} load @param {keyof import('../peers/run.mjs').Measured} key
 * @param {import('../peers/ratios.mjs').Better} better
 */
function ratioBars({ shape, rows }, key, better) {
  const ours = rows.find(({ name }) => name === SPOOL_ON.name)
  const ratio = ours && ratioOf(rows, ours, key, better)
  return ratio === undefined ? [] : [{ label: `${shape}: ${SHAPES[shape].meaning}`, ...bar(ratio), isOurs: true }]
}

/** @param {State} state @param {Shape} shape */
function labelOf(state, shape) {
  return `${state}, ${shape}: ${SHAPES[shape].meaning}`
}
