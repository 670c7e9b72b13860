/** The cost for an application that logs little, as most do. */
import { installPeers } from '../peers/install.mjs'
import { ratioOf, formatRatio } from '../peers/ratios.mjs'
import { BASELINES, SPOOL_ON, peerSubjects } from '../peers/subjects.mjs'
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
/**
 * At low rates all subjects run at the same time, so other load on the machine affects all of them; at higher rates
 * they would disturb each other.
 */
const MOST_AT_ONCE = 1_000
/** There is no warm-up: the transport has connected and sent something by then. */
const LEAD_MS = 5_000
/** Peers that deliver later are not comparable. */
const IN_TIME_MS = 2_000
/** CPU of all threads, as a ratio to the lowest of the peers that deliver in time. */
const GOAL = 1

export const question = {
  name: 'rates',
  asks: 'How much CPU, how many wake-ups and requests per second do 1, 100 and 1,000 records per second take, compared with the peers?',
  needsLinux: true,
  /** peers: the first `peers` of `VERSIONS`, 6 are all. */
  options: { rounds: 3, seconds: 60, peers: 6 },
  quick: { rounds: 1, seconds: 10 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, seconds = 0, peers = 0 }, showProgress }) {
    const dropping = BASELINES.filter(({ name }) => name === 'a worker that drops all')
    const subjects = [SPOOL_ON, ...peerSubjects(installPeers(showProgress)).slice(0, peers), ...dropping]
    const all = RATES.map((perSecond) => ({
      perSecond,
      rows: subjects.map((subject) => ({ subject, row: rowOf(subject) })),
    }))
    for (let round = 0; round < rounds; round += 1) {
      for (const { perSecond, rows } of all) {
        showProgress(`round ${round + 1} of ${rounds}: ${perSecond} per second`)
        const inOrder = round % 2 === 0 ? rows : rows.toReversed()
        const atOnce = Math.max(1, Math.floor(MOST_AT_ONCE / perSecond))
        for (let first = 0; first < inOrder.length; first += atOnce) {
          await Promise.all(
            inOrder.slice(first, first + atOnce).map(async ({ subject, row }) => {
              const { lost, measured } = await runAtRate(subject, { perSecond, leadMs: LEAD_MS, forMs: seconds * 1000 })
              if (lost !== 0)
                showProgress(`${subject.name}: ${lost} lost (negative: duplicated): this run does not count`)
              row.runs.push(lost === 0 ? measured : null)
            }),
          )
        }
      }
    }
    return Object.fromEntries(
      all.map(({ perSecond, rows }) => [perSecond, rows.map(({ row }) => ({ ...row, spreads: spreadsOf(row.runs) }))]),
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
          label: isOurs ? `pino-ingest, ${name}` : name,
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
    ...table([
      ['times the best of them in the round', 'median (min to max)'],
      ...rows
        .filter(({ isOurs }) => isOurs)
        .flatMap((ours) =>
          /** @type {const} */ ([
            ['cpuMs', 'CPU of all threads', GOAL],
            ['workerMs', 'CPU of the worker', undefined],
            ['workerWakeUps', 'wake-ups of the worker', undefined],
            ['requests', 'requests', undefined],
          ]).flatMap(([key, what, goal]) => {
            const ratio = ratioOf(inTime, ours, key, 'least')
            if (ratio === undefined) return []
            const said =
              goal === undefined ? '' : `goal at most ${goal}: ${ratio.median <= goal ? 'holds' : 'does not hold'}`
            return [[`${ours.name}: ${what}`, formatRatio(ratio), said]]
          }),
        ),
    ]),
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
