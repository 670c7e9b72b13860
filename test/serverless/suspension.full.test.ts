/**
 * A process that is suspended for longer than its timers, its connections or its lease. Work due meanwhile is done once.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { gatewayTo } from './gateway.js'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

test('a connection that was forgotten, and idle for longer than the keep-alive, is not reused', async () => {
  const service = await startService()
  const gateway = await gatewayTo(service)
  const sandbox = await startSandbox('logging', envFor(gateway.url, { requestTimeoutMs: 20_000 }))
  await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
  await sandbox.freeze()
  gateway.forget('silence')
  await sleep(4_200) // real time, for a real process
  sandbox.thaw()
  const { state } = await work(sandbox, { from: 10, count: 10, flushMs: 10_000 })
  expect(state).toBe('acknowledged')
  expect(numbersIn(service)).toEqual(upTo(20))
  // Nothing was sent on a dead connection: no attempt failed.
  expect([service.requests.length, gateway.connections()]).toEqual([2, 2])
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

/** Half a lease: a process suspended for longer checks whether its folder still exists. */
const HALF_LEASE_MS = 15_000

/**
 * Makes the folder look like that of another container, whose processes are not visible, with its last renewal one
 * lease ago.
 */
function makeStrangerAndOld(root: string): void {
  const [path] = (readdirSync(root, { recursive: true }) as string[]).filter((name) => name.endsWith('owner'))
  const owner = join(root, path as string)
  writeFileSync(owner, JSON.stringify({ ...(JSON.parse(readFileSync(owner, 'utf8')) as object), namespace: 'pid:[1]' }))
  const renewedAt = Date.now() / 1000 - 31
  utimesSync(owner, renewedAt, renewedAt)
}

test('suspended for longer than its lease', { timeout: 120_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-lease-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const service = await startService()
  service.faults.add({ kind: 'status', status: 503 })
  const env = envFor(service.url, { spool: { dir }, retry: { maxMs: 200 } })
  const stopped = await startSandbox('logging', env)
  await work(stopped, { from: 0, count: 250, flushMs: 500 })
  expect(numbersIn(service)).toEqual([])
  await stopped.freeze()
  await sleep(HALF_LEASE_MS + 500) // real time, for a real process
  makeStrangerAndOld(dir)

  service.faults.clear()
  const other = await startSandbox('logging', env)
  await work(other, { from: 250, count: 10, flushMs: 10_000 })
  // The in-process stream sends recovered entries only for a while after each log call; on a slow machine one call is
  // not enough.
  let next = 260
  await vi.waitFor(
    async () => {
      if (numbersIn(service).length < next) await work(other, { from: next++, count: 1, flushMs: 10_000 })
      expect(numbersIn(service)).toEqual(upTo(next))
    },
    { timeout: 40_000, interval: 500 },
  )

  stopped.thaw()
  await expect(work(stopped, { from: next, count: 10, flushMs: 10_000 })).resolves.toMatchObject({
    state: 'acknowledged',
  })
  expect([...new Set(numbersIn(service))]).toEqual(upTo(next + 10))
  const sent = new Map<number, Set<string | null>>()
  for (const { entry, batch_id: batchId } of service.entries({ limit: Infinity }).items) {
    const n = Number(entry.metadata?.['n'])
    sent.set(n, (sent.get(n) ?? new Set()).add(batchId))
  }
  expect([...sent.values()].filter((ids) => ids.size > 1)).toEqual([])
  // The entries it had in memory, and no later ones.
  expect(service.arrived).toBeLessThanOrEqual(next + 10 + 250)
})
