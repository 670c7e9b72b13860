/** Invalid options and an application that exits before the worker has started: the reason is shown, at once. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runScript } from './run-app.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const KEY = 'canary-key-71'
const NATURAL = -1
const APP = `
const pino = require('pino')
const one = { target: ${JSON.stringify(`${ROOT}dist/cjs/index.js`)}, options: JSON.parse(process.argv[1]) }
const logger = pino({ transport: one })
logger.info('hello')
const ms = Number(process.argv[2])
if (ms === 0) process.exit()
if (ms > 0) setTimeout(() => process.exit(), ms)
`

function run(options: unknown, exitAfterMs: number, env: NodeJS.ProcessEnv) {
  return new Promise<{ code: unknown; stderr: string; ms: number }>((resolve) => {
    const startedAt = performance.now()
    const args = ['-e', APP, JSON.stringify(options), String(exitAfterMs)]
    execFile(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr, ms: performance.now() - startedAt }),
    )
  })
}

test('the reason is on stderr and the exit code is not 0, for process.exit() at once, later, and a natural end', async () => {
  for (const exitAfterMs of [0, 100, NATURAL]) {
    const runs = [
      run({ url: 'nonsense', apiKey: KEY }, exitAfterMs, {}),
      run({}, exitAfterMs, { NODE_ENV: 'production', PINO_INGEST_URL: '' }),
    ]
    for (const [at, { code, stderr, ms }] of (await Promise.all(runs)).entries()) {
      expect(stderr).toContain(at === 0 ? 'url must be an absolute URL' : 'url is required')
      expect(stderr).not.toContain(KEY)
      expect(code).not.toBe(0)
      // pino waits 10 s for a transport that does not fail as a stream.
      expect(ms).toBeLessThan(9_000)
    }
  }
})

test('beforeSend that cannot be loaded is reported as any other invalid option', async () => {
  const options = { url: 'http://127.0.0.1:1/api/v1', apiKey: KEY, spool: false }
  const [missing, throwing] = await Promise.all([
    run({ ...options, beforeSend: './missing.mjs' }, 0, {}),
    run({ ...options, beforeSend: './test/process/throwing-hook.cjs' }, 0, {}),
  ])
  expect(missing.stderr).toContain('was not found')
  expect(throwing.stderr).toContain('boom')
  expect(throwing.stderr).not.toContain(KEY)
  for (const { code, ms } of [missing, throwing]) {
    expect(code).toBe(1)
    expect(ms).toBeLessThan(9_000)
  }
})

test.each([
  ['ingestStream()', `ingestStream({ level: 'loud' })`],
  ['flush()', `flush({}, { timeoutMs: 'soon' }).then(console.log)`],
])('an uncaught error of %s is printed without a line of minified code', async (_, call) => {
  const { code, stderr } = await runScript(`${call}`, {})
  expect(code).toBe(1)
  expect(stderr).toContain('CONFIG')
  expect(stderr.slice(0, stderr.indexOf('IngestError: '))).not.toMatch(/\.js|throw/)
})
