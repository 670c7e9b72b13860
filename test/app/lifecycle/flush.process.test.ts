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
import { lastingPort } from '../../reusable-port.mjs'
import { started } from '../../service/support.js'
import { loggerFor } from '../metrics/metrics-apps.js'

const KEY = 'flush-key-77ab'
const COUNT = 2_000

const OUTAGES = {
  // An attempt fails, so that the flush ends before its time.
  refuses: { fault: { kind: 'status', status: 503 }, requestTimeoutMs: 1_500, timeoutMs: 50_000 },
  // No attempt fails, and the flush ends at its time.
  hangs: { fault: { kind: 'hang' }, requestTimeoutMs: 600_000, timeoutMs: 1_000 },
} as const

const MODES = [
  ['target', 1, 'hangs'],
  ['targets', 2, 'refuses'],
  ['pipeline', 1, 'refuses'],
  ['stream', 1, 'refuses'],
  ['multistream', 2, 'hangs'],
] as const

test(
  'in each mode acknowledged means that the service has the entries, spooled that they are on disk',
  { timeout: 180_000 },
  async () => {
    const run = async ([mode, copies, outage]: (typeof MODES)[number]): Promise<void> => {
      const { fault, requestTimeoutMs, timeoutMs } = OUTAGES[outage]
      const service = await started({ apiKeys: [KEY] })
      const options = { url: service.url, apiKey: KEY, logTo: 'silent', shutdownTimeoutMs: 0 } as const
      const { logger } = loggerFor(mode, { ...options, requestTimeoutMs })
      const entries = copies * COUNT
      for (let n = 0; n < COUNT; n += 1) logger.info({ n }, 'x')
      const account = { received: entries, accepted: entries, pending: 0, balances: true }
      // On a busy machine replies may be late, which is an outage.
      await expect
        .poll(() => flush(logger, { timeoutMs: 50_000 }), { timeout: 50_000, message: mode })
        .toMatchObject({ state: 'acknowledged', account })
      // A batch whose reply is late is stored twice.
      expect(service.arrived, mode).toBeGreaterThanOrEqual(entries)
      service.faults.add(fault)
      for (let n = 0; n < COUNT; n += 1) logger.info({ n }, 'x')
      await expect
        .poll(() => flush(logger, { timeoutMs }), { timeout: 50_000, message: mode })
        .toMatchObject({ state: 'spooled', account: { accepted: entries, balances: true } })
    }
    await Promise.all(MODES.map(run))
  },
)

test('resolves at once without this transport', async () => {
  expect(await flush({})).toEqual({ state: 'timeout' })
  expect(await flush(Object.create(null) as object)).toEqual({ state: 'timeout' })
})

test.each([
  ['target', true, 'spooled'],
  ['target', false, 'timeout'],
  ['stream', false, 'timeout'],
] as const)('%s, spool %s: a pending flush does not keep the process alive', async (mode, hasSpool, state) => {
  const url = `http://127.0.0.1:${await lastingPort()}/api/v1`
  const app = startApp({
    mode,
    options: { url, apiKey: KEY, requestTimeoutMs: 500, shutdownTimeoutMs: 500, ...(!hasSpool && { spool: false }) },
    count: COUNT,
    end: 'flush-all',
    flushTimeoutMs: hasSpool ? 15_000 : 1_000,
    holds: false,
  })
  const stuck = setTimeout(() => app.child.kill('SIGKILL'), 50_000)
  const { payload } = await app.heard('flushed')
  const { code, stderr } = await app.done
  clearTimeout(stuck)
  expect((payload as FlushResult).state).toBe(state)
  expect(code).toBe(0)
  expect(stderr).toMatch(hasSpool ? /2000 entries are not yet acknowledged; kept on disk/ : /dropped 2000 entries/)
})

describe('with the fake timers and the mocked clock of a test', () => {
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['worker', 'up', 'acknowledged'],
    ['worker', 'down', 'timeout'],
    ['stream', 'up', 'acknowledged'],
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
    ['pino(ingestOptions(options))', 200, 3],
    ['pino(ingestOptions(options))', 503, 1],
    ['pino(ingestStream(options))', 503, 1],
  ])('%s, status %d: a flush in beforeExit ends, %d records', async (logger, status, count) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    if (status !== 200) service.faults.add({ kind: 'status', status })
    const { code, stdout } = await runScript(
      `const logger = ${logger}
let left = ${count}
process.on('beforeExit', async () => {
  if (left > 0) logger.info({ left: left-- }, 'x')
  const { state } = await flush(logger, { timeoutMs: 20_000 })
  console.log(state)
})`,
      { url: service.url, apiKey: KEY, ...(status !== 200 && { requestTimeoutMs: 200, shutdownTimeoutMs: 500 }) },
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
  const results = await Promise.all(Array.from({ length: 30 }, () => flush(logger, { timeoutMs: 25_000 })))
  console.log(results.filter(({ state }) => state === 'acknowledged').length)
}`,
      { url: service.url, apiKey: KEY },
    )
    await service.close()
    expect({ stdout, stderr }).toEqual({ stdout: '30\n30\n', stderr: '' })
  })
})
