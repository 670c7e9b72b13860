/** What was dropped is told to the service itself, in one entry for many drops. */
import { expect, test, vi } from 'vitest'
import { droppedNotice } from '../src/notice.js'
import { resolveOptions } from '../src/options.js'
import { Pipeline } from '../src/pipeline.js'
import { Notices } from '../src/pipeline/notices.js'
import { createIngestService, validateEntry } from '../src/service/index.js'
import { FakeClock } from './fake-clock.js'

const LABELS = { service: 'shop', environment: 'production', version: '1.2.3' }

test('is a valid entry of level warn with the counts by reason', () => {
  const entry = JSON.parse(droppedNotice({ buffer: 3, spool: 4 }, LABELS, 0)) as object
  expect(validateEntry(entry)).toEqual([])
  expect(entry).toEqual({
    level: 'warn', message: 'pino-ingest dropped 7 entries (buffer 3, spool 4)', timestamp: '1970-01-01T00:00:00.000Z', ...LABELS,
    metadata: { pino_ingest: { dropped: { buffer: 3, spool: 4 } } },
  })
  expect(droppedNotice({ age: 1 }, {}, 0)).toContain('dropped 1 entry (age 1)')
})

test('reaches the service once for many drops, and the account closes with it', async () => {
  const service = await createIngestService({ apiKeys: ['notice-key'] })
  const clock = new FakeClock()
  const settings = resolveOptions({ url: service.url, apiKey: 'notice-key', spool: false, maxBufferBytes: 1024 * 1024, onProblem: 'silent' }, { env: {}, readFile: () => '' })
  const fault = service.faults.add({ kind: 'status', status: 401 })
  let troubles = 0
  const pipeline = new Pipeline({ settings, clock, emit: (name) => void (name === 'ingest:problem' && (troubles += 1)) })
  const line = `${JSON.stringify({ level: 40, time: 0, pad: 'x'.repeat(1000), msg: 'warned' })}\n`
  pipeline.write(line)
  await clock.advance(1_000)
  await vi.waitFor(() => expect(service.requests.some(({ status }) => status === 401)).toBe(true), { timeout: 10_000 })
  await vi.waitFor(() => expect(troubles).toBeGreaterThan(0), { timeout: 10_000 })
  for (let n = 1; n < 3_000; n += 1) pipeline.write(line)
  await clock.advance(11_000)
  const { dropped, generated, closes } = pipeline.account.snapshot()
  expect(dropped.buffer).toBeGreaterThan(1_000)
  // In an outage it would go the way of the rest.
  expect({ generated, closes }).toEqual({ generated: 0, closes: true })
  fault()
  for (let turn = 0; pipeline.account.snapshot().pending > 0; turn += 1) {
    await clock.advance(60_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(turn).toBeLessThan(2_000)
  }
  const { accepted, ...account } = pipeline.account.snapshot()
  expect(account).toMatchObject({ received: 3_000, generated: 1, pending: 0, closes: true })
  const notices = service.entries({ limit: Infinity }).items.filter(({ entry }) => entry.message.startsWith('pino-ingest dropped'))
  expect(notices.map(({ entry }) => entry.metadata)).toEqual([{ pino_ingest: { dropped: { buffer: account.dropped.buffer } } }])
  expect(service.arrived).toBe(accepted)
  await pipeline.close()
  await service.close()
})

test('drops that go on are told once in 10 s, and all of them', async () => {
  const clock = new FakeClock()
  const told: { at: number, count: number }[] = []
  const notices = new Notices({
    clock, settings: LABELS, isHeld: () => false,
    onNotice: (entry) => told.push({ at: clock.now(), count: (JSON.parse(entry) as { metadata: { pino_ingest: { dropped: { buffer: number } } } }).metadata.pino_ingest.dropped.buffer }),
  })
  const startedAt = clock.now()
  for (let n = 0; n < 350; n += 1) {
    notices.add(1, 'buffer')
    await clock.advance(100)
  }
  notices.tell()
  expect(told.map(({ at }) => at - startedAt)).toEqual([0, 10_000, 20_000, 30_000, 35_000])
  expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(350)
})
