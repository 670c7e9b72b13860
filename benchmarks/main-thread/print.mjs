/** Prints the result as tables. */
import { cell, table } from '../tools/table.mjs'
import { VARIANTS } from './loggers.mjs'

/**
 * @typedef {import('./question.mjs').Result} Result
 * @typedef {import('./question.mjs').OfShape} OfShape
 * @typedef {import('./loggers.mjs').Variant} Variant
 */

const GOAL_TIMES = 1.05
const GOAL_MORE_MS = 1
const HEAD = [
  '',
  'µs per call',
  'times dropping',
  'later p50, ms',
  'later p99, ms',
  'p99 more than dropping',
  'calls per second',
  'worker slept/s',
  'messages/s',
]

/** @param {Result} result */
export function linesOf({ rounds, voidRounds, shapes }) {
  return [
    'CPU of the main thread per call and delay of its timers, both above those of the ticks alone: median (min to max)',
    ...voidRounds.map((round) => `does not count: ${round}`),
    ...Object.entries(shapes).flatMap(([shape, of]) =>
      of === null
        ? ['', `${shape}: none of ${rounds} rounds counts`]
        : ['', ...table([[shape, ...HEAD.slice(1)], ...rowsOf(of)]), verdict(of)],
    ),
  ]
}

/** @param {OfShape} ofShape */
function rowsOf(ofShape) {
  return /** @type {Variant[]} */ (Object.keys(VARIANTS)).map((variant) => {
    const of = ofShape[variant]
    const rate = Math.round(of.callsPerSecond.median).toLocaleString('en')
    const delays = [cell(of.delayP50Ms, hundredths), cell(of.delayP99Ms, hundredths)]
    if (variant === 'ticks')
      return [`${VARIANTS.ticks} (subtracted from the others)`, cell(of.mainUs), '', ...delays, '', rate, '', '']
    return [
      VARIANTS[variant],
      cell(of.callUs),
      cell(of.times, hundredths),
      cell(of.laterP50Ms, hundredths),
      cell(of.laterP99Ms, hundredths),
      cell(of.moreP99Ms, hundredths),
      rate,
      of.waitsPerSecond.median.toFixed(0),
      of.messagesPerSecond.median.toFixed(1),
    ]
  })
}

/** @param {OfShape} ofShape */
function verdict({ ours: { times, moreP99Ms } }) {
  const met = (/** @type {boolean} */ isMet) => (isMet ? 'met' : 'missed')
  return `goals: at most ${GOAL_TIMES} times a worker that drops everything: ${met(times.median <= GOAL_TIMES)}; p99 at most ${GOAL_MORE_MS} ms more: ${met(moreP99Ms.median <= GOAL_MORE_MS)}`
}

/** Two significant digits, also near zero. @param {number} value */
function hundredths(value) {
  return value.toFixed(2)
}
