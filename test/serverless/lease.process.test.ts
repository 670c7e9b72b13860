/**
 * Two sandboxes share a spool folder, as containers share a volume. One is suspended until the other takes over its
 * entries on disk: none is lost, and duplicates have the same batch_id.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

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
