/** Who is told of records as they come, and how long they stay. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AgeLimit } from '../../src/service/store/age-limit.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { resolveServiceOptions } from '../../src/service/service-options.js'
import { TIMEOUTS } from '../../src/service/http/server.js'
import { startService } from '../../src/service/service.js'
import { hasSqlite } from '../../src/service/store/sqlite-file.js'
import { FakeClock } from '../fake-clock.js'
import { call, entryOf, ingest, local, requestLog, started } from './support.js'

async function sendOneOfEach({ url }: IngestService): Promise<void> {
  await call(`${url}/ingest`, {
    body: { batch_id: 'b', logs: [entryOf({ message: 'a' }), { ...entryOf(), level: 'loud' }] },
  })
  await call(`${url}/ingest/requests`, { body: { requests: [requestLog, requestLog] } })
  await call(`${url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
  await call(`${url}/releases/register`, { body: { version: '1' } })
  await call(`${url}/heartbeat/t`)
}

describe('onRecords', () => {
  it('is told of every kind once it is stored, beside onEntries', async () => {
    const told: unknown[] = []
    const service = await started({
      onEntries: (entries) => told.push(['onEntries', entries.length]),
      onRecords: (kind, records) => told.push([kind, ...records.map(({ id }) => id)]),
    })
    await sendOneOfEach(service)
    const ids = (path: string): Promise<string[]> =>
      local(service, path).then(({ json }) => json.items.map(({ id }: { id: string }) => id).toReversed())
    expect(told).toEqual([
      ['onEntries', 1],
      ['entry', ...(await ids('entries'))],
      ['rejected', ...(await ids('rejected'))],
      ['request', ...(await ids('request-logs'))],
      ['feedback', ...(await ids('feedback'))],
      ['release', ...(await ids('releases'))],
      ['heartbeat', ...(await ids('heartbeats'))],
    ])
  })

  it('is not told of what was not stored', async () => {
    const told: string[] = []
    const service = await started({ dedupeBatches: true, onRecords: (kind) => told.push(kind) })
    await ingest(service, [entryOf()])
    await ingest(service, [entryOf()])
    await ingest(service, [], 'empty')
    await call(`${service.url}/feedback`, { body: 'not JSON' })
    expect(told).toEqual(['entry'])
  })
})

describe.each<IngestServiceOptions>([{}, ...(hasSqlite() ? [{ store: 'sqlite' } as const] : [])])(
  'maxAgeMs with %j',
  (options) => {
    const HOUR = 3_600_000

    async function startAged(clock: FakeClock, more: IngestServiceOptions): Promise<IngestService> {
      const service = await startService(resolveServiceOptions({ ...options, ...more, clock }), {
        after: (ms, run) => clock.timer(ms, run),
        timeouts: TIMEOUTS,
      })
      onTestFinished(() => service.close())
      return service
    }

    async function kept(service: IngestService): Promise<unknown> {
      return (await local(service, 'status')).json.kept
    }

    const NONE = { entry: 0, request: 0, feedback: 0, release: 0, heartbeat: 0, rejected: 0 }
    const ONE_OF_EACH = { entry: 1, request: 2, feedback: 1, release: 1, heartbeat: 1, rejected: 1 }

    it('lets records of every kind go when nothing comes, within a minute', async () => {
      const clock = new FakeClock()
      const service = await startAged(clock, { maxAgeMs: HOUR })
      await sendOneOfEach(service)
      await clock.advance(HOUR - 1)
      expect(await kept(service)).toEqual(ONE_OF_EACH)
      // The next look is a minute later at most.
      await clock.advance(60_001)
      expect(await kept(service)).toEqual(NONE)
    })

    it('lets them go as others come, by when they came and not by their own time', async () => {
      const clock = new FakeClock()
      const service = await startAged(clock, { maxAgeMs: 30_000 })
      await ingest(service, [entryOf({ message: 'old', timestamp: '2030-01-01T00:00:00Z' })])
      await clock.advance(29_000)
      await ingest(service, [entryOf({ message: 'new', timestamp: '1990-01-01T00:00:00Z' })])
      expect(service.counts().total).toBe(2)
      await clock.advance(1001)
      await call(`${service.url}/heartbeat/t`)
      expect(service.entries().items.map(({ entry }) => entry.message)).toEqual(['new'])
    })

    it('keeps all without it', async () => {
      const clock = new FakeClock()
      const service = await startAged(clock, {})
      await sendOneOfEach(service)
      await clock.advance(1000 * HOUR)
      expect(await kept(service)).toEqual(ONE_OF_EACH)
      expect(clock.timers).toBe(0)
    })

    it('holds for what a file has from before', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ingest-age-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const dbFile = join(folder, 'db')
      const clock = new FakeClock()
      const first = await startAged(clock, { dbFile })
      await ingest(first, [entryOf()])
      await first.close()
      await clock.advance(2 * HOUR)
      const second = await startAged(clock, { dbFile, maxAgeMs: HOUR })
      expect(await kept(second)).toEqual(NONE)
      await second.close()
      expect(clock.timers).toBe(0)
    })
  },
)

it('a store that fails to forget is told of, and asked again', async () => {
  const clock = new FakeClock(0)
  const asked: number[] = []
  const problems: string[] = []
  const limit = new AgeLimit({
    maxAgeMs: 5000,
    deleteOlder: (beforeMs) => {
      asked.push(beforeMs)
      throw new Error('the disk is full')
    },
    wallNow: () => clock.wallNow(),
    now: () => clock.now(),
    after: (ms, run) => clock.timer(ms, run),
    onProblem: (problem) => problems.push(problem),
  })
  for (let n = 0; n < 100; n++) {
    limit.recordsStored()
    await clock.advance(50)
  }
  await clock.advance(60_000)
  limit.close()
  expect(clock.timers).toBe(0)
  // At most once a second as records come, and each minute.
  expect(asked).toEqual([0, 1000, 2000, 3000, 4000, 60_000].map((ms) => ms - 5000))
  expect(problems).toHaveLength(6)
  expect(problems[0]).toMatch(/maxAgeMs.*the disk is full/)
})
