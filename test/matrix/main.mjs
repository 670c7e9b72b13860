/**
 * Real applications in scratch folders, with the packed package: on every Node, Bun and Deno, bundled, in test
 * runners, with other package managers. Each logs 1,000 records, and each record must arrive once. Entries of
 * frameworks and other loggers' formats must match the logged records. Needs the npm registry; not part of `npm
 * test`.
 *
 *     npm run test:matrix                       # everything: about twenty-five minutes
 *     npm run test:matrix -- runtimes next      # these groups
 *     npm run test:matrix -- --match 'Node 24'  # only the rows that contain this text
 *     npm run test:matrix -- --update           # stores the results in results.json, and writes the tables of docs/compatibility.md
 *     npm run test:matrix -- --keep             # keeps and prints the scratch folder; entries of frameworks are in `arrived`
 */
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { judge } from './kit/judge.mjs'
import { createKit } from './kit/kit.mjs'
import { GROUPS, mergeResults, readResults, writeResults } from './kit/results.mjs'
import { writeTables } from './kit/page.mjs'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    update: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    match: { type: 'string', default: '' },
  },
})
const unknown = positionals.find((name) => !GROUPS.includes(name))
if (unknown !== undefined) {
  console.error(`There is no group ${unknown}. Use one of: ${GROUPS.join(', ')}.`)
  process.exit(2)
}
if (flags.update && flags.match !== '') {
  console.error('--update stores complete groups and cannot be combined with --match.')
  process.exit(2)
}

const kit = createKit()
/** @type {import('./kit/types.d.mts').Result[]} */
const results = []
/** Groups that were run completely. */
const whole = new Set()
let failed = 0
try {
  for (const name of positionals.length > 0 ? positionals : GROUPS) {
    console.log(`\n${name}`)
    const startedAt = performance.now()
    let judgedMs = 0
    /** @type {{ group: import('./kit/types.d.mts').Group }} */
    const { group } = await import(`./groups/${name}.mjs`)
    try {
      for await (const cell of group.cells(kit)) {
        if (!cell.row.includes(flags.match)) continue
        const from = performance.now()
        const result = { group: name, ...(await judge(kit, cell)) }
        judgedMs += performance.now() - from
        results.push(result)
        if (result.outcome === 'failed') failed += 1
        console.log(
          `${[cell.row, cell.column, cell.kind ?? ''].map((text, place) => text.padEnd([44, 14, 12][place] ?? 0)).join(' ')} ${describeResult(result)}`,
        )
      }
      whole.add(name)
      console.log(
        `took ${inSeconds(judgedMs)}, and ${inSeconds(performance.now() - startedAt - judgedMs)} to install and build`,
      )
    } catch (error) {
      failed += 1
      console.error(`${name} could not be run: ${error instanceof Error ? error.stack : error}`)
    }
  }
} finally {
  if (flags.keep) console.log(`\nkept: ${kit.scratch}`)
  else rmSync(kit.scratch, { recursive: true, force: true })
}
if (flags.update) {
  writeResults(
    mergeResults(
      readResults(),
      results.filter(({ group }) => whole.has(group)),
    ),
  )
  writeTables(readResults())
}
const count = (/** @type {string} */ wanted) => results.filter(({ outcome }) => outcome === wanted).length
console.log(
  `\n${results.length} run: ${count('works')} work, ${count('refused')} are rejected with the expected message, ${failed} failed`,
)
process.exitCode = failed === 0 ? 0 : 1

/** @param {number} ms */
function inSeconds(ms) {
  return `${Math.round(ms / 1000)} s`
}

/** @param {import('./kit/types.d.mts').Result} result */
function describeResult({ outcome, arrived, detail }) {
  if (outcome === 'works') return `${arrived} arrived  ${detail ?? ''}`.trimEnd()
  return outcome === 'refused' ? `rejected as expected: ${detail}` : `FAILED: ${detail}`
}
