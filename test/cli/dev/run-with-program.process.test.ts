/** `pino-ingest dev -- PROGRAM` with real programs: their entries, signals and exit codes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createProgramEnv } from '../../../src/cli/dev/run-with-program.js'
import { resolveOptions } from '../../../src/options/resolve-options.js'
import { scratch } from '../../client/release/clones.js'
import { cleanEnv } from '../../process/run-app.js'
import { call, until } from '../../service/support.js'
import { devEnv, startJson } from '../dev-started.js'
import { runCli, startCli } from '../run-cli.js'

const CLI = fileURLToPath(new URL('../../../dist/cjs/cli.js', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../../dist/esm/index.js', import.meta.url))
const PINO = fileURLToPath(new URL('../../../node_modules/pino/pino.js', import.meta.url))

/** Logs through the worker transport, as an application does. */
function app(lines: string): string {
  const file = join(scratch(), 'app.mjs')
  writeFileSync(
    file,
    `import { createRequire } from 'node:module'
const pino = createRequire(import.meta.url)(${JSON.stringify(PINO)})
const logger = pino({ transport: { target: ${JSON.stringify(PACKAGE)}, options: { service: 'checkout' } } })
${lines}
`,
  )
  return file
}

function dev(args: readonly string[], env = {}): ReturnType<typeof runCli> {
  return runCli(['dev', '--port', '0', ...args], { ...devEnv(), ...env })
}

/** Parses the two JSON lines on stderr, from the start and the end. */
function linesOf(stderr: string): readonly Record<string, unknown>[] {
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('entries that an application logs through its worker arrive', () => {
  test('and are printed with --show, escaped, and counted at the end; its stdout is unchanged', async () => {
    const { code, stdout, stderr } = await dev([
      '--show',
      '--',
      process.execPath,
      app(`
      logger.info('one\\u001b[2J'); logger.error(new Error('card declined'), 'two'); process.stdout.write('said by the app')`),
    ])
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'said by the app' })
    expect(stderr).toMatch(
      /^pino-ingest dev: entries of \S+node.* are shown at\nhttp:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{22}\n/,
    )
    // A port other than the default one is named for the commands that read.
    expect(stderr).toMatch(/ query --url http:\/\/127\.0\.0\.1:\d+\n[^]* ended with 0, 2 entries arrived\n$/)
    expect(stderr).toMatch(/\n\d\d:\d\d:\d\d\.\d{3} info {2}checkout one\\u001b\[2J\n/)
    expect(stderr.split('\n')).toHaveLength(7)
  })

  test('also if it is killed right after sending', async () => {
    // When the program ends, all requests are in flight and most of them are unread.
    const script = `const { connect } = require('node:net'); const url = new URL(process.env.PINO_INGEST_URL)
      const logs = Array.from({ length: 100 }, () => ({ level: 'info', message: 'x'.repeat(3000), timestamp: new Date().toISOString() }))
      const body = JSON.stringify({ logs })
      const head = 'POST ' + url.pathname + '/ingest HTTP/1.1\\r\\nhost: ' + url.host + '\\r\\nx-api-key: k\\r\\ncontent-type: application/json\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n'
      let written = 0
      const onWritten = () => (written += 1) === 30 && process.kill(process.pid, 'SIGKILL')
      for (let count = 0; count < 30; count += 1) { const socket = connect(url.port, url.hostname, () => socket.write(head + body, onWritten)) }`
    const { code, stderr } = await dev(['--json', '--', process.execPath, '-e', script])
    expect(code).toBe(137)
    expect(linesOf(stderr)).toMatchObject([{}, { exit_code: 137, signal: 'SIGKILL', arrived: 3_000 }])
  })
})

describe('the program', () => {
  test.each([
    ['true', ['true'], 0],
    ['another exit code', ['sh', '-c', 'exit 42'], 42],
    ['ended by a signal', ['sh', '-c', 'kill -9 $$'], 137],
    ['not found', ['no-such-program-4711'], 127],
    ['not executable', ['/dev/null'], 126],
  ] as const)('sets the exit code: %s', async (_, program, code) => {
    const result = await dev(['--', ...program])
    expect(result).toMatchObject({ code, stdout: Buffer.alloc(0) })
    expect(result.stderr.includes('are shown at')).toBe(code !== 126 && code !== 127)
    expect(result.stderr).toContain(
      code === 127
        ? 'dev: no-such-program-4711 was not found\n'
        : code === 126
          ? 'cannot be run (EACCES)'
          : ', 0 entries arrived\n',
    )
  })

  test('inherits stdin and receives all flags after --', async () => {
    const script = 'process.stdin.pipe(process.stdout); console.error(process.argv.slice(1).join(" "))'
    const result = await runCli(
      ['dev', '--port', '0', '--', process.execPath, '-e', script, '--', '--json', '--help', '--port', 'x'],
      devEnv(),
      'through',
    )
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('\n--json --help --port x\n') as string })
    expect(result.stdout.toString()).toBe('through')
  })

  test('receives all signals, and its exit code is used', async () => {
    const signals = ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGTERM'] as const
    const script = `for (const signal of ${JSON.stringify(signals)})
      process.on(signal, () => { console.log('got ' + signal); if (signal === 'SIGTERM') process.exit(17) })
      setInterval(() => {}, 1000); console.log('ready')`
    const running = startCli(['dev', '--port', '0', '--', process.execPath, '-e', script], devEnv())
    await until(() => running.said().includes('ready'), 20_000)
    for (const signal of signals) {
      running.child.kill(signal)
      await until(() => running.said().includes(`got ${signal}`), 20_000)
    }
    expect(await running.done).toMatchObject({ code: 17 })
  })

  test('--json: a line at the start and one at the end, on stderr', async () => {
    const { code, stdout, stderr } = await dev(['--json', '--', 'sh', '-c', 'echo out; exit 3'], {
      PINO_INGEST_ENABLED: 'false',
      PINO_INGEST_API_KEY: 'real-key-1',
    })
    expect(stderr).not.toContain('real-key')
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 3, stdout: 'out\n' })
    expect(linesOf(stderr)).toEqual([
      expect.objectContaining({
        page_url: expect.stringContaining('/#token=') as string,
        program: ['sh', '-c', 'echo out; exit 3'],
        overridden: expect.arrayContaining(['PINO_INGEST_ENABLED', 'PINO_INGEST_API_KEY']) as string[],
      }),
      { exit_code: 3, signal: null, arrived: 0 },
    ])
    const missing = await dev(['--json', '--', 'no-such-program-4711'])
    expect(linesOf(missing.stderr)[1]).toEqual({
      exit_code: 127,
      signal: null,
      arrived: 0,
      message: 'no-such-program-4711 was not found',
    })
  })

  test('is not started if the given port is in use', async () => {
    const { started } = await startJson()
    const marker = join(scratch(), 'run')
    const taken = await runCli(['dev', '--port', String(started.port), '--', 'touch', marker], devEnv())
    expect(taken).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(existsSync(marker)).toBe(false)
  })

  test('uses a free port if the default one is in use', async () => {
    const other = createServer().listen(4319, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening').catch(() => {}) // in use by another program: just as well
    const { code, stdout } = await runCli(['dev', '--', 'sh', '-c', 'echo $PINO_INGEST_URL'], devEnv())
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(/^http:\/\/127\.0\.0\.1:(?!4319\/)\d+\/api\/v1\n$/)
  })
})

describe('its environment', () => {
  const url = 'http://127.0.0.1:4319/api/v1'
  const settings = (env: Readonly<Record<string, string | undefined>>) =>
    resolveOptions({}, { env, readFile: () => 'from a file' })

  test('is set to this service, and overridden variables are reported', () => {
    const shell = {
      PATH: '/bin',
      PINO_INGEST_URL: url,
      PINO_INGEST_API_KEY: 'real-key-1',
      PINO_INGEST_PREVIOUS_API_KEYS: 'real-key-2',
      PINO_INGEST_API_KEY_FILE: '/run/secrets/real-key',
      PINO_INGEST_TLS_CERT_FILE: '/cert',
      PINO_INGEST_ENABLED: 'true',
      PINO_INGEST_SEND_LEVEL: 'debug',
    }
    const { env, overridden } = createProgramEnv(shell, url)
    expect(overridden.toSorted()).toEqual(
      ['API_KEY', 'API_KEY_FILE', 'PREVIOUS_API_KEYS', 'TLS_CERT_FILE'].map((name) => `PINO_INGEST_${name}`),
    )
    expect(env).toMatchObject({ PATH: '/bin', PINO_INGEST_SEND_LEVEL: 'debug' })
    expect(settings(env)).toMatchObject({ enabled: true, url, sendLevel: 'debug', spool: false, previousApiKeys: [] })
    expect(settings(env)).not.toHaveProperty('tls')
    expect(settings(env).apiKey.reveal()).toBe('local')
    expect(Object.values(env).filter((value) => value?.includes('real-key'))).toEqual([])
  })

  test('keeps a spool that the shell configures', () => {
    expect(settings(createProgramEnv({ PINO_INGEST_SPOOL_DIR: '/spool' }, url).env).spool).toMatchObject({
      dir: '/spool',
    })
    expect(settings(createProgramEnv({ PINO_INGEST_SPOOL: 'true' }, url).env).spool).not.toBe(false)
  })
})

/** `script` runs a program in a terminal; its stdin is the keyboard. */
const hasScript = existsSync('/usr/bin/script') && process.platform === 'linux'

describe.skipIf(!hasScript)('on a terminal', () => {
  function startInTerminal(program: string) {
    const command = `exec ${process.execPath} ${CLI} dev --port 0 -- ${program}`
    const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      env: cleanEnv({ ...devEnv(), SHELL: '/bin/sh' }),
      stdio: 'pipe',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stdin.on('error', () => {}) // EPIPE after the program has ended
    const done = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, done, said: () => said }
  }

  const CTRL_C = '\u0003'

  test("the page stays open after the program until Ctrl-C; the exit code is the program's", async () => {
    const { child, done, said } = startInTerminal('sh -c "exit 3"')
    await until(() => said().includes('stays open until Ctrl-C'), 20_000)
    const [, origin = '', token = ''] =
      /^(http:\S+)\/#token=([\w-]+)\r?\n[^]*ended with 3, 0 entries arrived/m.exec(said()) ?? []
    expect(await call(`${origin}/local/status?token=${token}`, { method: 'GET' })).toMatchObject({ status: 200 })
    child.stdin.write(CTRL_C)
    expect(await done).toBe(3)
  })

  test('SIGTERM ends the program and the service', async () => {
    const file = join(scratch(), 'app.mjs')
    writeFileSync(
      file,
      'process.on("SIGTERM", () => process.exit(6)); setInterval(() => {}, 1000); console.log(`ready, child of ${process.ppid}.`)',
    )
    const { done, said } = startInTerminal(`${process.execPath} ${file}`)
    await until(() => said().includes('ready'), 20_000)
    process.kill(Number(/child of (\d+)\./.exec(said())?.[1]), 'SIGTERM')
    expect(await done).toBe(6)
    expect(said()).toContain('ended with 6')
    expect(said()).not.toContain('stays')
  })

  test('the first Ctrl-C ends only the program', async () => {
    const file = join(scratch(), 'app.mjs')
    writeFileSync(
      file,
      'process.on("SIGINT", () => { console.log("asked"); setTimeout(() => process.exit(5), 500) }); setInterval(() => {}, 1000); console.log("ready")',
    )
    const { child, done, said } = startInTerminal(`${process.execPath} ${file}`)
    await until(() => said().includes('ready'), 20_000)
    child.stdin.write(CTRL_C)
    await until(() => said().includes('stays open until Ctrl-C'), 20_000)
    expect(said().match(/asked/g)).toHaveLength(1)
    // More than 300 ms after the first, so it counts as a second Ctrl-C. npm forwards signals that the terminal has also sent.
    child.stdin.write(CTRL_C)
    expect(await done).toBe(5)
  })
})
