/** The numbers in README.md and docs, generated from the stored results. Pure. */
import { comparison, costs, summary, throughput } from '../peers/blocks.mjs'
import { fleet, growth, mainThread, start } from './blocks.mjs'

export { PICTURES } from '../peers/blocks.mjs'

/** @typedef {(name: string) => import('./results.mjs').Kept} Stored the result of a question */

/** Pages with blocks between `<!-- results: NAME -->` and `<!-- /results -->`. */
export const PAGES = ['README.md', 'docs/performance.md', 'docs/fleet-operations.md']
/** The questions whose results the pages show. Only these results are stored in the repository. */
export const ON_PAGES = ['throughput', 'rates', 'main-thread', 'start', 'growth', 'fleet']
export const BLOCK = /(<!-- results: ([\w-]+) -->\n)[\s\S]*?(<!-- \/results -->)/g

/** @type {Record<string, (stored: Stored) => string[]>} lines by name of the block */
export const BLOCKS = { summary, comparison, throughput, costs, growth, 'main-thread': mainThread, start, fleet }

/**
 * @param {string} page @param {Stored} stored @param {(name: string, error: unknown) => void} onError for a block that
 *   cannot be written, and stays as it is
 * @returns {string}
 */
export function withResults(page, stored, onError) {
  return page.replaceAll(BLOCK, (before, begin, name, end) => {
    try {
      const linesOf = BLOCKS[name]
      if (linesOf === undefined)
        throw new RangeError(`there is no block ${name}; use one of: ${Object.keys(BLOCKS).join(', ')}`)
      return `${begin}${linesOf(stored).join('\n')}\n${end}`
    } catch (error) {
      onError(name, error)
      return before
    }
  })
}
