/**
 * `flush(logger)` in every mode: `acknowledged` means that the service has all entries, `spooled` that they are on
 * disk.
 */
import pino from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FlushResult } from '../../../src/transport/flush-message.js'
import { flush, ingestOptions, ingestStream } from '../../../src/index.js'
import { createIngestService } from '../../../src/service/index.js'
import { runScript, startApp } from '../../process/run-app.js'
import type { AppPlan } from '../../process/run-app.js'
import { lastingPort } from '../../reusable-port.mjs'

const KEY = 'flush-key-77ab'
const COUNT = 5_000

type Flushed = FlushResult & { readonly tookMs: number }

function planFor(mode: AppPlan['mode'], url: string, options: object = {}): AppPlan {
  return { mode, options: { url, apiKey: KEY, ...options }, count: COUNT, end: 'flush-all' }
}

describe.concurrent('flush', () => {
  test.each(['target', 'targets-copy', 'targets-before', 'targets-after', 'pipeline', 'stream'] as const)(
    '%s: acknowledged means that the service has the entry',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      const app = startApp({
        ...planFor(mode, service.url),
        flushTimeoutMs: 20_000,
        ...(mode.startsWith('targets-') && { otherFile: '/dev/null' }),
      })
      const { state, account } = (await app.heard('flushed')).payload as Flushed
      const copies = mode === 'targets-copy' ? 2 : 1
      expect({ state, entries: service.entries({ limit: Infinity }).items.length }).toEqual({
        state: 'acknowledged',
        entries: copies * COUNT,
      })
      expect(account).toMatchObject({ received: copies * COUNT, accepted: copies * COUNT, pending: 0, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test.each(['target', 'targets-copy', 'stream'] as const)(
    '%s: ends at its timeout when the service does not answer: everything is on disk, and the account balances',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      service.faults.add({ kind: 'hang' })
      // A worker needs this long to start on a busy machine.
      const app = startApp({ ...planFor(mode, service.url, { requestTimeoutMs: 60_000 }), flushTimeoutMs: 10_000 })
      const { state, account, tookMs } = (await app.heard('flushed')).payload as Flushed
      expect(state).toBe('spooled')
      expect(tookMs).toBeLessThan(25_000)
      expect(account).toMatchObject({ accepted: 0, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test.each(['target', 'targets-copy', 'stream'] as const)(
    '%s: resolves as spooled in an outage longer than the request timeout',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      service.faults.add({ kind: 'status', status: 503 })
      const app = startApp({ ...planFor(mode, service.url, { requestTimeoutMs: 500 }), flushTimeoutMs: 20_000 })
      const { state, account } = (await app.heard('flushed')).payload as Flushed
      expect(state).toBe('spooled')
      expect(account).toMatchObject({ accepted: 0, pending: (mode === 'targets-copy' ? 2 : 1) * COUNT, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test('without a spool, ends at its timeout in an outage', async () => {
    const service = await createIngestService({ apiKeys: [KEY] })
    service.faults.add({ kind: 'status', status: 503 })
    const app = startApp({
      ...planFor('target', service.url, { requestTimeoutMs: 200, spool: false }),
      flushTimeoutMs: 1_500,
    })
    expect((await app.heard('flushed')).payload).toMatchObject({ state: 'timeout' })
    app.child.kill('SIGKILL')
    await app.done
    await service.close()
  })

  test.each([
    ['target', true, 'spooled'],
    ['target', false, 'timeout'],
    ['targets-copy', true, 'spooled'],
    ['stream', true, 'spooled'],
    ['stream', false, 'timeout'],
  ] as const)('%s, spool %s: a pending flush does not keep the process alive', async (mode, hasSpool, state) => {
    const service = await createIngestService({ apiKeys: [KEY], port: await lastingPort() })
    await service.close()
    const app = startApp({
      ...planFor(mode, service.url, hasSpool ? {} : { spool: false }),
      flushTimeoutMs: hasSpool ? 15_000 : 2_000,
      holds: false,
    })
    const stuck = setTimeout(() => app.child.kill('SIGKILL'), 25_000)
    const { payload } = await app.heard('flushed')
    const { code, stderr } = await app.done
    clearTimeout(stuck)
    expect((payload as Flushed).state).toBe(state)
    expect(code).toBe(0)
    expect(stderr).toMatch(hasSpool ? /5000 entries are not yet acknowledged; kept on disk/ : /dropped 5000 entries/)
  })

  test('resolves at once without this transport or without a logger', async () => {
    expect(await flush({})).toEqual({ state: 'timeout' })
    expect(await flush(Object.create(null) as object)).toEqual({ state: 'timeout' })
  })
})

describe('with the fake timers and the mocked clock of a test', () => {
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['worker', 'up', 'acknowledged'],
    ['worker', 'down', 'timeout'],
    ['stream', 'up', 'acknowledged'],
    ['stream', 'down', 'timeout'],
  ] as const)('%s, service %s', async (mode, health, state) => {
    vi.useFakeTimers({ now: Date.UTC(2020, 0, 1) })
    const service = await createIngestService({ apiKeys: [KEY] })
    if (health === 'down') await service.close()
    const options = { url: service.url, apiKey: KEY, spool: false, logTo: 'silent' } as const
    const logger = mode === 'stream' ? pino({}, ingestStream(options)) : pino(ingestOptions(options))
    logger.info('x')
    const timeoutMs = health === 'up' ? 20_000 : 500
    expect(await flush(logger, { timeoutMs })).toMatchObject({ state })
    vi.setSystemTime(Date.UTC(2031, 0, 1))
    logger.info('y')
    expect(await flush(logger, { timeoutMs })).toMatchObject({ state })
    if (health === 'up') await service.close()
  })
})

describe.concurrent('when nothing new was logged', () => {
  test.each([
    ['pino(ingestOptions(options))', 200, 1],
    ['pino(ingestOptions(options))', 503, 1],
    ["pino({ transport: { target: 'pino-ingest', options } })", 200, 1],
    ['pino(ingestStream(options))', 503, 1],
    ['pino(ingestOptions(options))', 200, 3],
  ])('%s, status %d: a flush in beforeExit ends, %d records', async (logger, status, count) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    if (status !== 200) service.faults.add({ kind: 'status', status })
    const { code, stdout } = await runScript(
      `const logger = ${logger}
let left = ${count}
process.on('beforeExit', async () => {
  if (left > 0) logger.info({ left: left-- }, 'x')
  const { state } = await flush(logger, { timeoutMs: 2_000 })
  console.log(state)
})`,
      { url: service.url, apiKey: KEY, ...(status !== 200 && { requestTimeoutMs: 200 }) },
    )
    const { arrived } = service
    await service.close()
    expect(code).toBe(0)
    expect(stdout).toContain(status === 200 ? 'acknowledged' : 'spooled')
    expect(arrived).toBe(status === 200 ? count : 0)
  })

  test('many flushes at once print no warning, before and after the worker is ready', async () => {
    const service = await createIngestService({ apiKeys: [KEY] })
    const { stdout, stderr } = await runScript(
      `const logger = pino(ingestOptions(options))
for (const round of [1, 2]) {
  logger.info({ round }, 'x')
  const results = await Promise.all(Array.from({ length: 30 }, () => flush(logger)))
  console.log(results.filter(({ state }) => state === 'acknowledged').length)
}`,
      { url: service.url, apiKey: KEY },
    )
    await service.close()
    expect({ stdout, stderr }).toEqual({ stdout: '30\n30\n', stderr: '' })
  })
})
