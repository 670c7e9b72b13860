/**
 * Ratios of pino-ingest to the best peer, computed per round, since other load on the machine affects all runs of a
 * round.
 */
import { cell, table } from '../tools/table.mjs'
import { spread } from '../tools/statistics.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {'most' | 'least'} Better
 */

/** @template {string} K @typedef {{ key: K, better: Better, what: string, goal?: number | undefined }} Claim */

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

/**
 * A table of the ratios with their goals.
 *
 * @template {string} K
 * @param {readonly (Compared<K> & { isOurs: boolean })[]} rows @param {readonly Claim<K>[]} claims
 * @returns {string[]} empty without a round to compare
 */
export function claimLines(rows, claims) {
  const ours = rows.find(({ isOurs }) => isOurs)
  const lines = claims.flatMap(({ key, better, what, goal }) => {
    const ratio = ours && ratioOf(rows, ours, key, better)
    if (ratio === undefined) return []
    const { bound, holds } = RULES[better]
    const isMet = goal === undefined || holds(ratio.median, goal)
    return [
      [
        what,
        formatRatio(ratio),
        goal === undefined ? '' : `goal ${bound} ${goal}: ${isMet ? 'holds' : 'does not hold'}`,
      ],
    ]
  })
  return lines.length === 0 ? [] : table([['relative to the best peer of the round', 'median (min to max)'], ...lines])
}

/** @param {Spread} ratio */
export function formatRatio(ratio) {
  return cell(ratio, (value) => value.toFixed(2))
}
