/** The tables of docs/migration.md: the named options exist, and the new configurations are accepted. */
import { describe, expect, test } from 'vitest'
import { OPTION_TABLE, listPaths } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { codeBlocks, sectionOf } from '../markdown.js'
import { resolve } from './resolve.js'

const PAGE = 'docs/migration.md'
const PEERS = ['pino-loki', '@logtail/pino', '@axiomhq/pino', 'pino-datadog-transport']

const rows = sectionOf(PAGE, 'Each option')
  .split('\n')
  .filter((line) => /^\|(?!-)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
const [head = [], ...body] = rows

const PATHS = (Object.keys(OPTION_TABLE) as OptionName[]).flatMap(listPaths).map(({ path }) => path)

/** Matches `name`, `name.member` and `name: value`, and skips events, paths, programs and entry fields. */
function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)]
    .map(([, words]) => words as string)
    .filter((words) => !/^(?:npx |ingest:|\/|metadata\.|meta$|info$)/.test(words))
    .map((words) => /^[\w.]+/.exec(words)?.[0] ?? words)
}

test('a row has a cell for each transport; ours has options or a reason why there is none', () => {
  expect(head.slice(-5)).toEqual([...PEERS, 'pino-ingest'])
  for (const row of body) {
    const ours = row.at(-1) ?? ''
    expect(row, row[0]).toHaveLength(6)
    expect(
      namesIn(ours).length > 0 || /^(?:none: |not needed: |the target's|`npx )/.test(ours),
      `${row[0]}: ${ours}`,
    ).toBe(true)
  }
})

test.each(body.map((row) => [row[0], row.at(-1) as string]))('%s: the named options exist', (_, ours) => {
  expect(namesIn(ours).filter((name) => !PATHS.includes(name))).toEqual([])
})

test('detects an option that does not exist', () => {
  expect(namesIn('`batch.interval` (1000)').filter((name) => !PATHS.includes(name))).toEqual(['batch.interval'])
})

describe.each(PEERS)('from %s', (peer) => {
  const blocks = codeBlocks(PAGE).filter(({ section }) => section === `From ${peer}`)

  test('the old configuration is one of that transport', () => {
    const [before] = blocks
    expect(before?.language).toBe('jsonc')
    expect((JSON.parse(before?.code ?? '') as { target: string }).target).toBe(peer)
  })

  test('the new configuration is accepted, in production, too', () => {
    const after = blocks.at(-1)?.code ?? ''
    const options = optionsIn(after)
    expect(Object.keys(options).length).toBeGreaterThan(0)
    expect(() =>
      resolve(options, {
        NODE_ENV: 'production',
        PINO_INGEST_URL: 'https://logs.example.com/api/v1',
        PINO_INGEST_API_KEY: 'key',
      }),
    ).not.toThrow()
  })
})

/** The options that the program passes to our transport. */
function optionsIn(program: string): object {
  const from = program.indexOf('{', program.indexOf('options: ', program.indexOf("'pino-ingest'")))
  let depth = 0
  for (let at = from; at < program.length; at += 1) {
    if (program[at] === '{') depth += 1
    if (program[at] === '}') depth -= 1
    if (depth === 0) return new Function(`return ${program.slice(from, at + 1)}`)() as object
  }
  throw new Error('the program has no options')
}
