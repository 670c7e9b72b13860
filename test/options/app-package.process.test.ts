/** Entries have the name and the version of the application's own package, however and wherever it was started. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { readAppPackage } from '../../src/options/app-package.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
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

/** The entries of an application, which runs with a service. */
async function entriesOf(start: (url: string) => Promise<unknown>): Promise<LogEntry[]> {
  const service = await createIngestService()
  await start(service.url)
  const entries = service.entries({}).items.map(({ entry }) => entry)
  await service.close()
  return entries
}

const NPM = { npm_package_name: 'other', npm_package_version: '8.0.0' }

// Only Linux shows pino's worker what was started, if the application imports nothing of this package.
test.skipIf(process.platform !== 'linux')('each logger has the package of its script, in any folder', async () => {
  const script = put(
    'app/dist/loggers.js',
    `import pino from 'pino'
import { flush, ingestOptions, ingestStream } from 'pino-ingest'
for (const logger of [${Object.values(logger).join(', ')}]) {
  logger.info('x')
  await flush(logger, { timeoutMs: 20_000 })
}`,
  )
  const entries = await entriesOf((url) =>
    run(['--no-warnings', script], join(dir, 'elsewhere'), { ...NPM, PINO_INGEST_URL: url }),
  )
  expect(entries).toMatchObject(Object.keys(logger).map(() => ({ service: 'shop', version: '3.1.4' })))
})

test('in `node -e` the package is that of the folder', async () => {
  const entries = await entriesOf((url) =>
    runScript(
      `process.env.PINO_INGEST_URL = options.url
for (const logger of [${Object.values(logger).join(', ')}]) {
  logger.info('x')
  await flush(logger, { timeoutMs: 20_000 })
}`,
      { url },
      { cwd: join(dir, 'app/packages/web') },
    ),
  )
  expect(entries).toMatchObject(Object.keys(logger).map(() => ({ service: 'web', version: '7.0.0' })))
})

test('relative paths are those of the folder at the start, whatever the application changes it to', async () => {
  put('app/packages/web/key', 'key-in-a-file\n')
  put('app/packages/web/hook.cjs', 'module.exports = (entry) => ({ ...entry, tags: ["hooked"] })')
  put('elsewhere/hook.cjs', 'throw new Error("the hook of another folder")')
  const entries = await entriesOf(async (url) => {
    const { code, stderr } = await runScript(
      `process.env.PINO_INGEST_API_KEY_FILE = 'key'
const withSpool = (dir) => ({ ...options, spool: { dir } })
const loggers = [pino(ingestOptions(withSpool('spool-of-worker'))), pino(ingestStream(withSpool('spool-of-stream')))]
process.chdir('../../../elsewhere')
for (const logger of loggers) {
  logger.info('x')
  await flush(logger, { timeoutMs: 20_000 })
}`,
      { url, beforeSend: './hook.cjs' },
      { cwd: join(dir, 'app/packages/web') },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
  expect(entries).toMatchObject([{ tags: ['hooked'] }, { tags: ['hooked'] }])
  const spools = readdirSync(join(dir, 'app/packages/web')).filter((name) => name.startsWith('spool'))
  expect(spools.toSorted()).toEqual(['spool-of-stream', 'spool-of-worker'])
})

test.each(['-e', '-p'])('ingestOptions() in CommonJS of node %s: pino finds the transport', async (flag) => {
  const text = `const { ingestOptions } = require('${ROOT}'); require('pino')(ingestOptions()).info('x')`
  const entries = await entriesOf((url) => run([flag, text, 'an-argument'], join(dir, 'app'), { PINO_INGEST_URL: url }))
  expect(entries).toHaveLength(1)
})

test('send adds neither name nor version of the current folder', async () => {
  const log = put('app/old.log', '{"level":30,"time":1700000000000,"msg":"old"}\n')
  const cli = join(dir, 'app/node_modules/pino-ingest/dist/cjs/cli.js')
  const args = ['--preserve-symlinks-main', cli, 'send', '--quiet', '--state', join(dir, 'state'), log]
  const [entry] = await entriesOf((url) => run(args, join(dir, 'app'), { ...NPM, PINO_INGEST_URL: url }))
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
