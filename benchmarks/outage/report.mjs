/** Prints the result with the goals. */
import { BESIDE_PER_SECOND } from './backlog.mjs'
import { spread } from '../tools/statistics.mjs'
import { cell } from '../tools/table.mjs'

const GOAL_PEAK_MB = 160
const GOAL_WAIT_MS = 2_000
const GOAL_SHARE = 0.8
const MB_PER_MIB = 1.048576

/** @param {import('./question.mjs').OutageResult} result @returns {string[]} */
export function report({ options, outages, floods, drains, beside }) {
  return [...outageLines(outages, options), '', ...backlogLines(floods, drains, beside, options)]
}

/** @param {readonly import('./question.mjs').OutageRun[]} all @param {import('./question.mjs').Options} options */
function outageLines(all, { perSecond, outageS }) {
  const runs = all.filter(({ lost }) => lost === 0)
  const failed = all.length - runs.length
  const head = [
    `${perSecond} per second, down for ${outageS} s (connections refused), spool on`,
    ...(failed > 0
      ? [`  ${failed} of ${all.length} runs LOST RECORDS (${all.map(({ lost }) => lost).join(', ')}) and do not count`]
      : []),
  ]
  if (runs.length === 0) return head
  const of = (/** @type {(run: typeof runs[number]) => number} */ value) => runs.map(value)
  const peak = (/** @type {'all' | 'before' | 'outage' | 'draining'} */ when) =>
    shown(
      of((run) => run.peakMib[when] * MB_PER_MIB),
      0,
    )
  const wait = (/** @type {'before' | 'draining'} */ when, /** @type {'p50' | 'p99' | 'max'} */ which) =>
    shown(
      of((run) => run.waitsMs[when]?.[which] ?? Number.NaN),
      0,
    )
  const undrained = runs.filter(({ drainedS }) => drainedS === null).length
  return [
    ...head,
    row(
      'lost, duplicated',
      `${runs.map(({ lost }) => lost).join(', ')}; ${runs.map(({ duplicated }) => duplicated).join(', ')}`,
    ),
    row(
      'peak memory, MB',
      `${peak('all')}  before ${peak('before')}, outage ${peak('outage')}, draining ${peak('draining')}`,
      verdict(Math.max(...of((run) => run.peakMib.all * MB_PER_MIB)) < GOAL_PEAK_MB, `under ${GOAL_PEAK_MB}`),
    ),
    row(
      'recovery detected, s',
      shown(
        of(({ heardAgainS }) => heardAgainS ?? Number.NaN),
        1,
      ),
    ),
    row(
      'drained after, s',
      undrained > 0
        ? `not within the time in ${undrained} of ${runs.length} runs`
        : `${shown(
            of(({ drainedS, upS }) => /** @type {number} */ (drainedS) - upS),
            1,
          )}  of up to ${Math.max(...of((run) => run.mostBacklog))} waiting; limited to 1.7 times the usual rate`,
    ),
    row(
      'delay of new records, ms',
      `p50 ${wait('draining', 'p50')}, p99 ${wait('draining', 'p99')}, longest ${wait('draining', 'max')}`,
      verdict(
        Math.max(...of((run) => run.waitsMs.draining?.max ?? Infinity)) <= GOAL_WAIT_MS,
        `${GOAL_WAIT_MS} at most, of those logged while draining`,
      ),
    ),
    row(
      '  before the outage',
      `p50 ${wait('before', 'p50')}, p99 ${wait('before', 'p99')}, longest ${wait('before', 'max')}`,
    ),
    row(
      'worker CPU, µs per record',
      `before ${shown(
        of((run) => run.workerUs.before),
        1,
      )}, outage ${shown(
        of((run) => run.workerUs.outage),
        1,
      )}, ` +
        `draining ${shown(
          of((run) => run.workerUs.draining),
          1,
        )} (one acknowledged)`,
    ),
  ]
}

/**
 * @param {readonly import('./backlog.mjs').Speed[]} floods @param {readonly import('./question.mjs').BacklogRun[]} drains
 * @param {readonly import('./question.mjs').BacklogRun[]} beside @param {import('./question.mjs').Options} options
 */
function backlogLines(floods, drains, beside, { backlog }) {
  const lost = [...floods, ...drains, ...beside].filter((run) => run.lost !== 0)
  if (lost.length > 0)
    return [`a backlog: ${lost.length} runs LOST RECORDS (${lost.map((run) => run.lost).join(', ')}): nothing counts`]
  // Compares the flood and the drain of the same round, minutes apart at most, and uses the median of the ratios.
  const shares = drains.map(
    ({ perSecond }, round) => perSecond / /** @type {typeof floods[number]} */ (floods[round]).perSecond,
  )
  const longest = beside.map(({ waitsMs }) => waitsMs?.max ?? Number.NaN)
  return [
    `${backlog} records left by a killed process, sent by the next one, http shape, spool on`,
    speedRow('live flood', floods),
    speedRow('backlog alone', drains),
    row(
      'backlog / live flood',
      shown(shares, 2),
      verdict(spread(shares).median >= GOAL_SHARE, `at least ${GOAL_SHARE}`),
    ),
    speedRow(`with ${BESIDE_PER_SECOND} new records per second`, beside),
    row(
      '  delay of the new ones, ms',
      `p50 ${shown(
        beside.map(({ waitsMs }) => waitsMs?.p50 ?? Number.NaN),
        0,
      )}, p99 ${shown(
        beside.map(({ waitsMs }) => waitsMs?.p99 ?? Number.NaN),
        0,
      )}, longest ${shown(longest, 0)}`,
      verdict(Math.max(...longest) <= GOAL_WAIT_MS, `${GOAL_WAIT_MS} at most`),
    ),
    row('duplicated', [...floods, ...drains, ...beside].map((run) => run.duplicated).join(', ')),
  ]
}

/** @param {string} name @param {readonly import('./backlog.mjs').Speed[]} runs */
function speedRow(name, runs) {
  return row(
    name,
    `${shown(
      runs.map(({ perSecond }) => perSecond / 1000),
      0,
    )}k/s, worker ${shown(
      runs.map(({ workerUs }) => workerUs),
      1,
    )} µs per entry, ` +
      `main ${shown(
        runs.map(({ mainUs }) => mainUs),
        1,
      )}, other threads ${shown(
        runs.map(({ othersUs }) => othersUs),
        1,
      )}`,
  )
}

/** @param {string} name @param {string} value @param {string} [more] */
function row(name, value, more) {
  return `  ${name.padEnd(26)} ${value}${more === undefined ? '' : `  [${more}]`}`
}

/** @param {boolean} isMet @param {string} goal */
function verdict(isMet, goal) {
  return `goal: ${goal}: ${isMet ? 'met' : 'MISSED'}`
}

/** @param {readonly number[]} values @param {number} digits */
function shown(values, digits) {
  return cell(spread(values), (value) => value.toFixed(digits))
}
