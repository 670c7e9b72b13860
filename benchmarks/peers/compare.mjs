/** Compares subjects: runs them alternately, and formats a table. */
import { cell, table, us } from '../tools/table.mjs'
import { Samples } from '../tools/statistics.mjs'
import { run, withPeerSink } from './run.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./run.mjs').Measured} Measured
 * @typedef {import('./run.mjs').Load} Load
 * @typedef {import('./subjects.mjs').Subject} Subject
 *
 * @typedef {object} Row row of a table: one subject under one load
 * @property {string} name
 * @property {string} [version] of a package
 * @property {boolean} isOurs
 * @property {boolean} isPeer
 * @property {number} counted runs
 * @property {number} void runs that failed, or with a lost or duplicated record; they do not count otherwise
 * @property {number} lost
 * @property {number} duplicated
 * @property {(Measured | null)[]} runs by round; null: a void run
 * @property {Partial<Record<keyof Measured, Spread>>} spreads of the valid runs
 */

/**
 * @param {{ rounds: number, loads: Readonly<Record<string, Load>>, subjects: readonly Subject[], showProgress: (line: string) => void }} turns
 * @returns {Promise<Record<string, Row[]>>} by name of the load
 */
export async function compare({ rounds, loads, subjects, showProgress }) {
  const all = Object.entries(loads).map(([name, load]) => ({
    name,
    load,
    tallies: subjects.map((subject) => new Tally(subject)),
  }))
  await withPeerSink(async (sink) => {
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, load, tallies } of all) {
        showProgress(`round ${round + 1} of ${rounds}: ${name}`)
        for (const tally of round % 2 === 0 ? tallies : tallies.toReversed()) await tally.run(sink, load, showProgress)
      }
    }
  })
  return Object.fromEntries(all.map(({ name, tallies }) => [name, tallies.map((tally) => tally.row())]))
}

/** One subject over the rounds. */
class Tally {
  #subject
  #samples = new Samples()
  /** @type {(Measured | null)[]} */
  #runs = []
  #lost = 0
  #duplicated = 0

  /** @param {Subject} subject */
  constructor(subject) {
    this.#subject = subject
  }

  /** @param {Parameters<typeof run>[0]} sink @param {Load} load @param {(line: string) => void} showProgress */
  async run(sink, load, showProgress) {
    const { name } = this.#subject
    try {
      const { lost, duplicated, measured } = await run(sink, this.#subject, load)
      this.#lost += lost
      this.#duplicated += duplicated
      if (lost > 0 || duplicated > 0) throw new Error(`${lost} lost or not in time, ${duplicated} duplicated`)
      this.#runs.push(measured)
      for (const [key, value] of Object.entries(measured)) this.#samples.add(key, value)
    } catch (error) {
      this.#runs.push(null)
      showProgress(`${name}: ${String(error)}: this run does not count`)
    }
  }

  /** @returns {Row} */
  row() {
    const { name, version, isOurs = false } = this.#subject
    return {
      name,
      ...(version !== undefined && { version }),
      isOurs,
      isPeer: version !== undefined,
      counted: this.#runs.filter((measured) => measured !== null).length,
      void: this.#runs.filter((measured) => measured === null).length,
      lost: this.#lost,
      duplicated: this.#duplicated,
      runs: this.#runs,
      spreads: this.#samples.spreads(),
    }
  }
}

const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US')
const COLUMNS = /** @type {const} */ ([
  ['entries/s', 'entriesPerSecond', whole],
  ['worker µs', 'workerUs', us],
  ['worker + V8 µs', 'workerAndOthersUs', us],
  ['main µs', 'mainUs', us],
  ['peak MiB', 'peakMib', whole],
  ['entries a request', 'entriesPerRequest', whole],
])

/** @param {readonly Row[]} rows @returns {string[]} */
export function tableOf(rows) {
  return [
    ...table([
      ['median (min to max); µs of CPU per entry', ...COLUMNS.map(([title]) => title)],
      ...rows.map(({ name, version = '', spreads }) => [
        `${name} ${version}`,
        ...COLUMNS.map(([, key, written]) => cell(spreads[key], written)),
      ]),
    ]),
    ...rows
      .filter((row) => row.void > 0)
      .map(
        (row) =>
          `${row.name}: ${row.void} of ${row.void + row.counted} runs do not count: ${row.lost} records lost or not there after 60 s, ${row.duplicated} duplicated`,
      ),
  ]
}

/** A chart bar for each row. @param {readonly Row[]} rows @param {keyof Measured} key @param {number} [unit] */
export function bars(rows, key, unit = 1) {
  return rows.map(({ name, isOurs, spreads, void: lossy }) => {
    const spread = spreads[key]
    if (spread === undefined) return { label: name, value: 0, isOurs, note: 'no run counts' }
    return {
      label: name,
      value: spread.median / unit,
      min: spread.min / unit,
      max: spread.max / unit,
      isOurs,
      ...(lossy > 0 && { note: `${lossy} runs left out` }),
    }
  })
}
