/**
 * Compares two results of the same question from different days or machines. A claim holds if their ranges overlap.
 * Pure.
 */
import { ratioOf, formatRatio } from '../peers/ratios.mjs'
import { table } from './table.mjs'

/**
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {import('./results.mjs').Kept} Kept
 */

const CLAIMS = /** @type {const} */ ([
  ['entriesPerSecond', 'most', 'entries/s'],
  ['workerUs', 'least', 'CPU of the worker'],
  ['peakMib', 'least', 'peak memory'],
  ['cpuMs', 'least', 'CPU of all threads'],
])

/** @param {Kept} one @param {Kept} other @returns {string[]} */
export function agreementOf(one, other) {
  const others = new Map(loadsOf(other.result))
  const lines = loadsOf(one.result).flatMap(([load, rows]) =>
    CLAIMS.flatMap(([key, better, what]) => {
      const [first, second] = [rows, others.get(load) ?? []].map((all) => {
        const ours = all.find(({ isOurs }) => isOurs)
        return ours && ratioOf(all, ours, /** @type {any} */ (key), better)
      })
      if (first === undefined || second === undefined) return []
      const agrees = first.min <= second.max && second.min <= first.max
      const weaker = better === 'most' ? Math.min(first.median, second.median) : Math.max(first.median, second.median)
      return [
        [`${load}: ${what}`, formatRatio(first), formatRatio(second), agrees ? 'agree' : 'DIFFER', weaker.toFixed(2)],
      ]
    }),
  )
  const head = (/** @type {Kept} */ { date, commit }) => `${date}, ${commit ?? 'no commit'}`
  return table([
    ['relative to the best peer of the round', head(one), head(other), 'ranges overlap', 'weaker value'],
    ...lines,
  ])
}

/** The tables of a result at any depth. @param {unknown} result @param {string} [name] @returns {[string, Row[]][]} */
function loadsOf(result, name = '') {
  if (Array.isArray(result)) return result.every((row) => Array.isArray(row?.runs)) ? [[name, result]] : []
  if (typeof result !== 'object' || result === null) return []
  return Object.entries(result).flatMap(([key, value]) => loadsOf(value, name === '' ? key : `${name}, ${key}`))
}
