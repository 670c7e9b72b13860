/**
 * The ways to end a process. With the service up, all entries are delivered; with the service down, losses are
 * reported.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { ingestStream } from '../../src/transport/in-process.js'
import { cleanEnv, runApp, startApp } from './run-app.js'
import type { AppPlan } from './run-app.js'
import { lastingPort } from '../reusable-port.mjs'

const COUNT = 4_000
const KEY = 'exits-key-c0ffee'

let service: IngestService
beforeEach(async () => {
  service = await createIngestService({ apiKeys: [KEY], port: await lastingPort() })
})
afterEach(() => service.close())

function plan(more: Partial<AppPlan>): AppPlan {
  return { mode: 'target', options: { url: service.url, apiKey: KEY }, count: COUNT, ...more }
}

/** The number of different records at the service. */
function arrived(): number {
  return new Set(service.entries({ limit: Infinity }).items.map(({ entry }) => entry.metadata?.['n'])).size
}

/** Another process that logs nothing: it runs until the service has `count` entries. */
async function nextStart(entries: number): Promise<void> {
  const app = startApp(plan({ count: 0, end: 'hold' }))
  await service.waitForEntries(entries, { timeoutMs: 20_000 })
  app.child.kill('SIGTERM')
  expect((await app.done).code).toBe(0)
}

describe.each(['target', 'targets-copy', 'pipeline'] as const)('%s, service up', (mode) => {
  test.each(['exit', 'throw', 'natural'] as const)('%s', async (end) => {
    const result = await runApp(plan({ mode, end }))
    expect(result.code).toBe(end === 'throw' ? 1 : 0)
    expect(result.stderr.includes('uncaught on purpose')).toBe(end === 'throw')
    expect(arrived()).toBe(COUNT)
    expect(service.arrived).toBe(mode === 'targets-copy' ? 2 * COUNT : COUNT)
  })
})

test('a signal that the application handles', async () => {
  const app = startApp(plan({ end: 'hold' }))
  await new Promise<void>((resolve) => {
    app.child.stdio[3]?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('holding')) resolve()
    })
  })
  app.child.kill('SIGTERM')
  expect(await app.done).toMatchObject({ code: 0, stderr: '' })
  expect(arrived()).toBe(COUNT)
})

test('logger.flush waits for the acknowledgement', async () => {
  const result = await runApp(
    plan({ end: 'flush', options: { url: service.url, apiKey: KEY, batch: { intervalMs: 60_000 } } }),
  )
  const order = result.events.map(({ name }) => name)
  expect(order).toContain('flushed')
  expect(arrived()).toBe(COUNT)
})

describe('in-process', () => {
  test('delivers at a natural end', async () => {
    expect(await runApp(plan({ mode: 'stream', end: 'natural' }))).toMatchObject({ code: 0, stderr: '' })
    expect(arrived()).toBe(COUNT)
  })

  test('does not wait for the backoff at a natural end: one 403, then the service is healthy', async () => {
    service.faults.add({ kind: 'status', status: 403, times: 1 })
    await runApp(plan({ mode: 'stream', end: 'natural' }))
    expect(arrived()).toBe(COUNT)
  })

  test('counts and reports entries logged after the end, without an error', async () => {
    const stream = ingestStream({ url: service.url, apiKey: KEY, logTo: 'silent' })
    const problems: unknown[] = []
    const drops: unknown[] = []
    stream.on('error', (error) => problems.push(error))
    stream.on('ingest:dropped', (drop) => drops.push(drop))
    stream.write('{"level":30,"n":0,"msg":"in time"}\n')
    stream.end()
    stream.write('{"level":30,"n":1,"msg":"late"}\n')
    await once(stream, 'close')
    stream.write('{"level":30,"n":2,"msg":"later still"}\n')
    expect(problems).toEqual([])
    expect(
      arrived() + drops.reduce<number>((sum, drop) => sum + (drop as { count: number }).count, 0),
    ).toBeGreaterThanOrEqual(2)
  })

  test('a listener that throws a value other than text has no effect', async () => {
    const stream = ingestStream({ url: service.url, apiKey: KEY, logTo: 'silent' })
    stream.on('ingest:delivered', () => {
      throw Object.create(null)
    })
    stream.write('{"level":30,"n":0,"msg":"hello"}\n')
    await new Promise<void>((resolve) => {
      stream.flush(resolve)
    })
    expect(arrived()).toBe(1)
    stream.end()
    await once(stream, 'close')
  })

  test('process.exit leaves no time: the next start sends the entries on disk', async () => {
    const result = await runApp(plan({ mode: 'stream', end: 'exit' }))
    expect(result.code).toBe(0)
    const kept = /(\d+) entries are not yet acknowledged/.exec(result.stderr)
    expect(Number(kept?.[1]) + arrived()).toBeGreaterThanOrEqual(COUNT)
    await nextStart(COUNT)
    expect(arrived()).toBe(COUNT)
  })

  test('process.exit without a spool loses entries, and reports their number', async () => {
    const result = await runApp(
      plan({ mode: 'stream', end: 'exit', options: { url: service.url, apiKey: KEY, spool: false } }),
    )
    expect(result.code).toBe(0)
    const reported = /dropped (\d+) entries \(shutdown\)/.exec(result.stderr)
    expect(Number(reported?.[1]) + arrived()).toBeGreaterThanOrEqual(COUNT)
  })
})

/** Runs `logging-at-exit.mjs`. */
async function runLoggingAtExit(
  end: string,
  { streams = 1, spool }: { readonly streams?: number; readonly spool?: false } = {},
) {
  const options = { url: service.url, apiKey: KEY, shutdownTimeoutMs: 500, ...(spool === false && { spool }) }
  const child = spawn(process.execPath, [fileURLToPath(new URL('logging-at-exit.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify({ options, streams, end }) }),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  let counts = ''
  child.stderr?.on('data', (chunk: Buffer) => void (stderr += chunk.toString()))
  child.stdio[3]?.on('data', (chunk: Buffer) => void (counts += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const dropped = [...stderr.matchAll(/dropped (\d+) entr/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  return { code, logged: streams * Number(counts.trim().split('\n').at(-1)), dropped }
}

describe('in-process, records logged while the process ends', () => {
  const LOGGED = 3
  const ENDS = ['natural', 'exit', 'throw', 'reject', 'handled', 'closed', 'destroyed']

  test.each(ENDS)('%s: those of a listener for `exit` are on disk, and the next start sends them', async (end) => {
    const outage = service.faults.add({ kind: 'status', status: 503 })
    expect(await runLoggingAtExit(end)).toMatchObject({ logged: LOGGED, dropped: 0 })
    outage()
    await nextStart(LOGGED)
    expect(arrived()).toBe(LOGGED)
  })

  test.each(ENDS)('%s without a spool: those of a listener for `exit` are counted and reported', async (end) => {
    service.faults.add({ kind: 'status', status: 503 })
    expect(await runLoggingAtExit(end, { spool: false })).toMatchObject({ logged: LOGGED, dropped: LOGGED })
  })

  test('several streams', async () => {
    const outage = service.faults.add({ kind: 'status', status: 503 })
    expect(await runLoggingAtExit('exit', { streams: 3 })).toMatchObject({ logged: 3 * LOGGED, dropped: 0 })
    outage()
    await nextStart(3 * LOGGED)
  })

  test.each(['before-exit-first', 'before-exit-last'])(
    '%s: a listener for `beforeExit` that logs at each event does not keep the process alive, and its first record arrives',
    async (end) => {
      expect(await runLoggingAtExit(end, { spool: false })).toEqual({ code: 0, logged: 3, dropped: 1 })
      expect(service.arrived).toBe(2)
    },
  )

  test('what a handler logs before it sends the signal again arrives, and the exit code is that of the signal', async () => {
    expect(await runLoggingAtExit('raised', { spool: false })).toEqual({ code: 143, logged: 2, dropped: 0 })
    expect(service.arrived).toBe(2)
  })
})

describe('service down', () => {
  test.each(['target', 'targets-copy', 'pipeline', 'stream'] as const)(
    '%s: does not delay the exit, and the next start sends everything',
    async (mode) => {
      const { port } = service
      await service.close()
      const result = await runApp(plan({ mode, end: mode === 'stream' ? 'natural' : 'exit' }))
      const copies = mode === 'targets-copy' ? 2 : 1
      expect(result.code).toBe(0)
      expect(result.stderr).not.toContain('dropped')
      expect(result.stderr.match(/entries are not yet acknowledged; kept on disk/g)).toHaveLength(copies)
      service = await createIngestService({ apiKeys: [KEY], port })
      await nextStart(copies * COUNT)
      expect({ entries: service.arrived, different: arrived() }).toEqual({ entries: copies * COUNT, different: COUNT })
    },
  )

  test('processes that log one line and end send the backlog, too', async () => {
    const { port } = service
    await service.close()
    await runApp(plan({ end: 'exit' }))
    service = await createIngestService({ apiKeys: [KEY], port })
    // One process suffices unless the machine is busy. If an exit did not wait, each would send only a few batches.
    for (let run = 0; run < 3 && arrived() < COUNT; run += 1) await runApp(plan({ count: 1, end: 'exit' }))
    expect(arrived()).toBe(COUNT)
  })

  test.each(['target', 'stream'] as const)(
    '%s without a spool: does not delay the exit, and reports the loss once with its count',
    async (mode) => {
      await service.close()
      const result = await runApp(
        plan({
          mode,
          end: 'natural',
          options: { url: service.url, apiKey: KEY, shutdownTimeoutMs: 500, spool: false },
        }),
      )
      expect(result.code).toBe(0)
      expect(result.stderr.match(/dropped/g)).toHaveLength(1)
      expect(result.stderr).toContain(`dropped ${COUNT} entries (shutdown)`)
      expect(result.stderr).toContain('ECONNREFUSED')
      expect(result.stderr).not.toContain(KEY)
    },
  )
})

describe('signals', () => {
  test.each([
    ['SIGTERM', 'signal', 143],
    ['SIGINT', 'signal', 130],
  ] as const)(
    '%s with flushOnSignal: everything arrives, and the exit code is that of the signal',
    async (signal, end, code) => {
      const app = startApp(plan({ end }))
      await app.heard('holding')
      app.child.kill(signal)
      expect((await app.done).code).toBe(code)
      expect(arrived()).toBe(COUNT)
    },
  )

  test('SIGTERM without a handler: the next start sends the entries on disk, except those of the last milliseconds', async () => {
    service.faults.add({ kind: 'status', status: 503 })
    const app = startApp(plan({ end: 'unhandled', options: { url: service.url, apiKey: KEY, requestTimeoutMs: 500 } }))
    await app.heard('holding')
    app.child.kill('SIGTERM')
    expect((await app.done).signal).toBe('SIGTERM')
    service.faults.clear()
    await nextStart(COUNT)
    expect({ entries: service.arrived, different: arrived() }).toEqual({ entries: COUNT, different: COUNT })
  })
})
