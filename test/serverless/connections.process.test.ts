/**
 * Connections that died while the process was suspended: the next flush detects them, and loses neither entries nor
 * time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gatewayTo } from './gateway.js'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

test('closed by a service that restarts', async () => {
  const service = await startService()
  const sandbox = await startSandbox('logging', envFor(service.url))
  await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
  await sandbox.freeze()
  await service.close()
  const anew = await startService(service.port)
  sandbox.thaw()
  const { state, tookMs } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
  expect(state).toBe('acknowledged')
  expect(tookMs).toBeLessThan(1_500)
  expect(numbersIn(anew)).toEqual(upTo(20).slice(10))
})

test('dropped by a proxy that resets them at the next request: costs the first backoff', async () => {
  const service = await startService()
  const gateway = await gatewayTo(service)
  const sandbox = await startSandbox('logging', envFor(gateway.url))
  await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
  await sandbox.freeze()
  gateway.forget('reset')
  sandbox.thaw()
  const { state, tookMs } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
  expect(state).toBe('acknowledged')
  // 250 ms at most, plus time on a busy machine.
  expect(tookMs).toBeLessThan(2_000)
  expect(numbersIn(service)).toEqual(upTo(20))
})

test.each(['reset', 'silence'] as const)(
  'forgotten, with %s, and idle for longer than the keep-alive: not reused',
  async (answer) => {
    const service = await startService()
    const gateway = await gatewayTo(service)
    const sandbox = await startSandbox('logging', envFor(gateway.url, { requestTimeoutMs: 20_000 }))
    await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
    await sandbox.freeze()
    gateway.forget(answer)
    await sleep(4_200) // real time, for a real process
    sandbox.thaw()
    const { state, tookMs } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
    expect(state).toBe('acknowledged')
    expect(tookMs).toBeLessThan(1_500)
    expect(numbersIn(service)).toEqual(upTo(20))
    // Nothing was sent on a dead connection: no attempt failed.
    expect([service.requests.length, gateway.connections()]).toEqual([2, 2])
  },
)
