import { expect, test } from 'vitest'
import { findNearestName } from '../../src/shared/nearest-name.js'
import { OPTION_TABLE, listAllVariables, listPaths, findRow, listVariables } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { optionsMarkdown, usualOptionsMarkdown } from './render-tables.js'

const names = Object.keys(OPTION_TABLE) as OptionName[]

test('every default is valid', () => {
  for (const { path, row } of names.flatMap(listPaths)) {
    const { kind, default: value } = row
    if (value !== undefined) expect(kind.read(value), path).toEqual(value)
  }
})

test('every variable sets only one option', () => {
  const variables = names.flatMap(listAllVariables)
  expect(new Set(variables).size).toBe(variables.length)
  expect(listVariables('requestTimeoutMs')).toEqual(['PINO_INGEST_REQUEST_TIMEOUT_MS'])
  expect(listAllVariables('retry')).toEqual(['PINO_INGEST_RETRY', 'PINO_INGEST_RETRY_MAX_MS'])
})

test('the tables have one row per option, in its section', () => {
  const lines = optionsMarkdown().split('\n')
  const rows = lines.filter((line) => line.startsWith('| `'))
  const ownRows = names.flatMap(listPaths).filter(({ row }) => row.isInGroupRow !== true)
  expect(rows.map((line) => /^\| `([\w.]+)`/.exec(line)?.[1])).toEqual(ownRows.map(({ path }) => path))
  // Members without a row are part of another row.
  for (const variable of names.flatMap(listAllVariables)) expect(rows.join('\n')).toContain(`\`${variable}\``)
  // An unescaped pipe would add a column.
  for (const line of rows) expect(line.split('|'), line).toHaveLength(6)
  // The README's table is short, with eight of these options and their variables.
  const usual = usualOptionsMarkdown()
  const common = usual.split('\n').filter((line) => line.startsWith('| `'))
  expect(common).toHaveLength(8)
  const named = (line: string): string => line.split('|').slice(0, 3).join('|')
  expect(rows.map(named)).toEqual(expect.arrayContaining(common.map(named)))
  expect(usual).not.toContain('](')
  const titles = lines.filter((line) => line.startsWith('## ')).map((line) => line.slice(3))
  expect(titles).toEqual([...new Set(names.map((name) => findRow(name).section))])
})

test('suggests the nearest name, or none', () => {
  const known = ['apiKey', 'tags', 'tls']
  expect(findNearestName('APIKEY', known)).toBe('apiKey')
  expect(findNearestName('tag', known)).toBe('tags')
  expect(findNearestName('', known)).toBeUndefined()
  expect(findNearestName('constructor', known)).toBeUndefined()
})
