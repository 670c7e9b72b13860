/** A Retry-After of one endpoint applies to the requests of the others. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { KEY, httpServer } from '../client/http-servers.js'
import { FakeClock } from '../fake-clock.js'
import { lineOf, piped } from './create-pipeline.js'

test('a flush resolves as spooled without waiting, and entries stay on disk at exit', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'silence-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { write, service, pipeline } = await piped({
    requestLogs: true,
    spool: { dir },
    requestTimeoutMs: 1_000,
    batch: { intervalMs: 10 },
  })
  service.faults.add({ kind: 'status', status: 429, endpoint: 'requests', retryAfter: 600 })
  write({ req: { method: 'GET', url: '/a', id: 1 }, res: { statusCode: 200 }, responseTime: 3, msg: 'done' })
  await vi.waitFor(() => expect(service.faults.list()[0]?.hits).toBe(1), { timeout: 30_000 })
  await vi.waitFor(() => expect(pipeline.account.snapshot().pending).toBe(0), { timeout: 30_000 })
  write({ msg: 'later' })
  expect(await pipeline.flush()).toBe('spooled')
  expect(pipeline.isSpooled).toBe(true)
  await pipeline.close()
  expect(pipeline.snapshot).toMatchObject({
    accepted: 1,
    pending: 1,
    dropped: { shutdown: 0 },
    balances: true,
    requestLogs: { pending: 1 },
  })
  expect(service.arrived).toBe(1)
})

test('entries and request logs obey a Retry-After of the registration, with all timers on the given clock', async () => {
  const clock = new FakeClock()
  const cameAt: [string, number][] = []
  const server = await httpServer((response, { url }) => {
    const path = url.replace('/api/v1', '')
    cameAt.push([path, clock.now()])
    if (path === '/releases/register') response.writeHead(429, { 'retry-after': '20' })
    response.end('{"accepted":1,"rejected":0,"errors":[]}')
  })
  const settings = resolveOptions(
    {
      url: `${server.origin}/api/v1`,
      apiKey: KEY,
      spool: false,
      logTo: 'silent',
      registerRelease: true,
      version: '1',
      requestLogs: true,
      batch: { intervalMs: 10 },
    },
    { env: {}, readFile: () => '' },
  )
  const problems: unknown[] = []
  const pipeline = new Pipeline({
    settings,
    clock,
    emit: (name, payload) => {
      if (name === 'ingest:problem') problems.push(payload)
    },
  })
  onTestFinished(() => pipeline.abandon())
  await vi.waitFor(() => expect(problems).toMatchObject([{ code: 'RATE_LIMITED' }]), { timeout: 30_000 })
  pipeline.records.write(
    `${lineOf({ req: { method: 'GET', url: '/a', id: 1 }, res: { statusCode: 200 }, responseTime: 3, msg: 'done' } as object)}\n`,
  )
  await clock.advance(19_999)
  // After these replies, all requests sent earlier have arrived.
  for (let n = 0; n < 5; n += 1) await fetch(`${server.origin}/api/v1/look`, { method: 'POST' })
  expect(cameAt.filter(([path]) => path !== '/look')).toEqual([['/releases/register', 0]])
  await clock.advance(1_001)
  // The second 429 applies to everything not yet in flight.
  await vi.waitFor(() => expect(cameAt.filter(([path]) => path === '/releases/register')).toHaveLength(2), {
    timeout: 30_000,
  })
  await vi.waitFor(
    async () => {
      await clock.advance(1_000)
      expect(pipeline.snapshot).toMatchObject({ accepted: 1, requestLogs: { accepted: 1 } })
    },
    { timeout: 30_000 },
  )
  expect(cameAt.filter(([path, at]) => path.startsWith('/ingest') && at < 20_000)).toEqual([])
  expect(cameAt.filter(([path]) => path === '/releases/register')).toHaveLength(2)
})
