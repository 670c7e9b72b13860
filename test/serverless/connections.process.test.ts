/**
 * Connections that died while the process was suspended: the next flush detects them, and loses no entries. A request
 * that waits for its timeout would take longer than the flush.
 */
import { expect, test } from 'vitest'
import { gatewayTo } from './gateway.js'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

test('closed by a service that restarts', async () => {
  const service = await startService()
  const sandbox = await startSandbox('logging', envFor(service.url, { requestTimeoutMs: 20_000 }))
  await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
  await sandbox.freeze()
  await service.close()
  const anew = await startService(service.port)
  sandbox.thaw()
  const { state } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
  expect(state).toBe('acknowledged')
  expect(numbersIn(anew)).toEqual(upTo(20).slice(10))
})

test('dropped by a proxy that resets them at the next request: it is sent again', async () => {
  const service = await startService()
  const gateway = await gatewayTo(service)
  const sandbox = await startSandbox('logging', envFor(gateway.url, { requestTimeoutMs: 20_000 }))
  await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
  await sandbox.freeze()
  gateway.forget('reset')
  sandbox.thaw()
  const { state } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
  expect(state).toBe('acknowledged')
  expect(numbersIn(service)).toEqual(upTo(20))
})
