/**
 * Ratios of pino-ingest to the best peer, computed per round, since other load on the machine affects all runs of a
 * round.
 */
import { cell } from '../tools/table.mjs'
import { spread } from '../tools/statistics.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./run.mjs').Measured} Measured
 * @typedef {import('./compare.mjs').Row} Row
 * @typedef {'most' | 'least'} Better
 *
 * @typedef {{ key: keyof Measured, better: Better, what: string, goal?: number, aim?: number }} Claim
 */

/** @type {Readonly<Record<Better, { best: (...values: number[]) => number, bound: string, holds: (ratio: number, goal: number) => boolean }>>} */
const RULES = {
  most: { best: Math.max, bound: 'at least', holds: (ratio, goal) => ratio >= goal },
  least: { best: Math.min, bound: 'at most', holds: (ratio, goal) => ratio <= goal },
}

/**
 * @template {string} K
 * @typedef {{ isPeer: boolean, runs: readonly (Readonly<Partial<Record<K, number>>> | null)[] }} Compared by round
 */

/**
 * @template {string} K
 * @param {readonly Compared<K>[]} rows @param {Compared<K>} ours @param {K} key @param {Better} better
 * @returns {Spread | undefined} of the rounds with a valid run of ours and of a peer
 */
export function ratioOf(rows, ours, key, better) {
  const ratios = ours.runs.flatMap((run, round) => {
    const value = run?.[key]
    const peers = rows.filter(({ isPeer }) => isPeer).flatMap(({ runs }) => runs[round]?.[key] ?? [])
    return value === undefined || peers.length === 0 ? [] : [value / RULES[better].best(...peers)]
  })
  return ratios.length === 0 ? undefined : spread(ratios)
}

/** @param {readonly Row[]} rows @param {Row} ours @param {Claim} claim @returns {readonly string[] | undefined} cells of a table */
export function ratioCells(rows, ours, { key, better, what, goal, aim }) {
  const ratio = ratioOf(rows, ours, key, better)
  if (ratio === undefined) return undefined
  const { bound, holds } = RULES[better]
  const judged = (/** @type {string} */ kind, /** @type {number | undefined} */ value) =>
    value === undefined ? [] : [`${kind} ${bound} ${value}: ${holds(ratio.median, value) ? 'holds' : 'does not hold'}`]
  return [`${ours.name}: ${what}`, formatRatio(ratio), [...judged('goal', goal), ...judged('aim', aim)].join('; ')]
}

/** @param {Spread} ratio */
export function formatRatio(ratio) {
  return cell(ratio, (value) => value.toFixed(2))
}
