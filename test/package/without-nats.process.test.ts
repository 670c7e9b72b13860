/** What applications without `nats` load and install of it: nothing. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnv } from '../process/run-app.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a program in an application with this package and pino. @returns its lines on stdout */
async function run(program: string, flags: readonly string[] = [], others: readonly string[] = []): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-without-nats-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const modules = join(dir, 'node_modules')
  mkdirSync(join(modules, 'pino-ingest'), { recursive: true })
  cpSync(join(root, 'dist'), join(modules, 'pino-ingest/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(modules, 'pino-ingest/package.json'))
  for (const name of ['undici', 'pino', ...others]) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  writeFileSync(join(dir, 'report.cjs'), REPORT_LOADED)
  writeFileSync(join(dir, 'app.cjs'), program)
  const env = cleanEnv({ PINO_INGEST_LOG_TO: 'silent' })
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, 'app.cjs'], { cwd: dir, env })
  return stdout.trim().split('\n')
}

/** In the main thread and in each worker, which may end without notice. */
const REPORT_LOADED = `
  const { writeSync } = require('node:fs'); const { _extensions } = require('node:module')
  const load = _extensions['.js']
  _extensions['.js'] = (module, file) => { writeSync(1, file + '\\n'); return load(module, file) }
`

test.each([
  ['worker', `pino.transport({ target: 'pino-ingest', options })`],
  ['in-process', `ingestStream(options)`],
])('%s: NATS is loaded with the option, and only then', async (_, stream) => {
  const loadedWith = (options: object): Promise<string[]> =>
    run(
      `const pino = require('pino'); const { ingestStream } = require('pino-ingest')
      const options = ${JSON.stringify({ spool: false, shutdownTimeoutMs: 1_000, ...options })}
      pino(${stream}).info('hello')`,
      ['--require', './report.cjs'],
      ['@nats-io'],
    )
  const [without, loaded] = await Promise.all([
    loadedWith({ url: 'http://127.0.0.1:9/api/v1', apiKey: 'any' }),
    loadedWith({ nats: { servers: ['127.0.0.1:9'] } }),
  ])
  expect(without.some((file) => /dist.cjs.pipeline\.js$/.test(file))).toBe(true)
  expect(without.filter((file) => /@nats-io|dist.cjs.nats\.js$/.test(file))).toEqual([])
  expect(loaded.some((file) => /dist.cjs.nats\.js$/.test(file))).toBe(true)
  expect(loaded.some((file) => file.includes('@nats-io'))).toBe(true)
})

test('without the packages every start with the option is refused, and says what to install', async () => {
  const lines = await run(
    `const pino = require('pino'); const pinoIngest = require('pino-ingest')
    const options = { nats: { servers: ['127.0.0.1:4222'] } }
    let told = 0
    const tell = (name) => (error) => {
      console.log(JSON.stringify({ name, code: error.code, message: error.message }))
      if (++told === 4) process.exit()
    }
    const attempt = (name, call) => { try { call() } catch (error) { tell(name)(error) } }
    attempt('ingestStream', () => pinoIngest.ingestStream(options))
    attempt('ingestOptions', () => pinoIngest.ingestOptions({ transport: { target: 'pino-ingest', options } }))
    attempt('disabled', () => pinoIngest.ingestStream({ ...options, enabled: false }).end())
    attempt('transport', () => pinoIngest.default(options))
    pino.transport({ target: 'pino-ingest', options }).on('error', tell('worker'))`,
  )
  const told = lines.map((line) => JSON.parse(line) as { name: string; code: string; message: string })
  expect(told.map(({ name }) => name).toSorted()).toEqual(['ingestOptions', 'ingestStream', 'transport', 'worker'])
  for (const { name, code, message } of told) {
    // An error of the worker has its message only.
    if (name !== 'worker') expect(code).toBe('CONFIG')
    // Each with a version, where the latest one does not run.
    const [, advice = ''] = message.split('npm install')
    for (const part of ['@nats-io/transport-node', '@nats-io/jetstream']) expect(advice).toContain(part)
  }
})
