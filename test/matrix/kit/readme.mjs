/** Writes the README's tables from the stored results. */
import { readFileSync, writeFileSync } from 'node:fs'
import { matrixMarkdown } from './table.mjs'

const README = new URL('../../../README.md', import.meta.url)
const REGION = /(<!-- matrix -->\n)[\s\S]*?(<!-- \/matrix -->)/

/** @param {readonly import('./types.d.mts').Result[]} results */
export function writeTables(results) {
  const text = readFileSync(README, 'utf8')
  if (!REGION.test(text)) throw new Error('README.md has no region <!-- matrix --> … <!-- /matrix -->')
  writeFileSync(
    README,
    text.replace(REGION, (_whole, start, end) => `${start}${matrixMarkdown(results)}${end}`),
  )
}
