/** The stored results, from which the tables of docs/compatibility.md are generated. */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../results.json', import.meta.url)

/** @typedef {import('./types.d.mts').Result} Result */

/** @returns {Result[]} */
export function readResults() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return []
    throw error
  }
}

/** In the order of the tables. */
export const GROUPS = ['runtimes', 'esbuild', 'webpack', 'vite', 'next', 'jest', 'vitest', 'pnpm', 'yarn', 'frameworks']

/**
 * A group that was run replaces its stored results.
 * @param {readonly Result[]} former @param {readonly Result[]} newer of groups that ran completely @returns
 *   {Result[]}
 */
export function mergeResults(former, newer) {
  const groups = new Set(newer.map(({ group }) => group))
  return [...former.filter(({ group }) => !groups.has(group)), ...newer].toSorted(
    (a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group),
  )
}

/** @param {readonly Result[]} results */
export function writeResults(results) {
  // Without the text of failures, which contains paths of the machine.
  writeFileSync(
    FILE,
    `[\n${results.map((result) => `  ${JSON.stringify({ ...result, detail: undefined })}`).join(',\n')}\n]\n`,
  )
}
