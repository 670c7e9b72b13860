/** Every entry point rejects an unsupported Node. These processes report an older version. */
import { execFile } from 'node:child_process'
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { findNodeVersionProblem } from '../../src/shared/node-version.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { engines, sideEffects } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  engines: { node: string }
  sideEffects: string[]
}
const scratch = mkdtempSync(join(tmpdir(), 'engine-'))
const run = promisify(execFile)

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Parses `engines` independently: alternatives of comparators that must all match. */
function isInRange(version: string, range: string): boolean {
  const numbers = (text: string): number => {
    const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number)
    return major * 1e6 + minor * 1e3 + patch
  }
  return range.split('||').some((all) =>
    all
      .trim()
      .split(/\s+/)
      .every((one) => {
        const [, sign = '', bound = ''] = /^(>=|<)(\d[\d.]*)$/.exec(one) ?? []
        if (sign === '') throw new Error(`no comparator known here: ${one}`)
        return sign === '<' ? numbers(version) < numbers(bound) : numbers(version) >= numbers(bound)
      }),
  )
}

test('the code agrees with engines in package.json', () => {
  const majors = Array.from({ length: 15 }, (_, at) => at + 14)
  const versions = majors.flatMap((major) =>
    Array.from({ length: 25 }, (_, minor) => [`${major}.${minor}.0`, `${major}.${minor}.99`]).flat(),
  )
  versions.push('100.0.0')
  expect(
    versions.filter((node) => (findNodeVersionProblem({ node }) === undefined) !== isInRange(node, engines.node)),
  ).toEqual([])
})

test('accepts other runtimes with any Node version', () => {
  expect(findNodeVersionProblem({ node: '22.6.0', bun: '1.2.0' })).toBeUndefined()
  expect(findNodeVersionProblem({ node: '20.11.1', deno: '2.0.0' })).toBeUndefined()
  expect(findNodeVersionProblem({})).toBeUndefined()
})

describe('every entry point', () => {
  const preload = join(scratch, 'older.cjs')
  writeFileSync(
    preload,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`,
  )
  // A file's name may contain spaces, which would end an option here.
  const older = { ...process.env, NODE_OPTIONS: `--require ${JSON.stringify(preload)}` }
  const problem = 'pino-ingest needs Node 20.19 or a later 20, or Node 22.12 or later; this is Node 18.20.8.'
  const evaluated = async (type: 'module' | 'commonjs', code: string): Promise<string> =>
    (await run(process.execPath, [`--input-type=${type}`, '-e', code], { cwd: root, env: older })).stdout

  test.each(['pino-ingest', 'pino-ingest/client', 'pino-ingest/service'])('%s', async (entryPoint) => {
    const [imported, required] = await Promise.all([
      evaluated('module', `import('${entryPoint}').catch((error) => console.log(error.code, error.message))`),
      evaluated(
        'commonjs',
        `try { require('${entryPoint}') } catch (error) { console.log(error.code, error.message) }`,
      ),
    ])
    expect(imported).toContain(`ENGINE ${problem}`)
    expect(required).toContain(`ENGINE ${problem}`)
  })

  test('the command line prints one line without a stack', async () => {
    const main = join(root, 'dist/cjs/cli.js')
    const failed = await run(process.execPath, [main, '--version'], { env: older }).catch(
      (error: { code: number; stdout: string; stderr: string }) => error,
    )
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^pino-ingest needs Node .* this is Node 18\.20\.8\. .*\n$/),
    })
    const asJson = await run(process.execPath, [main, 'doctor', '--json'], { env: older }).catch(
      (error: { code: number; stderr: string }) => error,
    )
    expect(asJson).toMatchObject({ code: 1 })
    expect(JSON.parse(asJson.stderr)).toEqual({ error: { code: 'ENGINE', message: expect.stringContaining(problem) } })
  })

  test("in pino's worker: an error event of the transport", async () => {
    const stdout = await evaluated(
      'module',
      `import pino from 'pino'
      const transport = pino.transport({ target: 'pino-ingest', options: {} })
      transport.on('error', (error) => console.log('event:', error.message))
      pino(transport).info('x')`,
    )
    expect(stdout).toContain(`event: ${problem}`)
  })

  test('a bundler keeps the check, but no other module without used exports', async () => {
    expect(sideEffects).toContain('./dist/*/node-version.js')
    const { build } = await import('esbuild')
    const { outputFiles } = await build({
      stdin: { contents: `import { newEventId } from 'pino-ingest'; console.log(newEventId())`, resolveDir: root },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
      logLevel: 'silent',
      // The tsconfig.json of this repository maps the package's name to the sources.
      tsconfigRaw: {},
    })
    const file = join(scratch, 'bundle.mjs')
    writeFileSync(file, outputFiles[0]?.text ?? '')
    const failed = await run(process.execPath, [pathToFileURL(file).pathname], { env: older }).catch(
      (error: { stderr: string }) => error,
    )
    expect(failed.stderr).toContain(problem)
  })
})
