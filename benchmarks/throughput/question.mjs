/** An application, pino's worker with a transport, and a sink, in three processes: the application logs as fast as it can. */
import { bars, compare, tableOf } from '../peers/compare.mjs'
import { installPeers } from '../peers/install.mjs'
import { BASELINES, SPOOL_OFF, SPOOL_ON, peerSubjects } from '../peers/subjects.mjs'
import { barChart } from '../tools/chart.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { verdict } from './goals.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {Record<Shape, import('../peers/compare.mjs').Row[]>} Result of the shapes that were asked for
 */

const SHAPE_NAMES = /** @type {Shape[]} */ (Object.keys(SHAPES))

export const question = {
  name: 'throughput',
  asks: 'How many entries a second are acknowledged, and at what cost of CPU and memory, beside the peers?',
  needsLinux: true,
  /** shape: 1 small, 2 http, 3 error, 0 all. only-ours: 1 leaves all others out. */
  options: { rounds: 5, records: 150_000, shape: 0, 'only-ours': 0 },
  quick: { rounds: 1, records: 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, records = 0, shape: number = 0, 'only-ours': onlyOurs = 0 }, tell }) {
    const others = onlyOurs > 0 ? [] : [...peerSubjects(installPeers(tell)), ...BASELINES]
    const shapes = number > 0 ? SHAPE_NAMES.slice(number - 1, number) : SHAPE_NAMES
    const loads = Object.fromEntries(shapes.map((shape) => [shape, { shape, records, delayMs: 0 }]))
    return /** @type {Result} */ (await compare({ rounds, loads, subjects: [SPOOL_ON, SPOOL_OFF, ...others], tell }))
  },

  /** @param {Result} result */
  lines(result) {
    return SHAPE_NAMES.filter((shape) => shape in result).flatMap((shape) => [
      labelOf(shape),
      ...tableOf(result[shape]),
      ...verdict(shape, result[shape]),
      '',
    ])
  },

  /** @param {Result} result */
  charts(result) {
    const shapes = SHAPE_NAMES.filter((shape) => shape in result)
    const all = () => true
    /** @param {keyof import('../peers/run.mjs').Measured} key @param {(row: import('../peers/compare.mjs').Row) => boolean} isShown @param {number} [unit] */
    const groups = (key, isShown, unit) =>
      shapes.map((shape) => ({ label: labelOf(shape), bars: bars(result[shape].filter(isShown), key, unit) }))
    return {
      'throughput.svg': barChart({
        title: 'Entries acknowledged a second',
        subtitle: 'More is better. pino-ingest sends at most 100 a request, the peers as many as they like.',
        unit: 'thousand a second',
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
        subtitle: 'Less is better. It logs as fast as it can; what waits for its turn is part of it.',
        unit: 'MiB',
        groups: groups('peakMib', all),
      }),
    }
  },
}

/** Where nothing is sent the bars are so long that the others are all short. @param {import('../peers/compare.mjs').Row} row */
function sends({ isOurs, isPeer }) {
  return isOurs || isPeer
}

/** @param {Shape} shape */
function labelOf(shape) {
  return `${shape}: ${SHAPES[shape].meaning}`
}
