/** `pino-ingest heartbeat` with real programs, signals and exit codes. */
import { describe, expect, test } from 'vitest'
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

describe('with a program', () => {
  test.each([
    [['true'], 0, ''],
    [['sh', '-c', 'exit 42'], 42, 'pino-ingest: not pinged: exit code 42\n'],
    [['sh', '-c', 'kill -9 $$'], 137, 'pino-ingest: not pinged: SIGKILL\n'],
    [['no-such-program-4711'], 127, 'pino-ingest: no-such-program-4711 was not found\n'],
  ] as const)('%j', async (program, code, stderr) => {
    const { service, env, pings } = await setting()
    const result = await runCli(['heartbeat', '--', ...program], env)
    expect(result).toEqual({ code, stdout: Buffer.alloc(0), stderr })
    expect(pings()).toBe(code === 0 ? 1 : 0)
    if (code === 0) expect(service.heartbeats().items).toMatchObject([{ name: 'true' }])
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
    const { code, stdout, stderr } = await runCli(['heartbeat', '--', 'echo', 'ran'], {
      PINO_INGEST_MONITOR_TOKEN: TOKEN,
    })
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'ran\n' })
    expect(stderr).toContain('PINO_INGEST_URL')
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
    const killed = await run(TOKEN, 'sh', '-c', 'kill -15 $$')
    expect(killed).toEqual({ pinged: false, exit_code: 143, signal: 'SIGTERM', message })
    expect(await run('..', 'true')).toEqual({
      error: { code: 'INVALID', message: expect.stringContaining('not shown') },
    })
  })
})
