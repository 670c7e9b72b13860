/** What applications without `nats` load and install of it: nothing. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { cleanEnv } from '../process/run-app.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** An application with this package and pino. */
function installed(others: readonly string[] = []): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-without-nats-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const modules = join(dir, 'node_modules')
  mkdirSync(join(modules, 'pino-ingest'), { recursive: true })
  cpSync(join(root, 'dist'), join(modules, 'pino-ingest/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(modules, 'pino-ingest/package.json'))
  for (const name of ['undici', 'pino', ...others]) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  return dir
}

/** In the main thread and in each worker, which may end without notice. */
const REPORT_LOADED = `
  const { writeSync } = require('node:fs'); const { _extensions } = require('node:module')
  const load = _extensions['.js']
  _extensions['.js'] = (module, file) => { writeSync(1, 'loaded ' + file + '\\n'); return load(module, file) }
`

describe.each([
  ['worker', `pino.transport({ target: 'pino-ingest', options })`],
  ['in-process', `ingestStream(options)`],
])('%s', (_, stream) => {
  /** @returns files that were loaded */
  async function loadedWith(options: object): Promise<string[]> {
    const dir = installed(['@nats-io'])
    writeFileSync(join(dir, 'report.cjs'), REPORT_LOADED)
    writeFileSync(
      join(dir, 'app.cjs'),
      `const pino = require('pino'); const { ingestStream } = require('pino-ingest')
      const options = ${JSON.stringify({ spool: false, ...options })}
      pino(${stream}).info('hello')`,
    )
    const { stdout } = await run(process.execPath, ['--require', './report.cjs', 'app.cjs'], {
      cwd: dir,
      env: cleanEnv({ PINO_INGEST_LOG_TO: 'silent' }),
    })
    return stdout.split('\n').map((line) => line.replace('loaded ', ''))
  }
  const isOfNats = (file: string): boolean => /@nats-io|dist.cjs.nats\.js$/.test(file)

  test('without the option nothing of NATS is loaded', async () => {
    const service = await createIngestService()
    onTestFinished(() => service.close())
    const loaded = await loadedWith({ url: service.url, apiKey: 'any' })
    expect(loaded.some((file) => /dist.cjs.pipeline\.js$/.test(file))).toBe(true)
    expect(loaded.filter(isOfNats)).toEqual([])
  })

  test('with it the publisher and its client are', async () => {
    const loaded = await loadedWith({ nats: { servers: ['127.0.0.1:9'] }, shutdownTimeoutMs: 1_500 })
    expect(loaded.some((file) => /dist.cjs.nats\.js$/.test(file))).toBe(true)
    expect(loaded.some((file) => file.includes('@nats-io'))).toBe(true)
  })
})

test('without the packages every start with the option is refused, and says what to install', async () => {
  const dir = installed()
  writeFileSync(
    join(dir, 'app.cjs'),
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
  const { stdout } = await run(process.execPath, ['app.cjs'], { cwd: dir, env: cleanEnv() })
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; code: string; message: string })
  expect(told.map(({ name }) => name).toSorted()).toEqual(['ingestOptions', 'ingestStream', 'transport', 'worker'])
  for (const { name, code, message } of told) {
    // An error of the worker has its message only.
    if (name !== 'worker') expect(code).toBe('CONFIG')
    // Each with a version, where the latest one does not run.
    const [, advice = ''] = message.split('npm install')
    for (const part of ['@nats-io/transport-node', '@nats-io/jetstream']) expect(advice).toContain(part)
  }
})
