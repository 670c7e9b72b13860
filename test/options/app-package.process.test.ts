/** Entries have the name and the version of the application's own package, however and wherever it was started. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { readAppPackage } from '../../src/options/app-package.js'
import { createIngestService } from '../../src/service/index.js'
import { CLI } from '../cli/run-cli.js'
import { cleanEnv, runScript } from '../process/run-app.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-package-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const put = (name: string, text: string): string => {
  const path = join(dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
put('app/package.json', '{"name":"shop","version":"3.1.4"}')
put('app/dist/package.json', '{"type":"module"}')
put('app/node_modules/tool/package.json', '{"name":"tool","version":"9.0.0"}')
put('elsewhere/package.json', '{"name":"other","version":"8.0.0"}')
put('damaged/package.json', '{"name":')
for (const name of ['pino', 'pino-ingest'])
  symlinkSync(name === 'pino' ? join(ROOT, 'node_modules/pino') : ROOT, join(dir, 'app/node_modules', name))

const SHOP = { name: 'shop', version: '3.1.4' }
symlinkSync(put('app/bin/shop.js', ''), join(dir, 'elsewhere/shop'))
put('app/packages/web/package.json', '{"name":"web","version":"7.0.0"}')

test('a tool in the node_modules of a monorepo: the package in which it was started', () => {
  const before = process.cwd()
  try {
    process.chdir(join(dir, 'app/packages/web'))
    expect(readAppPackage(join(dir, 'app/node_modules/.bin/tool'))).toEqual({ name: 'web', version: '7.0.0' })
    process.chdir(join(dir, 'elsewhere'))
    expect(readAppPackage(join(dir, 'app/node_modules/.bin/tool'))).toEqual(SHOP)
  } finally {
    process.chdir(before)
  }
})

test.each<[string, object]>([
  ['app/index.js', SHOP],
  ['app/dist/server.js', SHOP],
  ['app', SHOP],
  ['elsewhere/shop', SHOP],
  ['app/node_modules/tool/bin/tool.js', SHOP],
  ['app/node_modules/.bin/tool', SHOP],
  ['damaged/index.js', {}],
  ['nowhere/index.js', {}],
])('the package of %s', (script, found) => {
  expect(readAppPackage(join(dir, script))).toEqual(found)
})

test('is not this package, whose command line may run in a clone', () => {
  expect(readAppPackage(CLI)).toEqual({})
})

const logger = {
  "pino's worker": `pino({ transport: { target: 'pino-ingest', options: { spool: false } } })`,
  'ingestOptions()': `pino(ingestOptions({ spool: false }))`,
  'ingestStream()': `pino(ingestStream({ spool: false }))`,
}

describe.each(Object.keys(logger) as (keyof typeof logger)[])('with %s', (way) => {
  const script = put(
    `app/dist/${way.replaceAll(/\W/g, '')}.js`,
    `import pino from 'pino'
import { flush, ingestOptions, ingestStream } from 'pino-ingest'
const logger = ${logger[way]}
logger.info('x')
await flush(logger, { timeoutMs: 20_000 })`,
  )
  // Only Linux shows pino's worker what was started, if the application imports nothing of this package.
  test.skipIf(way === "pino's worker" && process.platform !== 'linux').each(['app', 'elsewhere'])(
    'started in the folder %s',
    async (cwd) => {
      const service = await createIngestService()
      const env = {
        PINO_INGEST_URL: service.url,
        PINO_INGEST_API_KEY: 'k',
        npm_package_name: 'other',
        npm_package_version: '8.0.0',
      }
      await run(['--no-warnings', script], join(dir, cwd), env)
      const entries = service.entries({}).items.map(({ entry }) => entry)
      await service.close()
      expect(entries).toMatchObject([{ service: 'shop', version: '3.1.4' }])
    },
  )
})

describe.each(Object.keys(logger) as (keyof typeof logger)[])('with %s in `node -e`', (way) => {
  test('the package is that of the folder', async () => {
    const service = await createIngestService()
    const options = { url: service.url, apiKey: 'k', spool: false }
    const text = `${logger[way].replaceAll('{ spool: false }', 'options').replace('options: options', 'options')}`
    await runScript(`const logger = ${text}\nlogger.info('x')\nawait flush(logger, { timeoutMs: 20_000 })`, options, {
      cwd: join(dir, 'app/packages/web'),
    })
    const entries = service.entries({}).items.map(({ entry }) => entry)
    await service.close()
    expect(entries).toMatchObject([{ service: 'web', version: '7.0.0' }])
  })
})

describe.each(['ingestOptions()', 'ingestStream()'] as const)('with %s', (way) => {
  test('relative paths are those of the folder at the start, whatever the application changes it to', async () => {
    const service = await createIngestService({ apiKeys: ['key-in-a-file'] })
    put('app/packages/web/key', 'key-in-a-file\n')
    put('app/packages/web/hook.cjs', 'module.exports = (entry) => ({ ...entry, tags: ["hooked"] })')
    put('elsewhere/hook.cjs', 'throw new Error("the hook of another folder")')
    const { code, stderr } = await runScript(
      `process.env.PINO_INGEST_API_KEY_FILE = 'key'
const logger = ${logger[way].replace('{ spool: false }', 'options')}
process.chdir('../../../elsewhere')
logger.info('x')
await flush(logger, { timeoutMs: 20_000 })`,
      { url: service.url, spool: { dir: `spool-${way.replace('()', '')}` }, beforeSend: './hook.cjs' },
      { cwd: join(dir, 'app/packages/web') },
    )
    const entries = service.entries({}).items.map(({ entry }) => entry)
    await service.close()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(entries).toMatchObject([{ tags: ['hooked'] }])
    expect(
      readdirSync(dir, { recursive: true }).filter((name) => basename(String(name)).startsWith('spool-ingest')),
    ).toContain(join('app/packages/web', `spool-${way.replace('()', '')}`))
  })
})

test.each([
  ['-e', []],
  ['-p', []],
  ['-e', ['an-argument']],
])('ingestOptions() in CommonJS of node %s %j: pino finds the transport', async (flag, args) => {
  const service = await createIngestService()
  const text = `const { ingestOptions } = require('${ROOT}'); require('pino')(ingestOptions()).info('x')`
  await run([flag, text, ...args], join(dir, 'app'), { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: 'k' })
  const { arrived } = service
  await service.close()
  expect(arrived).toBe(1)
})

test('send adds neither name nor version of the current folder', async () => {
  const service = await createIngestService()
  const env = {
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: 'k',
    npm_package_name: 'a',
    npm_package_version: '1',
  }
  const log = put('app/old.log', '{"level":30,"time":1700000000000,"msg":"old"}\n')
  const cli = join(dir, 'app/node_modules/pino-ingest/dist/cjs/cli.js')
  await run(
    ['--preserve-symlinks-main', cli, 'send', '--quiet', '--state', join(dir, 'state'), log],
    join(dir, 'app'),
    env,
  )
  const [entry] = service.entries({}).items.map((item) => item.entry)
  await service.close()
  expect(entry).toMatchObject({ message: 'old' })
  expect(entry).not.toHaveProperty('version')
  expect(entry?.service).not.toBe('shop')
})

function run(args: readonly string[], cwd: string, env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, env: cleanEnv(env) }, (error) =>
      error === null ? resolve() : reject(error),
    )
  })
}
