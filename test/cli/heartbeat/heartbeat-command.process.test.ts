/** `pino-ingest heartbeat` with real programs, signals and exit codes. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../client/release/clones.js'
import { started, until } from '../../service/support.js'
import type { IngestService } from '../../../src/service/index.js'
import { runCli, startCli } from '../run-cli.js'
import type { CliEnv } from '../run-cli.js'

const TOKEN = 'canary-token-4711'
const ANOTHER = { PINO_INGEST_MONITOR_TOKEN: 'another-token' }

interface Setting {
  readonly service: IngestService
  readonly env: CliEnv
  readonly pings: () => number
}

async function setting(): Promise<Setting> {
  const service = await started({ apiKeys: ['none-is-needed'], monitorTokens: [TOKEN] })
  const env = { PINO_INGEST_URL: service.url, PINO_INGEST_MONITOR_TOKEN: TOKEN }
  return { service, env, pings: () => service.heartbeats().items.length }
}

describe('without a program', () => {
  test.each(['PINO_INGEST_MONITOR_TOKEN', 'PINO_INGEST_MONITOR_TOKEN_FILE'])(
    'the token in %s: one ping',
    async (name) => {
      const { service, env, pings } = await setting()
      const file = join(scratch(), 'token')
      writeFileSync(file, `${TOKEN}\n`)
      const own = name.endsWith('FILE') ? { PINO_INGEST_MONITOR_TOKEN: '', [name]: file } : {}
      const { code, stdout, stderr } = await runCli(['heartbeat'], { ...env, ...own })
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: 'Pinged.\n', stderr: '' })
      expect(pings()).toBe(1)
      expect(service.requests).toMatchObject([{ keyed: false }])
    },
  )

  test('--name names the monitor, else the program does', async () => {
    const { service, env } = await setting()
    await runCli(['heartbeat', '--name', 'Nightly backup'], env)
    expect(service.heartbeats().items).toMatchObject([{ name: 'Nightly backup' }])
    await runCli(['heartbeat', '--', process.execPath, '-e', '0'], env)
    expect(service.heartbeats().items).toMatchObject([{ name: 'node' }, {}])
  })

  test('--json', async () => {
    const { env } = await setting()
    expect(JSON.parse((await runCli(['heartbeat', '--json'], env)).stdout.toString())).toEqual({ pinged: true })
    const refused = await runCli(['heartbeat', '--json'], { ...env, ...ANOTHER })
    expect(refused).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(JSON.parse(refused.stderr)).toEqual({
      error: { code: 'REJECTED', message: expect.stringContaining('404') },
    })
    expect(refused.stderr).not.toContain('another')
  })
})

describe('with a program', () => {
  test.each([
    [['true'], 0, ''],
    [['sh', '-c', 'exit 42'], 42, 'pino-ingest: not pinged: exit code 42\n'],
    [['sh', '-c', 'kill -9 $$'], 137, 'pino-ingest: not pinged: SIGKILL\n'],
    [['no-such-program-4711'], 127, 'pino-ingest: no-such-program-4711 was not found\n'],
  ] as const)('%j', async (program, code, stderr) => {
    const { env, pings } = await setting()
    const result = await runCli(['heartbeat', '--', ...program], env)
    expect(result).toEqual({ code, stdout: Buffer.alloc(0), stderr })
    expect(pings()).toBe(code === 0 ? 1 : 0)
  })

  test('a program that handles the signal and succeeds is pinged; one that does not handle it is not', async () => {
    const { env, pings } = await setting()
    for (const [handler, code, count] of [
      ['process.on("SIGTERM", () => process.exit(0));', 0, 1],
      ['', 143, 1],
    ] as const) {
      const running = startCli(
        ['heartbeat', '--', process.execPath, '-e', `${handler} setInterval(() => {}, 1000); console.log('ready')`],
        env,
      )
      await until(() => running.said().includes('ready'), 20_000)
      running.child.kill('SIGTERM')
      expect(await running.done).toMatchObject({ code })
      expect(pings()).toBe(count)
    }
  })

  test('a failed ping is reported and does not change the exit code', async () => {
    const { env } = await setting()
    const result = await runCli(['heartbeat', '--', 'true'], { ...env, ...ANOTHER })
    expect(result).toMatchObject({
      code: 0,
      stdout: Buffer.alloc(0),
      stderr: expect.stringMatching(/^pino-ingest: the program succeeded, but the heartbeat failed: .*404/),
    })
    expect(result.stderr).not.toContain('another')
  })

  test('without a URL the program runs, and a line says that nothing was pinged', async () => {
    const own = { PINO_INGEST_MONITOR_TOKEN: TOKEN }
    const { code, stdout, stderr } = await runCli(['heartbeat', '--', 'echo', 'ran'], own)
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'ran\n' })
    expect(stderr).toContain('PINO_INGEST_URL')
    expect(await runCli(['heartbeat'], own)).toMatchObject({ code: 2, stdout: Buffer.alloc(0) })
  })

  test('--json prints one line on stderr, since stdout belongs to the program', async () => {
    const { env } = await setting()
    const run = async (token: string, ...program: readonly string[]): Promise<unknown> => {
      const { stdout, stderr } = await runCli(['heartbeat', '--json', '--', ...program], {
        ...env,
        PINO_INGEST_MONITOR_TOKEN: token,
      })
      expect(stdout).toHaveLength(0)
      return JSON.parse(stderr)
    }
    expect(await run(TOKEN, 'true')).toEqual({ pinged: true, exit_code: 0, signal: null })
    const message = expect.any(String) as string
    expect(await run(TOKEN, 'false')).toEqual({ pinged: false, exit_code: 1, signal: null, message })
    const killed = await run(TOKEN, 'sh', '-c', 'kill -15 $$')
    expect(killed).toEqual({ pinged: false, exit_code: 143, signal: 'SIGTERM', message })
    expect(await run(TOKEN, 'no-such-program-4711')).toMatchObject({
      pinged: false,
      exit_code: 127,
      message: expect.stringContaining('not found'),
    })
    expect(await run('another-token', 'true')).toMatchObject({
      pinged: false,
      exit_code: 0,
      message: expect.stringContaining('404'),
    })
    expect(await run('..', 'true')).toEqual({
      error: { code: 'INVALID', message: expect.stringContaining('not shown') },
    })
  })
})

describe('bad usage: exit 2, no program is started, and the token is not shown', () => {
  const SECRET = 's3cret-4711-token'
  test.each([
    [[], { PINO_INGEST_MONITOR_TOKEN: '' }, 'heartbeat needs a token: set PINO_INGEST_MONITOR_TOKEN'],
    [[], { PINO_INGEST_MONITOR_TOKEN: '..' }, 'monitor token must be'],
    [[SECRET, 'node', 'job.js'], {}, 'unexpected argument (not shown); set PINO_INGEST_MONITOR_TOKEN'],
    [['--'], {}, 'no program after --'],
    [['--', ''], {}, 'no program after --'],
    [
      [],
      { PINO_INGEST_MONITOR_TOKEN: '', PINO_INGEST_MONITOR_TOKEN_FILE: SECRET },
      'cannot read the file in PINO_INGEST_MONITOR_TOKEN_FILE (ENOENT)',
    ],
    [[], { NODE_ENV: 'production', PINO_INGEST_MONITOR_TOKEN: SECRET }, 'url is required'],
  ] as const)('%j %j', async (args, own, message) => {
    const { service, env } = await setting()
    const marker = join(scratch(), 'run')
    const isProgramGiven = (args as readonly string[]).includes('--')
    const result = await runCli(['heartbeat', ...args, ...(isProgramGiven ? [] : ['--', 'touch', marker])], {
      ...('NODE_ENV' in own ? {} : env),
      ...own,
    })
    expect(result).toMatchObject({ code: 2, stdout: Buffer.alloc(0) })
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('s3cret')
    expect(service.requests).toEqual([])
    expect(existsSync(marker)).toBe(false)
  })
})
