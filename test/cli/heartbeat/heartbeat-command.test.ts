/** `pino-ingest heartbeat` without a program, and wrong usage. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../client/release/clones.js'
import { started } from '../../service/support.js'
import { runInProcess } from '../run-in-process.js'

const TOKEN = 'canary-token-4711'
const SECRET = 's3cret-4711-token'

async function setting() {
  const service = await started({ apiKeys: ['none-is-needed'], monitorTokens: [TOKEN] })
  return { service, env: { PINO_INGEST_URL: service.url, PINO_INGEST_MONITOR_TOKEN: TOKEN } }
}

test('pings once, with the token from a variable or a file, and with a name', async () => {
  const { service, env } = await setting()
  const file = join(scratch(), 'token')
  writeFileSync(file, `${TOKEN}\n`)
  expect(await runInProcess(['heartbeat'], env)).toEqual({ code: 0, out: 'Pinged.\n', err: '' })
  const ofFile = { ...env, PINO_INGEST_MONITOR_TOKEN: '', PINO_INGEST_MONITOR_TOKEN_FILE: file }
  const { out } = await runInProcess(['heartbeat', '--json', '--name', 'Nightly backup'], ofFile)
  expect(JSON.parse(out)).toEqual({ pinged: true })
  expect(service.heartbeats().items).toMatchObject([{ name: 'Nightly backup' }, {}])
  expect(service.requests).toMatchObject([{ keyed: false }, { keyed: false }])
})

test('an unknown token: exit 1, and it is not shown', async () => {
  const { env } = await setting()
  const { code, out, err } = await runInProcess(['heartbeat', '--json'], {
    ...env,
    PINO_INGEST_MONITOR_TOKEN: 'another-token',
  })
  expect([code, out, JSON.parse(err)]).toEqual([
    1,
    '',
    { error: { code: 'REJECTED', message: expect.stringContaining('404') as string } },
  ])
  expect(err).not.toContain('another')
})

test.each([
  [[], { PINO_INGEST_MONITOR_TOKEN: '' }, 'PINO_INGEST_MONITOR_TOKEN'],
  [[], { PINO_INGEST_MONITOR_TOKEN: '..' }, 'monitor token must be'],
  [[SECRET, 'node', 'job.js'], {}, 'unexpected argument (not shown)'],
  [['--'], {}, 'no program after --'],
  [['--', ''], {}, 'no program after --'],
  [
    [],
    { PINO_INGEST_MONITOR_TOKEN: '', PINO_INGEST_MONITOR_TOKEN_FILE: SECRET },
    'PINO_INGEST_MONITOR_TOKEN_FILE (ENOENT)',
  ],
  [[], { PINO_INGEST_URL: '', NODE_ENV: 'production', PINO_INGEST_MONITOR_TOKEN: SECRET }, 'url is required'],
])(
  '%j %j: exit 2, no program is started, and the token is not shown',
  async (args: readonly string[], own, message) => {
    const { service, env } = await setting()
    const marker = join(scratch(), 'run')
    const program = args.includes('--') ? [] : ['--', 'touch', marker]
    const { code, out, err } = await runInProcess(['heartbeat', ...args, ...program], { ...env, ...own })
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)])
    expect(err).not.toContain('s3cret')
    expect([service.requests, existsSync(marker)]).toEqual([[], false])
  },
)
