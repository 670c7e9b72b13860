/**
 * `captureUncaught()` logs uncaught errors and leaves output and exit code to Node. Each test runs real processes and
 * compares them with the same application without the package.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { captureUncaught } from '../../../src/app/errors/capture-uncaught.js'
import { createIngestService } from '../../../src/service/index.js'
import type { IngestService } from '../../../src/service/index.js'
import { cleanEnv } from '../../process/run-app.js'
import { ingestStream } from '../../../src/transport/in-process.js'
import { lines } from '../lines.js'
import pino from 'pino'

type LoggerKind = 'none' | 'stdout' | 'worker' | 'stream' | 'throwing'

interface Plan {
  readonly logger?: LoggerKind | readonly LoggerKind[]
  readonly kind: string
  readonly listens?: readonly string[]
  readonly options?: object
  readonly ingest?: object
  readonly undo?: boolean
  readonly inWorker?: boolean
}

interface Ended {
  readonly code: number | null
  readonly stderr: string
  readonly stdout: string
  readonly records: readonly Record<string, unknown>[]
}

/** The tests run concurrently and share this list. */
const undos: (() => void | Promise<void>)[] = []
afterAll(async () => {
  await Promise.all(undos.map((undo) => undo()))
})

async function run(plan: Plan, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [...args, fileURLToPath(new URL('uncaught.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify(plan), ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  undos.push(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  const [code] = (await once(child, 'close')) as [number | null]
  const records = stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { code, stderr: stderr(), stdout: stdout(), records }
}

const plainRuns = new Map<string, Promise<Ended>>()

/** The same application without `captureUncaught()`. */
function runPlain(kind: string): Promise<Ended> {
  const started = plainRuns.get(kind) ?? run({ kind })
  plainRuns.set(kind, started)
  return started
}

async function startService(): Promise<{ service: IngestService; ingest: object }> {
  const service = await createIngestService()
  undos.push(() => service.close())
  return { service, ingest: { url: service.url, apiKey: 'k', service: 'shop', spool: false } }
}

describe.concurrent("output and exit code are Node's", () => {
  test.each(['thrown', 'rejectedText'])('%s, with a synchronous destination', async (kind) => {
    const [plain, captured] = await Promise.all([runPlain(kind), run({ kind, logger: 'stdout' })])
    expect(plain.code).toBe(1)
    expect(captured).toMatchObject({ code: 1, stderr: plain.stderr })
    expect(captured.records).toMatchObject([{ level: 60, event_id: expect.any(String) as string }])
  })

  test.each([
    ['thrown', 'RangeError: declined'],
    ['frozen', 'Error: frozen'],
    ['text', 'a text'],
    ['nothing', 'undefined'],
    ['rejectedText', 'UnhandledPromiseRejection'],
    ['topLevel', 'Error: top level'],
  ])('%s, after the flush of a stream: the same output without the source line', async (kind, first) => {
    const { service, ingest } = await startService()
    const [plain, captured] = await Promise.all([runPlain(kind), run({ kind, logger: 'stream', ingest })])
    expect(captured.code).toBe(1)
    expect(captured.stderr.trimStart().replace(/^\[/, '').startsWith(first)).toBe(true)
    expect(plain.stderr.endsWith(captured.stderr.trimStart())).toBe(true)
    expect(service.entries().items).toMatchObject([{ entry: { level: 'fatal' } }])
  })

  test.each(['thrown', 'async'])('%s, with a worker', async (kind) => {
    const { service, ingest } = await startService()
    const [plain, captured] = await Promise.all([runPlain(kind), run({ kind, logger: 'worker', ingest })])
    expect(captured).toMatchObject({ code: 1, stderr: plain.stderr })
    expect(service.entries().items).toMatchObject([{ entry: { level: 'fatal' } }])
  })

  test.each(['stdout', 'worker'] as const)('except for the option exitCode, with the logger %s', async (logger) => {
    const { ingest } = await startService()
    const [plain, captured] = await Promise.all([
      runPlain('thrown'),
      run({ kind: 'thrown', logger, ingest, listens: ['exit'], options: { exitCode: 70 } }),
    ])
    expect(captured.code).toBe(70)
    expect(captured.stderr).toContain('RangeError: declined')
    expect(plain.stderr.endsWith(captured.stderr)).toBe(true)
    expect(captured.stdout).toContain('app: 70\n')
  })

  test.each(['throw', 'strict', 'warn', 'warn-with-error-code', 'none'])(
    'with --unhandled-rejections=%s',
    async (mode) => {
      const { service, ingest } = await startService()
      const args = [`--unhandled-rejections=${mode}`]
      const withoutPid = (text: string): string => text.replaceAll(/\(node:\d+\)/g, '(node)')
      const [plain, monitored, flushed] = await Promise.all([
        run({ kind: 'async' }, args),
        run({ kind: 'async', logger: 'stdout' }, [], { NODE_OPTIONS: args.join(' ') }),
        run({ kind: 'async', logger: 'stream', ingest }, args),
      ])
      const isLogged = mode !== 'warn-with-error-code'
      expect({ ...monitored, stderr: withoutPid(monitored.stderr) }).toMatchObject({
        code: plain.code,
        stderr: withoutPid(plain.stderr),
      })
      expect(flushed.code).toBe(plain.code)
      expect(withoutPid(plain.stderr).endsWith(withoutPid(flushed.stderr))).toBe(true)
      expect(flushed.stderr).toContain(mode === 'none' ? '' : 'async')
      expect(monitored.records.map(({ msg }) => msg)).toEqual(isLogged ? ['async'] : [])
      expect(service.entries().items).toHaveLength(isLogged ? 1 : 0)
    },
  )

  test('with a logger that throws, alone and with a second logger', async () => {
    const plain = await runPlain('thrown')
    expect(await run({ kind: 'thrown', logger: 'throwing' })).toMatchObject({ code: 1, stderr: plain.stderr })
    expect(await run({ kind: 'thrown', logger: ['throwing', 'stdout'] })).toMatchObject({
      code: 1,
      stderr: plain.stderr,
      records: [{ msg: 'declined' }],
    })
  })

  test('logs nothing after it is undone', async () => {
    const { ingest } = await startService()
    expect(await run({ kind: 'thrown', logger: ['stdout', 'stream'], ingest, undo: true })).toMatchObject({
      code: 1,
      records: [],
    })
  })
})

describe.concurrent('the application has its own listeners', () => {
  test.each<[string, readonly string[], number]>([
    ['thrown', ['uncaughtException'], 0],
    ['async', ['unhandledRejection'], 0],
    ['async', ['unhandledRejection', 'uncaughtException'], 0],
    ['async', ['unhandledRejection', 'rethrow'], 1],
    ['thrown', ['unhandledRejection'], 1],
  ])('%s, with listeners for %j: the exit code is %d', async (kind, listens, code) => {
    const { service, ingest } = await startService()
    const [monitored, flushed] = await Promise.all([
      run({ kind, listens, logger: 'stdout' }),
      run({ kind, listens, logger: 'stream', ingest }),
    ])
    for (const one of [monitored, flushed]) {
      expect(one.code).toBe(code)
      expect(one.stdout.split('app: ')).toHaveLength(kind === 'thrown' && code === 1 ? 1 : 2)
    }
    expect(monitored.records).toHaveLength(1)
    expect(service.entries().items).toHaveLength(1)
  })
})

describe.concurrent('the logged records', () => {
  test.each(['scope', 'rejectedScope'])('%s: fields and breadcrumbs of the scope, id and origin', async (kind) => {
    const { service, ingest } = await startService()
    await run({ kind, logger: 'stream', ingest })
    expect(service.entries().items.map(({ entry }) => entry)).toMatchObject([
      {
        level: 'fatal',
        request_id: 'r-1',
        breadcrumbs: [{ message: 'before' }],
        error: { stack: expect.stringContaining('uncaught.mjs') as string },
        metadata: {
          event_id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
          origin: kind === 'scope' ? 'uncaughtException' : 'unhandledRejection',
        },
      },
    ])
  })

  test('logs a second error during the flush; Node prints the first', async () => {
    const { service, ingest } = await startService()
    service.faults.add({ kind: 'delay', delayMs: 500, times: 1 })
    const { code, stderr } = await run({ kind: 'twice', logger: 'stream', ingest })
    expect(code).toBe(1)
    expect(stderr).toContain('Error: first')
    expect(stderr).not.toContain('Error: second')
    expect(
      service
        .entries()
        .items.map(({ entry }) => entry.message)
        .toSorted(),
    ).toEqual(['first', 'second'])
  })

  test('ends in time and prints the error when the service does not answer', async () => {
    const { service, ingest } = await startService()
    service.faults.add({ kind: 'hang', times: 100 })
    const plain = await runPlain('thrown')
    const startedAt = performance.now()
    const captured = await run({
      kind: 'thrown',
      logger: 'stream',
      ingest: { ...ingest, spool: true },
      options: { timeoutMs: 500 },
    })
    expect(performance.now() - startedAt).toBeLessThan(50_000)
    expect(captured.code).toBe(1)
    expect(captured.stderr).toMatch(/^pino-ingest: 1 entry [^\n]*\n/)
    const printed = captured.stderr.slice(captured.stderr.indexOf('\n') + 1)
    expect(printed).toMatch(/^RangeError: declined/)
    expect(plain.stderr.endsWith(printed)).toBe(true)
    service.faults.clear()
    // The next process sends the record from the spool.
    const next = ingestStream({ ...ingest, spool: true })
    await service.waitForEntries(1, { timeoutMs: 50_000 })
    next.end()
    await once(next, 'close')
  })

  test('process.exit() during the flush does not become a success', async () => {
    const { service, ingest } = await startService()
    service.faults.add({ kind: 'hang', times: 100 })
    expect((await run({ kind: 'exits', logger: 'stream', ingest })).code).toBe(1)
  })

  test.each(['stdout', 'worker'] as const)('in a worker thread, with the logger %s', async (logger) => {
    const { service, ingest } = await startService()
    const { stdout } = await run({ kind: 'thrown', logger, ingest, inWorker: true })
    expect(stdout).toContain('parent: declined\nworker ended: 1\n')
    if (logger === 'stdout') expect(stdout).toContain('"level":60')
    else expect(service.entries().items).toMatchObject([{ entry: { level: 'fatal', message: 'declined' } }])
  })
})

test.each([-1, 256, 1.5])('rejects the exit code %d', (exitCode) => {
  expect(() => captureUncaught(pino(lines().stream), { exitCode })).toThrow(/exitCode .*from 0 to 255/)
})
