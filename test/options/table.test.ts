import { expect, test } from 'vitest'
import { nearestName } from '../../src/options/nearest.js'
import { TABLE, optionsMarkdown, rowOf, variablesOf } from '../../src/options/table.js'
import type { OptionName } from '../../src/options/table.js'

const names = Object.keys(TABLE) as OptionName[]

test('every default keeps its own rule', () => {
  for (const name of names) {
    const { kind, default: value } = rowOf(name)
    if (value !== undefined) expect(kind.read(value), name).toEqual(value)
  }
})

test('no variable stands for two options', () => {
  const variables = names.flatMap(variablesOf)
  expect(new Set(variables).size).toBe(variables.length)
  expect(variablesOf('flushIntervalMs')).toEqual(['PINO_INGEST_FLUSH_INTERVAL_MS'])
})

test('the README\'s table has a line for each option', () => {
  const lines = optionsMarkdown().split('\n')
  expect(lines.slice(2).map((line) => /^\| `(\w+)`/.exec(line)?.[1])).toEqual(names)
  // A stray pipe would make a column more.
  for (const line of lines) expect(line.split('|'), line).toHaveLength(6)
})

test('the nearest name, or none', () => {
  const known = ['apiKey', 'tags', 'tls']
  expect(nearestName('APIKEY', known)).toBe('apiKey')
  expect(nearestName('tag', known)).toBe('tags')
  expect(nearestName('', known)).toBeUndefined()
  expect(nearestName('constructor', known)).toBeUndefined()
})
