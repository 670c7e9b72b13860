/** Real bundles of the options with pino, as files that run by themselves: what pino would not find is refused, and nothing else. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestOptions } from '../../../src/app/logger/ingest-options.js'

const OPTIONS = JSON.stringify(fileURLToPath(new URL('../../../src/app/logger/ingest-options.ts', import.meta.url)))
const REFUSED =
  /IngestError.*: transport: "pino-ingest" cannot be found from \S*app\.[cm]js, into which it was bundled: .*ingestStream\(options\)/
let scratch = ''
let made = 0

/** `globalThis.transport` of a prelude is the application's `transport`; `read` takes what pino reads, where pino's caller is elsewhere. */
const APP = `
  import { ingestOptions } from ${OPTIONS}
  const { transport } = globalThis
  const { prepareStackTrace } = Error
  const options = ingestOptions({ ...(transport !== undefined && { transport }) })
  globalThis.beforeReading?.()
  const read = globalThis.read ?? ((value) => JSON.stringify(value))
  read(options.transport)
  console.log(Error.prepareStackTrace === prepareStackTrace ? 'accepted' : 'left a trace', JSON.parse(read(options.transport)).target ?? 'several')`

const FORMATS = ['cjs', 'esm', 'cjs minified', 'esm minified'] as const
type Format = (typeof FORMATS)[number]

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'pino-ingest-bundles-'))
  await Promise.all(
    FORMATS.map((name) => {
      const format = name.startsWith('cjs') ? 'cjs' : 'esm'
      return build({
        stdin: { contents: APP, resolveDir: scratch },
        bundle: true,
        platform: 'node',
        format,
        minify: name.endsWith('minified'),
        outfile: bundleOf(name),
      })
    }),
  )
})
afterAll(() => rmSync(scratch, { recursive: true }))

function bundleOf(format: Format): string {
  return join(scratch, 'bundles', `${format}.${format.startsWith('cjs') ? 'cjs' : 'mjs'}`)
}

interface Way {
  readonly format?: Format
  /** Where the package is installed; nowhere if not said. */
  readonly installedIn?: string
  readonly cwd?: string
  readonly prelude?: string
}

/** @returns all that it printed */
function run({ format = 'cjs', installedIn, cwd = 'elsewhere', prelude }: Way): Promise<string> {
  const folder = join(scratch, String((made += 1)))
  for (const name of ['app', 'elsewhere']) mkdirSync(join(folder, name), { recursive: true })
  const app = join(folder, 'app', `app${format.startsWith('cjs') ? '.cjs' : '.mjs'}`)
  cpSync(bundleOf(format), app)
  if (installedIn !== undefined) {
    const installed = join(folder, installedIn, 'node_modules/pino-ingest')
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'index.js'), '')
  }
  const first = join(folder, 'prelude.cjs')
  writeFileSync(first, prelude?.replaceAll('FOLDER', folder) ?? '')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--require', first, app],
      { cwd: join(folder, cwd), env: {} },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    )
  })
}

describe('a bundle beside which nothing is installed', () => {
  test.each(FORMATS)('is refused: %s', async (format) => {
    expect(await run({ format })).toMatch(REFUSED)
  })

  test.each([
    ['as one of several targets', '{ targets: [{ target: "pino/file" }, { target: "pino-ingest" }] }'],
    ['in a pipeline', '{ pipeline: [{ target: "pino-ingest" }] }'],
    ['in a pipeline among targets', '{ targets: [{ pipeline: [{ target: "pino-ingest" }] }] }'],
  ])('is refused %s', async (_how, transport) => {
    expect(await run({ prelude: `globalThis.transport = ${transport}` })).toMatch(REFUSED)
  })
})

describe('what would work is accepted', () => {
  test.each(FORMATS)('installed beside the bundle: %s', async (format) => {
    expect(await run({ format, installedIn: 'app' })).toBe('accepted pino-ingest\n')
  })

  test.each([
    ['installed above it', { installedIn: '.' }],
    ['installed where the program was started', { installedIn: 'elsewhere' }],
    [
      'a file that a bundler names',
      { prelude: 'globalThis.__bundlerPathsOverrides = { "pino-ingest": "/files/pino-ingest.js" }' },
    ],
    [
      'a file that the application names',
      { prelude: 'globalThis.transport = { target: "/files/node_modules/pino-ingest/dist/esm/index.js" }' },
    ],
    [
      "a file that a bundler names in pino's own module, which runs later",
      {
        prelude:
          'globalThis.beforeReading = () => { globalThis.__bundlerPathsOverrides = { "pino-ingest": "/files/pino-ingest.js" } }',
      },
    ],
    [
      'a framework that is installed beside it, and calls pino',
      {
        installedIn: 'third',
        prelude: `require('fs').writeFileSync('FOLDER/third/framework.cjs', 'module.exports = (value) => JSON.stringify(value)')
        globalThis.read = require('FOLDER/third/framework.cjs')`,
      },
    ],
    [
      'a caller that the application names',
      {
        installedIn: 'third',
        prelude: 'globalThis.transport = { target: "pino-ingest", caller: "FOLDER/third/app.js" }',
      },
    ],
    ['a runtime without getBuiltinModule', { prelude: 'process.getBuiltinModule = undefined' }],
    [
      "a runtime without V8's stacks",
      { prelude: 'Object.defineProperty(Error, "prepareStackTrace", { get: () => undefined, set: () => {} })' },
    ],
    ['no stack at all', { prelude: 'Error.stackTraceLimit = 0' }],
    ["a transport of somebody else's", { prelude: 'globalThis.transport = { target: "pino-pretty" }' }],
  ] as [string, Way][])('%s', async (_what, way) => {
    expect(await run(way)).toMatch(/^accepted /)
  })
})

test('costs nothing noticeable, and leaves the stacks of errors as they were', () => {
  const prepare = Error.prepareStackTrace
  const startedAt = performance.now()
  for (let round = 0; round < 100; round += 1) ingestOptions()
  expect((performance.now() - startedAt) / 100).toBeLessThan(5)
  expect(Error.prepareStackTrace).toBe(prepare)
  expect(new Error('text').stack).toContain('Error: text\n    at ')
})
