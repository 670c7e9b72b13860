/** A service that repeats the API key in every reply: the key is in no file, no output, no event and no dead letter. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from '../nats/nats-servers.js'
import { cleanEnv } from './run-app.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CLI = join(ROOT, 'dist/cjs/cli.js')
const KEY = 'canary-key-4711-of-the-service'
const APP = `
const stream = require('pino').transport({ target: '${ROOT}dist/cjs/index.js', options: { batch: { size: 2, intervalMs: 20 } } })
const { emit } = stream
stream.emit = function (...args) { console.log(JSON.stringify(args)); return emit.apply(this, args) }
const logger = require('pino')(stream)
for (let n = 0; n < 24; n += 1) logger.info('record ' + n)
setTimeout(() => process.exit(), Number(process.argv[1]))
`

type Echo = (key: string) => readonly [status: number, body: unknown, headers?: Record<string, string>]

const ECHOES: readonly Echo[] = [
  (key) => [
    422,
    { accepted: 1, rejected: 1, message: key, errors: [{ index: 0, code: key, field: key, message: key }] },
  ],
  (key) => [422, { detail: [{ loc: ['body', 'logs', 0, key], msg: `bad ${key}`, type: key }] }],
  (key) => [
    200,
    { accepted: 1, rejected: 1, message: '', errors: [{ index: 1, code: 'C', field: key, message: key }] },
  ],
  (key) => [403, `<html>${key}</html>`],
  (key) => [400, `no ${key}`],
  (key) => [200, `<html>${key}</html>`],
  (key) => [302, key, { location: `/${key}` }],
  (key) => [503, key],
  (key) => [404, { detail: key }],
]

/** Repeats the key of the request in the first 18 replies, then accepts everything. */
async function startEcho(): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0
  const server = createServer((request, response) => {
    const key = String(request.headers['x-api-key'])
    request.resume().on('end', () => {
      const echo = requests < 2 * ECHOES.length ? ECHOES[requests % ECHOES.length] : undefined
      requests += 1
      const [status, body, headers = {}] = echo?.(key) ?? [200, { message: key }]
      const isJson = typeof body === 'object'
      response.writeHead(status, { 'content-type': isJson ? 'application/json' : 'text/html', ...headers })
      response.end(isJson ? JSON.stringify(body) : body)
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`, requests: () => requests }
}

interface Run {
  readonly dir: string
  readonly url: string
  /** Runs a program to its end. @returns what it printed */
  readonly run: (args: readonly string[], env?: Record<string, string>) => Promise<string>
  /** Starts a program, and ends it with SIGTERM. */
  readonly start: (args: readonly string[], env?: Record<string, string>) => () => Promise<string>
}

async function setUp(): Promise<Run & { readonly requests: () => number }> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-echo-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { url, requests } = await startEcho()
  const envOf = (env: Record<string, string> = {}): NodeJS.ProcessEnv =>
    cleanEnv({ PINO_INGEST_URL: url, PINO_INGEST_API_KEY: KEY, PINO_INGEST_SPOOL_DIR: dir, ...env })
  const options = (env?: Record<string, string>) => ({ cwd: ROOT, env: envOf(env) })
  return {
    dir,
    url,
    requests,
    run: (args, env) =>
      new Promise((resolve) => {
        execFile(process.execPath, args, options(env), (_, stdout, stderr) => resolve(stdout + stderr))
      }),
    start: (args, env) => {
      const child = spawn(process.execPath, args, { ...options(env), stdio: 'pipe' })
      let printed = ''
      for (const output of [child.stdout, child.stderr]) output.on('data', (data) => (printed += String(data)))
      onTestFinished(() => void child.kill('SIGKILL'))
      return async () => {
        child.kill('SIGTERM')
        await once(child, 'close')
        return printed
      }
    },
  }
}

function filesIn(dir: string): string {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))
  return files
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n')
}

test('the transport', UNLESS_IT_HANGS, async () => {
  const { dir, run, requests } = await setUp()
  const printed = await run(['-e', APP, '5000'])
  expect(requests()).toBeGreaterThan(3)
  expect(printed).toContain('ingest:')
  const stored = filesIn(dir)
  expect(stored).toContain('"status":422')
  expect(`${printed}${stored}`).not.toContain(KEY)
})

test('spool replay', UNLESS_IT_HANGS, async () => {
  const { dir, run, requests } = await setUp()
  await run(['-e', APP, '300'], { PINO_INGEST_URL: 'http://127.0.0.1:9/api/v1' })
  const printed = await run([CLI, 'spool', 'replay', '--all', '--timeout', '8'])
  expect(requests()).toBeGreaterThan(3)
  const stored = filesIn(dir)
  expect(stored).toContain('"status":422')
  expect(`${printed}${stored}`).not.toContain(KEY)
})

test.skipIf(SKIPS_NATS)('forward', UNLESS_IT_HANGS, async () => {
  const nats = await natsServers()
  const { dir, run, start, requests } = await setUp()
  const env = { PINO_INGEST_NATS_SERVERS: nats.urls.join(',') }
  const sizes = ['--max-bytes', '16mb', '--max-dead-bytes', '4mb', '--max-state-bytes', '4mb']
  await run([CLI, 'forward', 'init', '--replicas', '1', ...sizes], env)
  const stop = start([CLI, 'forward'], env)
  const app = await run(['-e', APP, '1500'], { ...env, PINO_INGEST_URL: '', PINO_INGEST_API_KEY: '' })
  await expect.poll(requests, { timeout: 30_000 }).toBeGreaterThan(3)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const forwarder = await stop()
  const letters = await run([CLI, 'forward', 'dead', 'show'], env)
  expect(letters).toContain('422')
  expect(`${app}${forwarder}${letters}${filesIn(dir)}`).not.toContain(KEY)
})
