/** Without a URL nothing is sent and nothing is stored: an application runs as usual, and a command says what to set. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import { scratch } from '../client/release/clones.js'
import { startApp } from './run-app.js'

test.each(['target', 'stream'] as const)(
  'an application (%s) ends at once; one line says that entries are discarded',
  async (mode) => {
    const spool = join(scratch(), 'spool')
    const { code, stderr } = await startApp({ mode, options: {}, count: 3 }, { PINO_INGEST_SPOOL_DIR: spool }).done
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: [expect.stringContaining('npx pino-ingest dev') as string],
    })
    expect(existsSync(spool)).toBe(false)
  },
)

test('in production, an application does not start', async () => {
  const { code, stderr } = await startApp({ mode: 'stream', options: {} }, { NODE_ENV: 'production' }).done
  expect(code).not.toBe(0)
  expect(stderr).toContain('PINO_INGEST_URL')
})

test.each([[[]], [['--json']]])('a pipe (%j) copies its input, and says it once', async (flags) => {
  const { code, stdout, stderr } = await runCli(flags, {}, 'one\ntwo\n')
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'one\ntwo\n' })
  expect(stderr.split('npx pino-ingest dev')).toHaveLength(2)
})

test.each([
  ['send', 'FILE'],
  ['release', '--version', '1.4.0'],
  ['spool', 'replay', '--all'],
])('%s: exit 2, and the variable to set', async (...args) => {
  const file = join(scratch(), 'app.log')
  writeFileSync(file, '{"level":30,"msg":"m"}\n')
  const named = args.map((one) => (one === 'FILE' ? file : one))
  const { code, stdout, stderr } = await runCli(named, { PINO_INGEST_MONITOR_TOKEN: 'monitor-token-4711' })
  expect({ code, said: stdout.toString() + stderr }).toEqual({
    code: 2,
    said: expect.stringContaining('PINO_INGEST_URL') as string,
  })
})
