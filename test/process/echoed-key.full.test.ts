/** A service that repeats the API key in its replies: the key is in no output, file or dead letter of the tools. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { httpServer } from '../client/http-servers.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from '../nats/nats-servers.js'
import { cleanEnv, contentsBelow } from './run-app.js'

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

type Reply = readonly [status: number, body: string, headers?: Record<string, string>]

/** Of the request's key. */
const ECHOES: readonly ((key: string) => Reply)[] = [
  (key) => [
    422,
    JSON.stringify({
      accepted: 1,
      rejected: 1,
      message: key,
      errors: [{ index: 0, code: key, field: key, message: key }],
    }),
  ],
  (key) => [422, JSON.stringify({ detail: [{ loc: ['body', 'logs', 0, key], msg: `bad ${key}`, type: key }] })],
  (key) => [403, `<html>${key}</html>`],
  (key) => [200, `<html>${key}</html>`],
  (key) => [302, key, { location: `/${key}` }],
  (key) => [503, key],
]

interface Run {
  readonly dir: string
  readonly requests: () => number
  /** Runs a program to its end. @returns what it printed */
  readonly run: (args: readonly string[], env?: Record<string, string>) => Promise<string>
  /** Starts a program. @returns ends it with SIGTERM, and resolves with what it printed */
  readonly start: (args: readonly string[], env?: Record<string, string>) => (isKilled?: boolean) => Promise<string>
}

/** The service repeats the key of the request in the first replies, then accepts everything. */
async function setUp(): Promise<Run> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-echo-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { origin, came } = await httpServer((response, { headers }) => {
    const at = came.length - 1
    const key = String(headers['x-api-key'])
    const [status, body, more] =
      at < 2 * ECHOES.length ? (ECHOES[at % ECHOES.length]?.(key) ?? [500, '']) : [200, `{"message":"${key}"}`]
    response
      .writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html', ...more })
      .end(body)
  })
  const start: Run['start'] = (args, env) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: cleanEnv({
        PINO_INGEST_URL: `${origin}/api/v1`,
        PINO_INGEST_API_KEY: KEY,
        PINO_INGEST_SPOOL_DIR: dir,
        ...env,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (data) => (printed += String(data)))
    const closed = once(child, 'close').then(() => printed)
    return (isKilled = true) => {
      if (isKilled) child.kill('SIGTERM')
      return closed
    }
  }
  return { dir, requests: () => came.length, start, run: (args, env) => start(args, env)(false) }
}

test('spool replay', UNLESS_IT_HANGS, async () => {
  const { dir, run, requests } = await setUp()
  await run(['-e', APP, '300'], { PINO_INGEST_URL: 'http://127.0.0.1:9/api/v1' })
  const printed = await run([CLI, 'spool', 'replay', '--all', '--timeout', '8'])
  expect(requests()).toBeGreaterThan(3)
  const stored = contentsBelow(dir)
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
  let letters = ''
  await expect
    .poll(async () => (letters = await run([CLI, 'forward', 'dead', 'show'], env)), { timeout: 30_000 })
    .toContain('422')
  await expect.poll(requests, { timeout: 30_000 }).toBeGreaterThan(ECHOES.length)
  const forwarder = await stop()
  expect(`${app}${forwarder}${letters}${contentsBelow(dir)}`).not.toContain(KEY)
})
