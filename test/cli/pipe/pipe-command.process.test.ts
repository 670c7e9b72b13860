/** The pipe: stdin is copied to stdout and sent to the service, and a failure of one does not affect the other. */
import { randomBytes } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IngestService } from '../../../src/service/index.js'
import { started, until } from '../../service/support.js'
import { runCli, startCli } from '../run-cli.js'
import type { CliEnv } from '../run-cli.js'

const KEY = 'pipe-key-a81b22'
const LINES = 'one\n{"level":30,"time":1767225600000,"msg":"two"}\n'

async function withService(more: CliEnv = {}): Promise<{ service: IngestService; env: CliEnv }> {
  const service = await started({ apiKeys: [KEY] })
  // As long as is permitted: a busy machine delivers slowly.
  const env = { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '8000' }
  return { service, env: { ...env, ...more } }
}

function messages(service: IngestService): string[] {
  return service
    .entries()
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry.message)
}

describe('the pass-through', () => {
  test('lines are copied and sent, including a last line without a newline', async () => {
    const { service, env } = await withService()
    const result = await runCli([], env, `${LINES}three`)
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.toString()).toBe(`${LINES}three`)
    expect(messages(service)).toEqual(['one', 'two', 'three'])
  })

  test('copies any bytes unchanged', async () => {
    const { env } = await withService()
    const bytes = Buffer.concat([randomBytes(300_000), Buffer.from('\r\n\0ünï'), Buffer.from([0xff, 0xfe, 0xc3])])
    const result = await runCli([], env, bytes)
    expect(result.code).toBe(0)
    expect(result.stdout.equals(bytes)).toBe(true)
  })

  test('what cannot be read is sent as it is, and reported once', async () => {
    const { service, env } = await withService()
    const wide = await runCli(['--quiet'], env, Buffer.from(`\ufeff${LINES}`, 'utf16le'))
    expect(wide.code).toBe(0)
    expect(wide.stderr.toString().match(/iconv/g)).toHaveLength(1)
    expect(service.arrived).toBe(2)
  })

  test('flags override variables', async () => {
    const { service, env } = await withService({
      PINO_INGEST_SERVICE: 'variable',
      PINO_INGEST_PINO: '{"messageKey":"other"}',
      PINO_INGEST_SEND_LEVEL: 'fatal',
    })
    const records = [
      { level: 35, text: 'audited' },
      {
        level: 50,
        text: 'failed',
        problem: { type: 'TypeError', message: 'boom', stack: 'TypeError: boom' },
        nested: { a: 1 },
      },
      { level: 20, text: 'below' },
    ]
    const pino = '{"messageKey":"text","errorKey":"problem","nestedKey":"nested","customLevels":{"audit":35}}'
    const flags = `--url ${service.url} --service flag --environment qa --send-level info --quiet --pino`
    const result = await runCli(
      [...flags.split(' '), pino],
      { ...env, PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1' },
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    )
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0), stderr: '' })
    const common = { service: 'flag', environment: 'qa' }
    expect(service.entries().items.map(({ entry }) => entry)).toMatchObject([
      { ...common, level: 'error', message: 'failed', error: { type: 'TypeError' }, metadata: { a: 1 } },
      { ...common, level: 'info', message: 'audited', metadata: { level: 'audit' } },
    ])
  })

  test('reads and sends all of stdin after stdout was closed', async () => {
    const { service, env } = await withService()
    const { child, done } = startCli([], env)
    child.stdout.destroy()
    const line = `${'x'.repeat(1_000)}\n`
    for (let n = 0; n < 2_000; n += 1) child.stdin.write(line)
    child.stdin.end('last\n')
    const result = await done
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(service.arrived).toBe(2_001)
  })

  test('a stalled reader of stdout delays the input, but not the delivery', async () => {
    const { service, env } = await withService({ PINO_INGEST_BATCH_INTERVAL_MS: '10' })
    const { child, done } = startCli([], env)
    child.stdout.pause()
    const line = `${'x'.repeat(10_000)}\n`
    for (let n = 0; n < 2_000; n += 1) child.stdin.write(line)
    child.stdin.end()
    // 20 MB exceed all buffers on the way. The number settles when they are full.
    let seen = 0
    let settledAt = performance.now()
    await until(() => {
      if (service.arrived !== seen) settledAt = performance.now()
      seen = service.arrived
      return seen > 0 && performance.now() - settledAt > 300
    }, 20_000)
    expect(seen).toBeLessThan(1_000)
    child.stdout.resume()
    const result = await done
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.length).toBe(2_000 * line.length)
    expect(service.arrived).toBe(2_000)
  })
})

describe('stdout is a pipe that is full', () => {
  /** A FIFO that nobody reads. `read()` empties it, and returns the number of bytes since it was full. */
  function fullPipe(): { fd: number; read: () => number } {
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-fifo-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'stdout')
    execFileSync('mkfifo', [path])
    // Opened for both, since opening it for one would wait for the other.
    const own = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    // Another description, because starting a process makes its stdout blocking.
    const fd = openSync(path, constants.O_WRONLY)
    onTestFinished(() => {
      closeSync(own)
      closeSync(fd)
    })
    const filled = countBytes(() => writeSync(own, Buffer.alloc(4096, '.')))
    const chunk = Buffer.alloc(65_536)
    let bytes = -filled
    return { fd, read: () => (bytes += countBytes(() => readSync(own, chunk))) }
  }

  /** Repeats a call until it would block. */
  function countBytes(call: () => number): number {
    let bytes = 0
    try {
      for (;;) bytes += call()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    return bytes
  }

  const LINE = '{"level":50,"time":1767225600000,"msg":"failed"}\n'

  test('each line that was read is delivered, and the copy is complete once stdout is read', async () => {
    const { service, env } = await withService({ PINO_INGEST_BATCH_INTERVAL_MS: '10' })
    const { fd, read } = fullPipe()
    const { child, done } = startCli([], env, onTestFinished, fd)
    for (let n = 0; n < 50; n += 1) child.stdin.write(`${LINE}line ${n}\n`)
    await until(() => service.arrived === 100, 20_000)
    child.stdin.end(LINE)
    await until(() => service.arrived === 101, 20_000)
    expect(child.exitCode).toBeNull()
    const expected = 51 * LINE.length + Array.from({ length: 50 }, (_, n) => `line ${n}\n`).join('').length
    let copied = 0
    await until(() => (copied = read()) >= expected, 20_000)
    expect(await done).toMatchObject({ code: 0, stderr: '' })
    expect(copied).toBe(expected)
  })
})

describe('lines that belong together', () => {
  const HEADERS = {
    headers: { 'set-cookie': ['sid=s3cret-1; HttpOnly', 'theme=dark; Path=/; SameSite=Lax; Max-Age=31536000'] },
  }
  const RAW = ['Host', 'localhost', 'Cookie', `sid=s3cret-2${'x'.repeat(80)}`, 'X-Api-Key', 's3cret-3', 'Accept', '*/*']
  const PRINTED = [
    inspect(HEADERS),
    JSON.stringify(HEADERS, null, 2),
    inspect({ rawHeaders: RAW }),
    inspect(RAW),
    'Error: no\n    at a (/app/a.js:1:1)\n    at b (/app/b.js:2:2)',
    '{"level":50,"time":1767225600000,"msg":"a record"}',
    'plain',
    '{"level":30,"time":1767225600000,"req":{"headers":{"cookie":"sid=s3cret-4',
  ]

  test('a value keeps its name, so headers are removed', async () => {
    const { service, env } = await withService()
    const result = await runCli([], env, `${PRINTED.join('\n')}\n`)
    expect(result.code).toBe(0)
    const entries = service
      .entries()
      .items.toSorted((a, b) => a.seq - b.seq)
      .map(({ entry }) => entry)
    expect(JSON.stringify(entries)).not.toMatch(/s3cret|theme=dark/)
    expect(entries.map(({ message }) => message.split('\n').length)).toEqual([
      expect.any(Number),
      1,
      expect.any(Number),
      expect.any(Number),
      3,
      1,
      1,
      1,
    ])
    expect(entries.at(-1)?.metadata).toEqual({ pino_ingest: { cut_from_chars: PRINTED.at(-1)?.length } })
  })

  test('a line that stands alone is sent while the pipe is open, and a line that follows soon is joined', async () => {
    const { service, env } = await withService({ PINO_INGEST_BATCH_INTERVAL_MS: '10' })
    const { child, done } = startCli(['--quiet'], env)
    child.stdin.write('Set-Cookie:\n')
    child.stdin.write('  sid=s3cret\n')
    await until(() => service.arrived === 1, 20_000)
    child.stdin.end('  alone\n')
    expect(await done).toMatchObject({ code: 0, stderr: '' })
    expect(messages(service)).toEqual(['Set-Cookie:[removed]', '  alone'])
  })
})

describe('invalid flags or configuration: exit 2, nothing is sent', () => {
  // More than all buffers on the way hold: the application would receive EPIPE.
  const input = 'x'.repeat(2_000_000)
  const env = { PINO_INGEST_URL: 'nonsense', PINO_INGEST_API_KEY: KEY }

  test.each([
    [[], 'read', 'PINO_INGEST_URL must be'],
    [['--json'], 'read', 'CONFIG'],
    [[], 'full', 'PINO_INGEST_URL must be'],
    [['--bogus'], 'closed', 'unknown flag --bogus'],
  ] as const)('%j: the input is read to its end while stdout is %s', async (args, stdout, problem) => {
    const full = stdout === 'full' ? openSync('/dev/full', 'w') : undefined
    const { child, done } = startCli(args, env, onTestFinished, full)
    if (full !== undefined) closeSync(full)
    if (stdout === 'closed') child.stdout.destroy()
    const written = new Promise<unknown>((resolve) => child.stdin.end(input, (error?: Error | null) => resolve(error)))
    const result = await done
    expect(await written).toBeFalsy()
    expect(result.code).toBe(2)
    expect(result.stdout.toString()).toBe(stdout === 'read' ? input : '')
    expect(result.stderr.split(problem)).toHaveLength(2)
    expect(result.stderr).not.toMatch(/stdout \(/)
    expect(result.stderr).not.toContain(KEY)
  })
})

describe('the service is down', () => {
  const env = {
    PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1',
    PINO_INGEST_API_KEY: KEY,
    PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '200',
  }

  test('copies all lines, reports the number of stored entries without the key, exit 1; the next start sends them', async () => {
    const result = await runCli([], env, LINES)
    expect(result.code).toBe(1)
    expect(result.stdout.toString()).toBe(LINES)
    expect(result.stderr).toContain('2 entries are not yet acknowledged; kept on disk')
    expect(result.stderr).toContain('delivered 0 of 2 entries; 2 kept on disk, 0 dropped, 0 rejected')
    expect(result.stderr).not.toContain(KEY)
  })

  test('without a spool reports the number of lost entries, with --json as lines of JSON on stderr; exit 1', async () => {
    const result = await runCli(['--json'], { ...env, PINO_INGEST_SPOOL: 'false' }, LINES)
    expect([result.code, result.stdout.toString()]).toEqual([1, LINES])
    const lines = result.stderr.trim().split('\n')
    const reported = lines.map((line) => JSON.parse(line) as { event: string })
    expect(reported).toContainEqual({ event: 'ingest:dropped', count: 2, reason: 'shutdown' })
    const account = { received: 2, accepted: 0, dropped: { shutdown: 2 }, pending: 0, balances: true }
    expect(reported.at(-1)).toMatchObject({ event: 'account', ...account })
  })

  test('PINO_INGEST_LOG_TO=silent prints nothing and keeps the exit code', async () => {
    expect(await runCli([], { ...env, PINO_INGEST_LOG_TO: 'silent' }, LINES)).toMatchObject({ code: 1, stderr: '' })
  })
})

test('a rejected entry: exit 1, and the reason without control characters', async () => {
  const { service, env } = await withService()
  service.faults.add({
    kind: 'status',
    status: 422,
    body: {
      detail: [0, 1].map((index) => ({ loc: ['body', 'logs', index], msg: `no \u001b[31m${KEY}\u009b`, type: 'x' })),
    },
  })
  const result = await runCli([], env, LINES)
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('delivered 0 of 2 entries; 0 kept on disk, 0 dropped, 2 rejected')
  expect(result.stderr).not.toMatch(/[\u001b\u009b]/)
  expect(result.stderr).not.toContain(KEY)
})

test('the exit code and the summary include entries that an earlier process left', async () => {
  const { service, env } = await withService()
  const leave = async (text: string): Promise<void> => {
    service.faults.add({ kind: 'status', status: 503 })
    expect((await runCli([], { ...env, PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '200' }, text)).code).toBe(1)
    service.faults.clear()
  }
  await leave('one')
  expect(await runCli([], env, 'two')).toMatchObject({ code: 0, stderr: '' })
  expect(messages(service).toSorted()).toEqual(['one', 'two'])

  await leave('three')
  service.faults.add({ kind: 'reject-containing', text: 'four' })
  const { code, stderr } = await runCli([], env, 'four')
  expect(code).toBe(1)
  expect(stderr).toContain('delivered 1 of 2 entries; 0 kept on disk, 0 dropped, 1 rejected')
})

test('the first signal keeps reading, the second ends reading and delivers', async () => {
  const { service, env } = await withService()
  const { child, said, done } = startCli([], env)
  child.stdin.write('before\n')
  await until(() => said().includes('before'), 20_000)
  // Two signals at once count as one, since npx forwards signals that the terminal has also sent.
  child.kill('SIGHUP')
  child.kill('SIGTERM')
  await until(() => said().includes('reads until stdin ends'), 20_000)
  child.stdin.write('after\n')
  await until(() => said().includes('after'), 20_000)
  expect(child.exitCode).toBeNull()
  const again = setInterval(() => child.kill('SIGINT'), 50)
  await until(() => said().includes('stops reading'), 20_000)
  clearInterval(again)
  expect(await done).toMatchObject({ code: 0 })
  expect(messages(service)).toEqual(['before', 'after'])
})

test('a third signal ends it immediately while the service hangs', async () => {
  const { service, env } = await withService()
  service.faults.add({ kind: 'hang' })
  const { child, said, done } = startCli([], env)
  child.stdin.write('held\n')
  await until(() => said().includes('held'), 20_000)
  const again = setInterval(() => child.kill('SIGINT'), 50)
  const result = await done
  clearInterval(again)
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('delivered 0 of 1 entries; 1 kept on disk, 0 dropped, 0 rejected')
})

test('the pipe loads neither the service nor another command', async () => {
  const { env } = await withService()
  const { stderr } = await runCli([], { ...env, NODE_DEBUG: 'module' }, LINES)
  expect(stderr).toMatch(/\/pipe\.js/)
  expect(stderr).not.toMatch(/\/(?:local-service|page|dev|commands)\.js/)
})
