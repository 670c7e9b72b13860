/** Invalid options and an application that exits before the worker has started: the reason is shown, at once. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const APP = `
const pino = require('pino')
const one = { target: ${JSON.stringify(`${ROOT}dist/cjs/index.js`)}, options: JSON.parse(process.argv[1]) }
const several = { targets: [one, { target: 'pino/file', options: { destination: '/dev/null' } }] }
const logger = pino({ transport: process.argv[3] === 'several' ? several : one })
logger.info('hello')
const ms = Number(process.argv[2])
if (ms === 0) process.exit()
if (ms > 0) setTimeout(() => process.exit(), ms)
`

function run(options: unknown, exitAfterMs: number, env: NodeJS.ProcessEnv, targets: 'one' | 'several' = 'one') {
  return new Promise<{ code: unknown; stderr: string; ms: number }>((resolve) => {
    const startedAt = performance.now()
    const args = ['-e', APP, JSON.stringify(options), String(exitAfterMs), targets]
    execFile(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr, ms: performance.now() - startedAt }),
    )
  })
}

test.each([0, 10, 30, 60, 100, 1_000, -1])(
  'process.exit() after %i ms (-1: a natural end): the reason is on stderr, and the exit code is not 0',
  async (exitAfterMs) => {
    const invalid = await run({ url: 'nonsense', apiKey: 'canary-key-71' }, exitAfterMs, {})
    expect(invalid.stderr).toContain('url must be an absolute URL')
    expect(invalid.stderr).not.toContain('canary-key-71')
    const inProduction = await run({}, exitAfterMs, { NODE_ENV: 'production', PINO_INGEST_URL: '' })
    expect(inProduction.stderr).toContain('url is required')
    for (const { code, ms } of [invalid, inProduction]) {
      expect(code).not.toBe(0)
      // pino waits 10 s for a transport that does not fail as a stream.
      expect(ms).toBeLessThan(9_000)
    }
  },
)

test('beforeSend that cannot be loaded is reported as any other invalid option', async () => {
  const options = { url: 'http://127.0.0.1:1/api/v1', apiKey: 'canary-key-71', spool: false }
  const [missing, throwing, ofSeveral] = await Promise.all([
    run({ ...options, beforeSend: './missing.mjs' }, 0, {}),
    run({ ...options, beforeSend: './test/process/throwing-hook.cjs' }, 0, {}),
    run({ ...options, beforeSend: './missing.mjs' }, 0, {}, 'several'),
  ])
  expect(missing.stderr).toContain('was not found')
  expect(throwing.stderr).toContain('boom')
  expect(throwing.stderr).not.toContain('canary-key-71')
  for (const { code, ms } of [missing, throwing]) {
    expect(code).toBe(1)
    expect(ms).toBeLessThan(9_000)
  }
  // With several targets, pino waits 10 s for each invalid option. The reason is printed before.
  expect(ofSeveral.stderr).toContain('was not found')
})

test.each([
  ['ingestOptions()', `ingestOptions({ url: 'nonsense' })`],
  ['ingestStream()', `ingestStream({ level: 'loud' })`],
  ['IngestClient', `new IngestClient({ url: 'https://logs.example.com', apiKey: 'k' })`],
  ['flushOnSignal()', `flushOnSignal(5)`],
  ['flush()', `flush({}, { timeoutMs: 'soon' }).then(console.log)`],
])('an uncaught error of %s is printed without a line of minified code', async (_, call) => {
  const script = `const all = require('./dist/cjs/index.js'); with (all) { ${call} }`
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) =>
    execFile(process.execPath, ['-e', script], { cwd: ROOT }, (error, _out, text) =>
      resolve({ code: error?.code ?? 0, stderr: text }),
    ),
  )
  expect(code).toBe(1)
  expect(stderr).toContain('CONFIG')
  expect(stderr.slice(0, stderr.indexOf('IngestError: '))).not.toMatch(/\.js|throw/)
})
