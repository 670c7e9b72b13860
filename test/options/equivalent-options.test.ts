/** The tables of docs/migration.md: the named options exist, and the new configurations are accepted. */
import { describe, expect, test } from 'vitest'
import { OPTION_TABLE, listPaths } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { codeBlocks, sectionOf } from '../markdown.js'
import { resolve } from './resolve.js'

const PAGE = 'docs/migration.md'
const PEERS = ['pino-loki', '@logtail/pino', '@axiomhq/pino', 'pino-datadog-transport']

const TABLES = [...PEERS, 'pino-elasticsearch', 'pino-opentelemetry-transport']

/** The last cell of each row below the head. */
const rows = TABLES.flatMap((peer) => {
  const [, ...body] = sectionOf(PAGE, `From ${peer}`)
    .split('\n')
    .filter((line) => /^\|(?!-)/.test(line))
  return body.map((line) => line.split('|').slice(1, -1)).map(([theirs = '', ours = '']) => ({ peer, theirs, ours }))
})

const PATHS = (Object.keys(OPTION_TABLE) as OptionName[]).flatMap(listPaths).map(({ path }) => path)

/** Matches `name`, `name.member` and `name: value`, and skips events, paths and entry fields. */
function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)]
    .map(([, words]) => words as string)
    .filter((words) => !/^(?:ingest:|\/)/.test(words))
    .map((words) => /^[\w.]+/.exec(words)?.[0] ?? words)
}

test('each row has our options, or says why there are none', () => {
  expect(new Set(rows.map(({ peer }) => peer))).toEqual(new Set(TABLES))
  for (const { theirs, ours } of rows)
    expect(namesIn(ours).length > 0 || /^ (?:none|not needed): /.test(ours), theirs).toBe(true)
})

test.each(rows)('$peer,$theirs: the named options exist', ({ ours }) => {
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
