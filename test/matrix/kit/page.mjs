/** Writes the tables of docs/compatibility.md from the stored results. */
import { readFileSync, writeFileSync } from 'node:fs'
import { matrixMarkdown } from './table.mjs'

const PAGE = new URL('../../../docs/compatibility.md', import.meta.url)
const REGION = /(<!-- matrix -->\n)[\s\S]*?(<!-- \/matrix -->)/

/** @param {readonly import('./types.d.mts').Result[]} results */
export function writeTables(results) {
  const text = readFileSync(PAGE, 'utf8')
  if (!REGION.test(text)) throw new Error('docs/compatibility.md has no region <!-- matrix --> … <!-- /matrix -->')
  writeFileSync(
    PAGE,
    text.replace(REGION, (_whole, start, end) => `${start}${matrixMarkdown(results)}${end}`),
  )
}
