/** A process suspended for longer than its timers: work due meanwhile is done once, and not all at the same time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

/** Small batches, so that many wait. */
const BATCHES = 40
/** The request timeout is long enough for the first request on a busy machine. */
const SMALL = { batch: { size: 5, intervalMs: 50 }, requestTimeoutMs: 1_500 }

test.each([
  ['a Retry-After', { kind: 'status', status: 429, retryAfter: 1, times: 1 }, 1_300],
  ['the pause after a failure', { kind: 'status', status: 503, times: 1 }, 500],
  ['a request that got no reply', { kind: 'hang', times: 1 }, 1_700],
] as const)('during %s: one request is sent first, then the others', async (_, fault, frozenMs) => {
  const service = await startService()
  const sandbox = await startSandbox('logging', envFor(service.url, SMALL))
  await work(sandbox, { from: 0, count: 1, flushMs: 10_000 })
  service.faults.add(fault)
  await work(sandbox, { from: 1, count: SMALL.batch.size * BATCHES })
  await vi.waitFor(() => expect(service.requests.some(({ fault: played }) => played === fault.kind)).toBe(true), {
    timeout: 10_000,
    interval: 1,
  })
  await sandbox.freeze()
  await sleep(50) // requests in flight have arrived
  const before = service.requests.length
  // Slow enough to observe concurrent requests.
  service.faults.add({ kind: 'delay', delayMs: 20 })
  await sleep(frozenMs)
  expect(service.requests).toHaveLength(before)
  sandbox.thaw()
  await expect(
    work(sandbox, { from: 1 + SMALL.batch.size * BATCHES, count: 4, flushMs: 20_000 }),
  ).resolves.toMatchObject({ state: 'acknowledged' })
  expect([...new Set(numbersIn(service))]).toEqual(upTo(5 + SMALL.batch.size * BATCHES))
  const after = service.requests.slice(before)
  // On a busy machine a request may time out and be retried.
  expect(after.length).toBeLessThanOrEqual(BATCHES + 6)
  // All waiting batches are due at once: sending starts with one request and continues with few, some of which are
  // late on a busy machine.
  expect(after.slice(0, 4).filter(({ concurrent }) => concurrent > 8)).toEqual([])
})

test('an outage that ended while the process was suspended: a flush makes an attempt before it resolves to spooled', async () => {
  const service = await startService()
  service.faults.add({ kind: 'status', status: 503 })
  const options = { requestTimeoutMs: 1_500, retry: { maxMs: 300 }, spool: {} }
  const sandbox = await startSandbox('logging', envFor(service.url, options))
  await expect(work(sandbox, { from: 0, count: 10, flushMs: 6_000 })).resolves.toMatchObject({ state: 'spooled' })
  await sandbox.freeze()
  service.faults.clear()
  await sleep(400)
  const flushed = sandbox.invoke({ from: 10, count: 10, flushMs: 6_000 })
  sandbox.thaw()
  expect((await flushed).result).toMatchObject({ state: 'acknowledged' })
  expect(numbersIn(service)).toEqual(upTo(20))
})
