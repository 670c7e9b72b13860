/** Prints the result as tables. */
import { cell, table } from '../tools/table.mjs'
import { VARIANTS } from './loggers.mjs'

/**
 * @typedef {import('./question.mjs').Result} Result
 * @typedef {import('./question.mjs').AtRate} AtRate
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
  const lines = [
    'CPU of the main thread per call and delay of its timers, both above those of the ticks alone: median (min to max)',
    ...voidRounds.map((round) => `does not count: ${round}`),
  ]
  const sentences = []
  for (const [shape, ofShape] of Object.entries(shapes)) {
    for (const [rate, atRate] of Object.entries(ofShape)) {
      const title = `${shape}, ${Number(rate).toLocaleString('en')} per second`
      if (atRate === null) sentences.push(`${title}: none of ${rounds} rounds counts`)
      else {
        lines.push('', title, ...table([HEAD, ...rowsOf(atRate)]))
        sentences.push(sentence(title, Number(rate), atRate))
      }
    }
  }
  return [
    ...lines,
    '',
    `goals: at most ${GOAL_TIMES} times a worker that drops everything, p99 at most ${GOAL_MORE_MS} ms more`,
    ...sentences,
  ]
}

/** @param {AtRate} atRate */
function rowsOf({ variants }) {
  return /** @type {Variant[]} */ (Object.keys(VARIANTS)).map((variant) => {
    const of = variants[variant]
    const rate = Math.round(of.callsPerSecond.median).toLocaleString('en')
    if (variant === 'ticks')
      return [
        `${VARIANTS.ticks} (subtracted from the others)`,
        cell(of.mainUs),
        '',
        cell(of.delayP50Ms, hundredths),
        cell(of.delayP99Ms, hundredths),
        '',
        rate,
        '',
        '',
      ]
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

/** @param {string} title @param {number} rate @param {AtRate} atRate */
function sentence(title, rate, { variants: { ours, helpers } }) {
  const cost = `${ours.times.median.toFixed(2)} times (${verdict(ours.times.median <= GOAL_TIMES)}; ${ours.grossTimes.median.toFixed(2)} including the ticks)`
  const delay = `p99 ${signed(ours.moreP99Ms.median)} ms (${verdict(ours.moreP99Ms.median <= GOAL_MORE_MS)})`
  const held =
    ours.callsPerSecond.min >= 0.99 * rate
      ? ''
      : `; the rate was not held: ${Math.round(ours.callsPerSecond.min).toLocaleString('en')}`
  return `${title}: ${cost}, ${delay}; with ingestOptions() ${helpers.times.median.toFixed(2)} times${held}`
}

/** @param {boolean} isMet */
function verdict(isMet) {
  return isMet ? 'met' : 'missed'
}

/** Two significant digits, also near zero. @param {number} value */
function hundredths(value) {
  return value.toFixed(2)
}

/** @param {number} value */
function signed(value) {
  return `${value < 0 ? '' : '+'}${value.toFixed(2)}`
}
