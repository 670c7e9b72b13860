/** The cost for an application that logs little, as most do. */
import { installPeers } from '../peers/install.mjs'
import { claimLines } from '../peers/ratios.mjs'
import { EMPTY, OURS, peerSubjects } from '../peers/subjects.mjs'
import { barChart } from '../tools/chart.mjs'
import { Samples } from '../tools/statistics.mjs'
import { bar, cell, table } from '../tools/table.mjs'
import { runAtRate } from './run.mjs'

/**
 * @typedef {import('./run.mjs').Measured} Measured
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ name: string, version?: string, isOurs: boolean, isPeer: boolean, runs: (Measured | null)[], spreads: Partial<Record<keyof Measured, Spread>> }} Row
 * @typedef {Record<string, Row[]>} Result by records per second
 */

const RATES = [1, 100, 1_000]
/** Records per second of the subjects that run at the same time, so that they do not disturb each other. */
const MOST_AT_ONCE = 2_000
/** There is no warm-up: the transport has connected and sent something by then. */
const LEAD_MS = 3_000
/** Peers that deliver later are not comparable. */
const IN_TIME_MS = 2_000
/** CPU of all threads, as a ratio to the lowest of the peers that deliver in time. */
const GOAL = 1

export const question = {
  name: 'rates',
  asks: 'How much CPU, how many wake-ups and requests per second do 1, 100 and 1,000 records per second take, compared with the peers?',
  needsLinux: true,
  options: { rounds: 3, seconds: 20 },
  quick: { rounds: 1, seconds: 8 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, seconds = 0 }, showProgress }) {
    const subjects = [OURS, ...peerSubjects(installPeers(showProgress)), EMPTY]
    const all = RATES.flatMap((perSecond) => subjects.map((subject) => ({ perSecond, subject, row: rowOf(subject) })))
    for (let round = 0; round < rounds; round += 1) {
      for (const together of groupsOf(round % 2 === 0 ? all : all.toReversed())) {
        showProgress(`round ${round + 1} of ${rounds}: ${together.length} applications`)
        await Promise.all(
          together.map(async ({ perSecond, subject, row }) => {
            try {
              const { lost, measured } = await runAtRate(subject, { perSecond, leadMs: LEAD_MS, forMs: seconds * 1000 })
              if (lost !== 0) throw new Error(`${lost} lost (negative: duplicated)`)
              row.runs.push(measured)
            } catch (error) {
              row.runs.push(null)
              showProgress(`${row.name}: ${String(error)}: this run does not count`)
            }
          }),
        )
      }
    }
    return Object.fromEntries(
      RATES.map((rate) => [
        rate,
        all.filter(({ perSecond }) => perSecond === rate).map(({ row }) => ({ ...row, spreads: spreadsOf(row.runs) })),
      ]),
    )
  },

  /** @param {Result} result */
  lines(result) {
    return Object.entries(result).flatMap(([perSecond, rows]) => [
      `${perSecond} per second: the mix, 9 % of it below the sent level`,
      ...verdict(rows),
      ...tableOf(rows),
      '',
    ])
  },

  /** @param {Result} result */
  charts(result) {
    /** @param {keyof Measured} key */
    const groups = (key) =>
      Object.entries(result).map(([perSecond, rows]) => ({
        label: `${Number(perSecond).toLocaleString('en-US')} per second`,
        bars: rows.map(({ name, isOurs, spreads: { [key]: spread, delayP99Ms } }) => ({
          label: name,
          isOurs,
          ...(spread === undefined ? { value: NaN, note: 'no run without a loss' } : bar(spread)),
          ...(delayP99Ms !== undefined &&
            delayP99Ms.median > IN_TIME_MS && { note: `after ${(delayP99Ms.median / 1000).toFixed(0)} s` }),
        })),
      }))
    return {
      'rates.svg': barChart({
        title: 'CPU of the application at low rates',
        subtitle:
          'Less is better. All threads; the mix of records. A note shows the delay of a transport if it is above 2 s.',
        unit: 'ms of CPU per second',
        groups: groups('cpuMs'),
      }),
      'rates-wake-ups.svg': barChart({
        title: 'Wake-ups at low rates',
        subtitle: 'Less is better. Wake-ups of the worker per second.',
        unit: 'per second',
        groups: groups('workerWakeUps'),
      }),
    }
  },
}

/** @param {import('../peers/subjects.mjs').Subject} subject @returns {Omit<Row, 'spreads'>} */
function rowOf({ name, version, isOurs = false }) {
  return { name, ...(version !== undefined && { version }), isOurs, isPeer: version !== undefined, runs: [] }
}

/** @template {{ perSecond: number }} T @param {readonly T[]} all @returns {T[][]} in order, as many as may run at once */
function groupsOf(all) {
  /** @type {T[][]} */
  const groups = []
  let sum = Infinity
  for (const one of all) {
    if (sum + one.perSecond > MOST_AT_ONCE) {
      groups.push([])
      sum = 0
    }
    groups.at(-1)?.push(one)
    sum += one.perSecond
  }
  return groups
}

/** @param {readonly (Measured | null)[]} runs */
function spreadsOf(runs) {
  const samples = new Samples()
  for (const run of runs) for (const [name, value] of Object.entries(run ?? {})) samples.add(name, value)
  return samples.spreads()
}

/** @param {readonly Row[]} rows @returns {string[]} */
function verdict(rows) {
  const inTime = rows.filter(
    ({ isPeer, spreads: { delayP99Ms } }) => isPeer && (delayP99Ms?.median ?? Infinity) <= IN_TIME_MS,
  )
  if (inTime.length === 0) return ['no peer delivers within 2 s']
  return [
    `within 2 s (99 of 100 entries) deliver: ${inTime.map(({ name }) => name).join(', ')}`,
    ...claimLines(
      rows.filter((row) => row.isOurs || inTime.includes(row)),
      [
        { key: 'cpuMs', better: 'least', what: 'CPU of all threads', goal: GOAL },
        { key: 'workerMs', better: 'least', what: 'CPU of the worker' },
        { key: 'workerWakeUps', better: 'least', what: 'wake-ups of the worker' },
        { key: 'requests', better: 'least', what: 'requests' },
      ],
    ),
  ]
}

const tenths = (/** @type {number} */ value) => value.toFixed(1)
const COLUMNS = /** @type {const} */ ([
  ['CPU ms/s', 'cpuMs'],
  ['main', 'mainMs'],
  ['worker', 'workerMs'],
  ['others', 'othersMs'],
  ['wake-ups/s', 'wakeUps'],
  ['of the worker', 'workerWakeUps'],
  ['requests/s', 'requests'],
  ['delay p50 ms', 'delayP50Ms'],
  ['p99 ms', 'delayP99Ms'],
])

/** @param {readonly Row[]} rows @returns {string[]} */
function tableOf(rows) {
  return table([
    ['median (min to max)', ...COLUMNS.map(([title]) => title)],
    ...rows.map(({ name, version = '', spreads }) => [
      `${name} ${version}`,
      ...COLUMNS.map(([, key]) => cell(spreads[key], key === 'workerMs' || key === 'cpuMs' ? undefined : tenths)),
    ]),
  ])
}
