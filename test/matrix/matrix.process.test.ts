/** The tables of docs/compatibility.md match the stored results, and the judge detects failures. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { regionOf, writeRegion } from '../markdown.js'
import type { IngestService } from '../../src/service/index.js'
import { countErrors, differences } from './kit/arrivals.mjs'
import type { Arrived } from './kit/arrivals.mjs'
import { judge } from './kit/judge.mjs'
import { runProgram } from './kit/processes.mjs'
import { GROUPS, mergeResults, readResults } from './kit/results.mjs'
import { matrixMarkdown } from './kit/table.mjs'
import type { Cell, Kit, Result } from './kit/types.mjs'

const PAGE = 'docs/compatibility.md'

const works: Result = {
  group: 'nodes',
  table: 'runtimes',
  row: 'Node 20 · pino 10',
  column: 'target',
  kind: 'ESM',
  outcome: 'works',
  arrived: 1000,
}

describe('the tables', () => {
  test('match the stored results', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeRegion(PAGE, 'matrix', matrixMarkdown(readResults()).trim())
    expect(regionOf(PAGE, 'matrix')).toBe(matrixMarkdown(readResults()).trim())
  })

  test('no cell is empty, and none failed', () => {
    const table = matrixMarkdown(readResults())
    expect(table).not.toMatch(/\| *\|/)
    expect(table).not.toContain('✗')
  })

  test('has results of all groups, with each runtime and tool', () => {
    const results = readResults()
    const files = readdirSync(new URL('groups', import.meta.url)).map((file) => file.replace('.mjs', ''))
    expect(GROUPS.toSorted()).toEqual(files.toSorted())
    expect([...new Set(results.map(({ group }) => group))]).toEqual(GROUPS)
    const rows = [...new Set(results.map(({ row }) => row))].join('\n')
    for (const pino of ['9.14', '10'])
      for (const node of [20, 22, 24, 26]) expect(rows).toMatch(new RegExp(`^Node ${node}\\S+ · pino ${pino}`, 'm'))
    const applications = results.filter(({ table }) => table === 'applications').map(({ row }) => row)
    for (const name of ['Fastify', 'Express', 'NestJS', 'Koa', 'hapi', 'Hono', 'ECS', 'Google Cloud', 'OpenTelemetry'])
      expect(applications.filter((row) => row.startsWith(name))).not.toEqual([])
    const libraries = results.filter(({ table }) => table === 'libraries').map(({ row }) => row)
    for (const name of [
      /^pino 9/,
      /^pino 10/,
      /^Express 4/,
      /^Express 5/,
      /^Fastify 4/,
      /^Fastify 5/,
      /^NestJS 10/,
      /^NestJS 11/,
    ])
      expect(libraries.filter((row) => name.test(row))).not.toEqual([])
    for (const version of [6, 7, 8, 9, 10, 11]) expect(libraries.join('\n')).toContain(`pino-http ${version}.`)
    for (const name of ['Bun', 'Deno', 'esbuild', 'webpack 5', 'Vite', 'Next', 'Jest', 'vitest', 'pnpm', 'Yarn 4'])
      expect(rows).toMatch(new RegExp(`^${name}`, 'm'))
  })

  test('new results of a group replace only its stored results', () => {
    const other: Result = { ...works, group: 'runtimes', row: 'Bun' }
    expect(mergeResults([other, works], [{ ...works, arrived: 7 }])).toEqual([{ ...works, arrived: 7 }, other])
  })

  test('a row in which all columns have the sign has it once', () => {
    const all = ['target', 'targets', 'pipeline', 'in-process', 'pipe'].map((column) => ({ ...works, column }))
    expect(matrixMarkdown(all)).toContain('| Node 20 | ✓ |')
    expect(matrixMarkdown([works])).toContain('| Node 20 | target ✓, targets ✗ not run, ')
    const lost: Result = { ...works, kind: 'CJS', outcome: 'failed', arrived: 7 }
    expect(matrixMarkdown([...all, lost])).toContain('target ESM ✓, CJS ✗ 7 of 1,000, targets ✓')
  })

  test('tools with one result and one remedy share a row', () => {
    const tool = { group: 'vite', table: 'tools', column: 'in-process', takes: 'a setting', outcome: 'works' } as const
    const thread = { ...tool, column: 'worker thread', outcome: 'refused' } as const
    const results = ['Vite', 'webpack'].flatMap((row) => [tool, thread].map((one) => ({ ...one, row, arrived: 1 })))
    expect(matrixMarkdown(results)).toContain('| Vite<br>webpack | with `ingestStream()` | a setting |')
  })

  test('a framework is listed, with what differs', () => {
    const bunyan = { group: 'frameworks', table: 'applications', row: 'bunyan', column: 'pipe', arrived: 8 } as const
    expect(matrixMarkdown([{ ...bunyan, outcome: 'works' }])).toContain('- bunyan\n')
    expect(matrixMarkdown([{ ...bunyan, outcome: 'failed', wrong: ['level', 'time'] }])).toContain(
      '- bunyan: ✗ level, time\n',
    )
  })
})

describe('what arrived of the same lines', () => {
  const arrived = (...messages: readonly string[]): Arrived => ({
    entries: messages.map((message) => ({ level: 'info', message })) as Arrived['entries'],
    requestLogs: [],
  })

  test('is equal in any order of batches and keys', () => {
    const other = { entries: [{ message: 'a', level: 'info' }], requestLogs: [] } as unknown as Arrived
    expect(differences(arrived('a'), other)).toEqual([])
    expect(differences(arrived('a', 'b', 'b'), arrived('b', 'a', 'b'))).toEqual([])
  })

  test('differs by each record that the other lacks, also by a repeated one', () => {
    expect(differences(arrived('a', 'b', 'b'), arrived('b', 'c'))).toEqual([
      '- {"level":"info","message":"a"}',
      '- {"level":"info","message":"b"}',
      '+ {"level":"info","message":"c"}',
    ])
    const requestLog = { path: '/' } as Arrived['requestLogs'][number]
    expect(differences(arrived(), { entries: [], requestLogs: [requestLog] })).toEqual(['+ {"path":"/"}'])
  })

  test('counts errors by type, and those without a stack', () => {
    const errors = [{ type: 'RangeError', stack: 'RangeError\n    at f' }, { type: 'RangeError' }, undefined]
    const entries = errors.map((error) => ({ error })) as Arrived['entries']
    expect(countErrors({ entries, requestLogs: [] })).toBe('1 RangeError, 1 RangeError without a stack')
  })
})

test('kills a program that does not end, with its child processes', async () => {
  const run = await runProgram(['sh', '-c', 'sleep 60 | sleep 60'], { cwd: tmpdir(), runMs: 200 })
  expect(run.code).toBeUndefined()
})

describe('the judge', () => {
  let scratch = ''
  const app = (lines: string) => {
    const file = join(scratch, 'app.mjs')
    writeFileSync(
      file,
      `
      import pino from ${JSON.stringify(fileURLToPath(import.meta.resolve('pino')))}
      import { ingestStream } from ${JSON.stringify(fileURLToPath(new URL('../../dist/esm/index.js', import.meta.url)))}
      const logger = pino(ingestStream())
      ${lines}`,
    )
    return {
      table: 'tools',
      row: 'row',
      column: 'in-process',
      command: [process.execPath, file],
      cwd: scratch,
    } as const satisfies Cell
  }
  const judged = (cell: Cell) => judge({ scratch, run: runProgram } as Kit, cell)

  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'pino-ingest-judge-'))
  })
  afterAll(() => rmSync(scratch, { recursive: true }))

  test('works if all records arrived once', async () => {
    expect(await judged(app('for (let n = 0; n < 1000; n += 1) logger.info({ n })'))).toMatchObject({
      outcome: 'works',
      arrived: 1000,
    })
  })

  test.each([
    ['a record is missing', 'for (let n = 1; n < 1000; n += 1) logger.info({ n })', '1 of 1000 did not arrive'],
    ['a record arrives twice', 'for (let n = 0; n <= 1000; n += 1) logger.info({ n: n % 1000 })', '1 too many'],
    [
      'a record has another number',
      'for (let n = 1; n <= 1000; n += 1) logger.info({ n })',
      '1 of 1000 did not arrive, 1 too many',
    ],
    [
      'it exits with an error',
      'for (let n = 0; n < 1000; n += 1) logger.info({ n }); process.exitCode = 3',
      'exit code 3',
    ],
    [
      'it writes to stderr',
      'for (let n = 0; n < 1000; n += 1) logger.info({ n }); console.error("oh")',
      'stderr is not empty',
    ],
  ])('fails if %s', async (_what, lines, detail) => {
    const result = await judged(app(lines))
    expect(result.outcome).toBe('failed')
    expect(result.detail).toContain(detail)
  })

  test('fails with a reason per aspect if entries differ from the logged records', async () => {
    const logged = app('logger.info({ n: 0 })')
    const compare = (service: IngestService) => ({
      level: [],
      time: service.entries().items.map(({ entry }) => `${entry.message} is late`),
    })
    const result = await judged({ ...logged, table: 'applications', compare })
    expect(result).toMatchObject({ outcome: 'failed', arrived: 1, wrong: ['time'] })
    expect(result.detail).toBe('level ✓  time ✗\n    time: (no message) is late')
    expect(await judged({ ...logged, compare: () => ({ level: [] }) })).toMatchObject({ outcome: 'works', arrived: 1 })
    const complains = app('console.error("pino-ingest: [AUTH] refused")')
    expect(await judged({ ...complains, compare: () => ({ level: [] }) })).toMatchObject({ outcome: 'failed' })
  })

  test('an unsupported case must exit with an error and the expected message', async () => {
    const fails = app('throw new Error("cannot be bundled")')
    expect(await judged({ ...fails, refuses: /cannot be bundled/ })).toMatchObject({ outcome: 'refused' })
    expect(await judged({ ...fails, refuses: /something else/ })).toMatchObject({ outcome: 'failed' })
    expect(
      await judged({
        ...app(
          'logger.info({ n: 0 }); await new Promise((resolve) => logger.flush(resolve)); throw new Error("cannot be bundled")',
        ),
        refuses: /cannot be bundled/,
      }),
    ).toMatchObject({ outcome: 'failed' })
    expect(await judged({ ...app('console.error("cannot be bundled")'), refuses: /cannot be bundled/ })).toMatchObject({
      outcome: 'failed',
    })
  })
})
