/** What the blocks of the pages have in common. */

/** @typedef {import('./results.mjs').Kept} Kept */

export const OURS = 'pino-ingest'
export const SHAPES = { small: 'lines', http: 'requests', error: 'errors', mix: 'the mix' }

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function tableOf(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`.replaceAll(/\|  (?=\|)/g, '| ')
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)]
}

/** @param {Pick<Kept, 'machine' | 'versions' | 'commit' | 'date'>} where */
export function placeOf({ machine, versions, commit, date }) {
  return `${machine.cpu}, ${machine.cores} cores, Node ${versions.node}, commit ${commit}, ${date}`
}

/** Three significant digits. @param {number} value */
export function number(value) {
  return Number(value.toPrecision(3)).toLocaleString('en-US')
}

/** @template T @param {T | undefined} ratio @returns {T} */
export function measuredOr(ratio) {
  if (ratio === undefined) throw new RangeError('a result has no rounds to take ratios of: measure it again')
  return ratio
}
