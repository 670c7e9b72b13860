/** A warm function that is suspended after each response: flushed entries have arrived, and others are not lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { gatewayTo } from './gateway.js'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

describe('the example', () => {
  test(
    'suspended after each of 20 responses: the records of an invocation arrive before its response',
    { timeout: 60_000 },
    async () => {
      const service = await startService()
      const sandbox = await startSandbox('example', envFor(service.url))
      for (let orderId = 0; orderId < 20; orderId += 1) {
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
      expect(service.arrived).toBe(40)
      expect(service.requests.map(({ entries, status }) => [entries, status])).toEqual(
        Array.from({ length: 20 }, () => [2, 200]),
      )
      expect(sandbox.stderr()).toMatch(/^cold start: import \d+ ms, first invocation with its flush \d+ ms\n$/)
    },
  )

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
    const sandbox = await startSandbox('logging', envFor(service.url))
    await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
    const posted = sandbox.invoke(
      { from: 10, count: 10 },
      { onPosted: () => void process.kill(sandbox.pid, 'SIGSTOP') },
    )
    await posted
    await sandbox.freeze()
    expect(numbersIn(service)).toEqual(upTo(10))
    sandbox.thaw()
    await service.waitForEntries(20)
    expect(numbersIn(service)).toEqual(upTo(20))
  })

  test('a request in flight, answered while the process was suspended for longer than requestTimeoutMs, is not sent again', async () => {
    const service = await startService()
    const sandbox = await startSandbox('logging', envFor(service.url, { requestTimeoutMs: 1_500 }))
    await work(sandbox, { from: 0, count: 1, flushMs: 10_000 })
    service.faults.add({ kind: 'delay', delayMs: 400 })
    await work(sandbox, { from: 1, count: 10 })
    await vi.waitFor(() => expect(service.requests[1]?.entries).toBe(10), { timeout: 10_000, interval: 1 })
    await sandbox.freeze()
    await service.waitForEntries(11)
    await sleep(1_700) // the request has timed out
    sandbox.thaw()
    await expect(work(sandbox, { from: 11, count: 1, flushMs: 10_000 })).resolves.toMatchObject({
      state: 'acknowledged',
    })
    expect(numbersIn(service)).toEqual(upTo(12))
    expect(service.requests).toHaveLength(3)
  })

  test('retries a request whose reply was lost meanwhile under the same batch_id', async () => {
    const service = await startService()
    const gateway = await gatewayTo(service)
    const sandbox = await startSandbox('logging', envFor(gateway.url, { requestTimeoutMs: 1_500 }))
    await work(sandbox, { from: 0, count: 1, flushMs: 10_000 })
    service.faults.add({ kind: 'delay', delayMs: 400, times: 1 })
    await work(sandbox, { from: 1, count: 10 })
    await vi.waitFor(() => expect(service.requests[1]?.entries).toBe(10), { timeout: 10_000, interval: 1 })
    await sandbox.freeze()
    gateway.forget('silence')
    await sleep(1_700)
    sandbox.thaw()
    await expect(work(sandbox, { from: 11, count: 1, flushMs: 10_000 })).resolves.toMatchObject({
      state: 'acknowledged',
    })
    expect([...new Set(numbersIn(service))]).toEqual(upTo(12))
    const ids = service.requests.filter(({ entries }) => entries === 10).map(({ batchId }) => batchId)
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    expect(service.arrived).toBeLessThanOrEqual(22)
  })
})
