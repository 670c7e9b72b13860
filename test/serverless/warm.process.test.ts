/** A warm function that is suspended after each response: flushed entries have arrived, and others are not lost. */
import { describe, expect, test } from 'vitest'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

describe('the example', () => {
  test('suspended after each response: the records of an invocation arrive before its response', async () => {
    const service = await startService()
    const sandbox = await startSandbox('example', envFor(service.url))
    for (let orderId = 0; orderId < 5; orderId += 1) {
      let arrived = 0
      const onPosted = (): void => {
        process.kill(sandbox.pid, 'SIGSTOP')
        arrived = service.arrived
      }
      const { requestId, what } = await sandbox.invoke({ orderId, total: 42 }, { onPosted })
      expect({ what, arrived }).toEqual({ what: 'response', arrived: 2 * (orderId + 1) })
      expect(service.entries({ limit: 2 }).items.map(({ entry }) => entry)).toMatchObject([
        { message: 'order placed', service: 'orders', request_id: requestId, metadata: { orderId } },
        { message: 'order received', request_id: requestId, metadata: { orderId } },
      ])
      await sandbox.freeze()
      sandbox.thaw()
    }
    expect(service.arrived).toBe(10)
    expect(service.requests.map(({ entries, status }) => [entries, status])).toEqual(
      Array.from({ length: 5 }, () => [2, 200]),
    )
    expect(sandbox.stderr()).toMatch(/^cold start: import \d+ ms, first invocation with its flush \d+ ms\n$/)
  })

  test('a failing invocation also flushes its error before the response', async () => {
    const service = await startService()
    const sandbox = await startSandbox('example', envFor(service.url))
    let arrived = 0
    const { requestId, what, result } = await sandbox.invoke(
      { orderId: 7 },
      { onPosted: () => (arrived = service.arrived) },
    )
    expect([what, result, arrived]).toMatchObject([
      'error',
      { errorType: 'RangeError', errorMessage: 'order 7 has no total' },
      2,
    ])
    expect(service.entries({ level: 'error' }).items.map(({ entry }) => entry)).toMatchObject([
      {
        message: 'order failed',
        request_id: requestId,
        error: { type: 'RangeError', stack: expect.stringContaining('handler.mjs') },
      },
    ])
  })

  test('a service that does not answer takes no more than the remaining time of the invocation', async () => {
    const service = await startService()
    const sandbox = await startSandbox('example', { ...envFor(service.url), PINO_INGEST_SPOOL: 'false' })
    await sandbox.invoke({ orderId: 0, total: 42 })
    service.faults.add({ kind: 'hang' })
    const startedAt = performance.now()
    const { what } = await sandbox.invoke({ orderId: 1, total: 42 }, { timeoutMs: 1_300 })
    expect(what).toBe('response')
    // A flush of 1 s, plus time on a busy machine; with more time left it would be 2 s.
    expect(performance.now() - startedAt).toBeLessThan(1_900)
  })
})

describe('suspended without a flush', () => {
  test('entries of the open batch are sent when the process resumes', async () => {
    const service = await startService()
    // Longer than the time until the process is suspended.
    const sandbox = await startSandbox('logging', envFor(service.url, { batch: { intervalMs: 4_000 } }))
    await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
    await sandbox.invoke({ from: 10, count: 10 }, { onPosted: () => void process.kill(sandbox.pid, 'SIGSTOP') })
    await sandbox.freeze()
    expect(numbersIn(service)).toEqual(upTo(10))
    sandbox.thaw()
    await service.waitForEntries(20, { timeoutMs: 30_000 })
    expect(numbersIn(service)).toEqual(upTo(20))
  })
})
