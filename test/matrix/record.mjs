/**
 * Stores the lines of the shops as fixtures for `test/record/frameworks.test.ts`:
 *
 *     npm run test:matrix -- frameworks --match pipe --keep
 *     node test/matrix/record.mjs SCRATCH_FOLDER
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SHOPS } from './groups/frameworks.mjs'

const [scratch = ''] = process.argv.slice(2)
const target = new URL('../record/frameworks/', import.meta.url)
mkdirSync(target, { recursive: true })
/** @type {Record<string, unknown>} */
const asked = {}
for (const { command } of SHOPS) {
  const file = command.at(-1) ?? ''
  const name = file.split('.')[0] ?? ''
  const kept = join(scratch, 'arrived', `${file}-pipe`)
  const lines = readFileSync(`${kept}.ndjson`, 'utf8')
    .replaceAll(join(scratch, 'frameworks-0'), '/app')
    // Of successive frames of dependencies the first is enough.
    .replaceAll(/((?:\\n +at [^"\\]*(?:node_modules|node:)[^"\\]*)){2,}/g, '$1')
  writeFileSync(new URL(`${name}.ndjson`, target), lines)
  asked[name] = JSON.parse(readFileSync(`${kept}.json`, 'utf8')).asked
}
writeFileSync(new URL('asked.json', target), `${JSON.stringify(asked, undefined, 2)}\n`)
